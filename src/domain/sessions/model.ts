// Value types of captured sessions, their limits, and the text that searches compare.
import type { capturedSessions, sessionArtifacts } from "./tables.ts";

export type SessionRow = typeof capturedSessions.$inferSelect;
export type ArtifactRow = typeof sessionArtifacts.$inferSelect;

export type SharingMode = SessionRow["sharingMode"];
export type ArtifactStatus = ArtifactRow["status"];
export type ArtifactFormat = ArtifactRow["artifactFormat"];
export type StoreKind = ArtifactRow["store"];

export const SHARING_MODES: readonly SharingMode[] = ["private", "workspace", "selected"];
export const ARTIFACT_STATUSES: readonly ArtifactStatus[] = ["pending", "complete", "superseded", "failed"];

export const RAW_FORMAT = "legacy-raw";
export const BUNDLE_FORMAT = "blue-session-bundle-v1";
export const ARTIFACT_FORMATS: readonly ArtifactFormat[] = [RAW_FORMAT, BUNDLE_FORMAT];

/** The profile of clients that send none. */
export const LEGACY_PROFILE = "legacy";

/** Facts that an uploader announces about one version of a session, and that readers see once it is complete. */
export type SessionMetadata = Pick<
  ArtifactRow,
  | "artifactFormat"
  | "resumable"
  | "cwd"
  | "title"
  | "summary"
  | "repositoryRoot"
  | "repositoryRemote"
  | "capturedAtMs"
>;

/** @returns only these members of an artifact, a session, or the columns of their tables */
export const metadataOf = <Row extends Record<keyof SessionMetadata, unknown>>({
  artifactFormat,
  resumable,
  cwd,
  title,
  summary,
  repositoryRoot,
  repositoryRemote,
  capturedAtMs,
}: Row): Pick<Row, keyof SessionMetadata> => ({
  artifactFormat,
  resumable,
  cwd,
  title,
  summary,
  repositoryRoot,
  repositoryRemote,
  capturedAtMs,
});

/** The caller of an operation on sessions. */
export interface Viewer {
  userId: string;
  organizationId: string;
  /** whether the caller has administrator rights and every scope they need */
  isAdministrator: boolean;
}

/** @returns the text with letter case folded, for storing and for searching */
export const foldForSearch = (text: string): string =>
  text.normalize("NFC").toLowerCase().replaceAll("\0", "");

/** @returns the text that searches compare. Values are separated by line breaks, so no match spans two values */
export const searchTextOf = (
  nativeSessionId: string,
  { cwd, title, summary }: Pick<SessionMetadata, "cwd" | "title" | "summary">,
): string => foldForSearch([nativeSessionId, cwd, title, summary].filter((text) => text !== null).join("\n"));
