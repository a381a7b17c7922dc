// Formats audit log entries: the columns of the table, and the JSON document of `audit list` and `audit export`.
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import { isJsonObject } from "../../../src/platform/text/json-object.ts";
import type { Column } from "../../output/table.ts";

/** An entry, and the name of its target; null if none is known. */
export type NamedEntry = AuditRow & { targetName: string | null };

export const ENTRY_COLUMNS: readonly Column<NamedEntry>[] = [
  { header: "ID", value: ({ id }) => id, isWhole: true },
  { header: "AT", value: ({ atMs }) => new Date(atMs) },
  { header: "ACTOR", value: ({ actorLabel }) => actorLabel },
  { header: "ACTION", value: ({ action }) => action },
  { header: "TARGET", value: ({ target, targetName }) => targetName ?? target, isWhole: true },
  { header: "TARGET ID", value: ({ target }) => target, isWide: true },
  { header: "ACTOR KIND", value: ({ actorKind }) => actorKind, isWide: true },
  { header: "ADDRESS", value: ({ address }) => address, isWide: true },
  { header: "CREDENTIAL", value: ({ credential }) => credential, isWide: true },
  { header: "REQUEST", value: ({ requestId }) => requestId, isWide: true },
  { header: "BEFORE", value: ({ before }) => before, isWide: true },
  { header: "AFTER", value: ({ after }) => after, isWide: true },
  { header: "REDACTED BY", value: ({ redactedBy }) => redactedBy, isWide: true },
];

/** Each entry is written in the transaction of its change, so failed or refused requests have no entry. */
const OUTCOME = "succeeded";

export const entryDocument = (entry: AuditRow) => ({
  id: entry.id,
  at: toRfc3339(entry.atMs),
  organization_id: entry.organizationId,
  actor: { kind: entry.actorKind, id: entry.actorId, label: entry.actorLabel },
  address: entry.address,
  credential: entry.credential,
  request_id: entry.requestId,
  action: entry.action,
  target: entry.target,
  outcome: OUTCOME,
  before: summaryIn(entry.before),
  after: summaryIn(entry.after),
  previous_digest: digestText(entry.previousDigest),
  digest: digestText(entry.digest),
  redacted_by: entry.redactedBy,
});

/** `entryDocument` for a list, with the name of the target. */
export const namedDocument = ({ targetName, ...entry }: NamedEntry) => ({
  ...entryDocument(entry),
  target_name: targetName,
});

/** Members of a summary that name its object, in the order in which they are preferred. */
const NAMES = ["email", "hostname", "display_name", "name", "label", "user"] as const;

/** @returns the name in the summaries of the change; undefined if they have none */
export function nameInSummaries({ before, after }: Pick<AuditRow, "before" | "after">): string | undefined {
  const members = [after, before].map(summaryIn).filter(isJsonObject);
  const names = NAMES.flatMap((name) => members.map((summary) => summary[name]));
  return names.find((name) => typeof name === "string" && name !== "")?.toString();
}

/** @returns the digest with its algorithm; null for the empty digest, the predecessor of the first entry */
export const digestText = (hex: string): string | null => (hex === "" ? null : `sha256:${hex}`);

/** Returns the raw text if it is not JSON, so that an entry that was tampered with can still be printed. */
function summaryIn(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return text;
  }
}
