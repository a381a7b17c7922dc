// Formats audit log entries: the columns of the table, and the JSON document of `audit list` and `audit export`.
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import type { Column } from "../../output/table.ts";

export const ENTRY_COLUMNS: readonly Column<AuditRow>[] = [
  { header: "ID", value: ({ id }) => id },
  { header: "AT", value: ({ atMs }) => new Date(atMs) },
  { header: "ACTOR", value: ({ actorLabel }) => actorLabel },
  { header: "ACTION", value: ({ action }) => action },
  { header: "TARGET", value: ({ target }) => target },
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
