// Formats captured sessions as table columns, text and JSON. Values that clients announced are printed as text.
import { toWireDetail, toWireSession } from "../../../src/domain/sessions/lists/wire.ts";
import type { SessionDetail, SessionView } from "../../../src/domain/sessions/service.ts";
import { bytesText } from "../../../src/platform/files/disk.ts";
import { colorOf } from "../../output/color.ts";
import { dateOf, detailsText, timeOf } from "../../output/details.ts";
import { type Column, tableText } from "../../output/table.ts";

export const SESSION_COLUMNS: readonly Column<SessionView>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "OWNER", value: ({ userEmail }) => userEmail },
  { header: "HARNESS", value: ({ harness }) => harness },
  { header: "TITLE", value: ({ title }) => title },
  { header: "SIZE", value: ({ artifact }) => artifact && bytesText(artifact.sizeBytes) },
  { header: "SHARED", value: ({ sharingMode }) => sharingMode },
  { header: "UPDATED", value: ({ updatedAtMs }) => new Date(updatedAtMs) },
  { header: "HELD", value: ({ heldAtMs }) => dateOf(heldAtMs) },
  { header: "EXPIRES", value: ({ artifact }) => artifact && new Date(artifact.expiresAtMs), isWide: true },
  { header: "PROFILE", value: ({ profile }) => profile, isWide: true },
  { header: "NATIVE ID", value: ({ nativeSessionId }) => nativeSessionId, isWide: true },
  { header: "DIRECTORY", value: ({ cwd }) => cwd, isWide: true },
];

/** @returns the members of the API, and what only operators may know */
export const sessionDocument = (session: SessionView) => ({
  ...toWireSession(session),
  held_at: timeOf(session.heldAtMs),
  gone_at: timeOf(session.goneAtMs),
});

type Recipients = readonly { id: string; email: string }[];
type Version = SessionDetail["artifacts"][number];

export const detailDocument = (detail: SessionDetail, recipients: Recipients) => ({
  ...toWireDetail(detail),
  session: sessionDocument(detail.session),
  recipients,
});

const VERSION_COLUMNS: readonly Column<Version>[] = [
  { header: "VERSION", value: ({ id }) => id, isWhole: true },
  { header: "STATUS", value: ({ status }) => status, color: ({ status }) => colorOf(status) },
  { header: "SIZE", value: ({ sizeBytes }) => bytesText(sizeBytes) },
  { header: "STORE", value: ({ store }) => store },
  { header: "CREATED", value: ({ createdAtMs }) => new Date(createdAtMs) },
  { header: "EXPIRES", value: ({ expiresAtMs }) => new Date(expiresAtMs) },
  { header: "LOST", value: ({ lostAtMs }) => dateOf(lostAtMs) },
  { header: "FAILURE", value: ({ failureReason }) => failureReason },
];

/** @returns every fact about a session, one per line, then its recipients and its versions */
export function detailText(detail: SessionDetail, recipients: Recipients): string {
  const { repository, ...facts } = sessionDocument(detail.session);
  const shown = { ...facts, repository_root: repository.root, repository_remote: repository.remote };
  const lines = Object.entries(shown).map(([name, value]) => [name.replaceAll("_", " "), value] as const);
  const style = { wide: true, columns: undefined, nowMs: 0 };
  const addresses = recipients.map(({ email }) => ["recipient", email] as const);
  return [
    detailsText([...lines, ...addresses]),
    ...(detail.artifacts.length > 0 ? [tableText(detail.artifacts, VERSION_COLUMNS, style)] : []),
  ].join("\n\n");
}

/** @returns `codex session of ana@example.org, 12.0 KiB`; nothing that the client chose */
export function sentenceOf({ harness, userEmail, artifact }: SessionView): string {
  const size = artifact ? bytesText(artifact.sizeBytes) : "without bytes";
  return `${harness} session of ${userEmail}, ${size}`;
}
