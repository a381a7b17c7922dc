// A stored archive as JSON and in one line.
import type { StoredArtifact } from "../../../src/domain/catalog/service.ts";
import { timeOf } from "../../output/details.ts";

/** An archive, and whether a revision, a draft or the catalog uses it. */
export type ArtifactRow = StoredArtifact & { isNamed: boolean };

/** @returns where the archive came from; empty for an upload or a public source */
export const originOf = ({ mirrors: [mirror] }: StoredArtifact): string =>
  mirror ? `${mirror.connectionId}:${mirror.repository}@${mirror.commit.slice(0, COMMIT_DIGITS)}` : "";

/** Enough to recognize a commit. */
const COMMIT_DIGITS = 12;

/** @returns the archive with every commit that it was mirrored from */
export const artifactDocument = ({ artifact, mirrors, isNamed }: ArtifactRow) => ({
  id: artifact.id,
  sha256: artifact.sha256,
  size_bytes: artifact.sizeBytes,
  entries: artifact.entries,
  expanded_bytes: artifact.expandedBytes,
  created_at: timeOf(artifact.createdAtMs),
  in_use: isNamed,
  mirrored_from: mirrors.map((mirror) => ({
    connection_id: mirror.connectionId,
    provider: mirror.provider,
    repository: mirror.repository,
    path: mirror.path,
    requested_ref: mirror.ref,
    ref_kind: mirror.refKind,
    resolved_commit: mirror.commit,
    committed_at: timeOf(mirror.committedAtMs),
    host_sha256: mirror.hostSha256,
    mirror_format: mirror.mirrorFormat,
    mirrored_by: mirror.mirroredBy,
    mirrored_at: timeOf(mirror.mirroredAtMs),
  })),
});
