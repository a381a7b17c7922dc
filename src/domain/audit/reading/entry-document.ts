// Entries of the audit log and the outcome of a verification, as the API and the commands show them.
import { type TSchema, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import { keyedEnvelope } from "../../shared/page.ts";
import type { AuditRow } from "../chain.ts";
import type { ChainBreak, Verification } from "../verification.ts";

/** An entry with the name of its target, which is null if unknown. */
export type NamedEntry = AuditRow & { targetName: string | null };

/** The entries of the chain before and after one entry; null if there is none. */
export interface EntryInChain {
  entry: NamedEntry;
  previous: AuditRow | null;
  next: AuditRow | null;
}

const Text = Type.String();
const TextOrNull = Type.Union([Text, Type.Null()]);
const DigestOrNull = Type.Union([Text, Type.Null()], { description: "`sha256:` and 64 hex digits" });
const Summary = Type.Unknown({ description: "Summary of the target without secrets; null for none" });
const orNull = (schema: TSchema) => Type.Union([schema, Type.Null()]);

const FIELDS = {
  id: Type.Integer(),
  at: Type.String({ format: "date-time" }),
  organization_id: Text,
  actor: Type.Object({ kind: Text, id: TextOrNull, label: Text }),
  address: TextOrNull,
  credential: Type.Union([Text, Type.Null()], {
    description: "Public id of the credential of the actor, such as `grant:<id>`",
  }),
  request_id: TextOrNull,
  action: Text,
  target: Text,
  outcome: Type.Literal("succeeded"),
  before: Summary,
  after: Summary,
  previous_digest: DigestOrNull,
  digest: DigestOrNull,
  redacted_by: Type.Union([Type.Integer(), Type.Null()], {
    description: "id of the entry of the erasure that redacted this one",
  }),
  target_name: TextOrNull,
};

export const AuditEntry = Type.Object(FIELDS);
export const AuditEntryList = keyedEnvelope(AuditEntry);

const Neighbor = Type.Object({
  id: FIELDS.id,
  at: FIELDS.at,
  actor: FIELDS.actor,
  action: FIELDS.action,
  digest: FIELDS.digest,
});
export const AuditEntryInChain = Type.Object({
  ...FIELDS,
  previous: orNull(Neighbor),
  next: orNull(Neighbor),
});

export const AuditVerification = Type.Object({
  verified: Type.Boolean(),
  entries: Type.Integer({ description: "valid entries, up to the break" }),
  removed: Type.Integer({ description: "entries that retention has removed" }),
  last_id: orNull(Type.Integer()),
  last_digest: DigestOrNull,
  break: Type.Unknown({ description: "The first place that differs from what was recorded; null for none" }),
});

/** Constant, because an entry is written in the transaction of its change: failed or refused requests have no entry. */
const OUTCOME = "succeeded";

const actorOf = ({ actorKind, actorId, actorLabel }: AuditRow) => ({
  kind: actorKind,
  id: actorId,
  label: actorLabel,
});

export const entryDocument = (entry: AuditRow) => ({
  id: entry.id,
  at: toRfc3339(entry.atMs),
  organization_id: entry.organizationId,
  actor: actorOf(entry),
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

/** @returns one entry with its neighbors in the chain */
export const entryInChainDocument = ({ entry, previous, next }: EntryInChain) => ({
  ...namedDocument(entry),
  previous: previous && neighborDocument(previous),
  next: next && neighborDocument(next),
});

const neighborDocument = (entry: AuditRow) => ({
  id: entry.id,
  at: toRfc3339(entry.atMs),
  actor: actorOf(entry),
  action: entry.action,
  digest: digestText(entry.digest),
});

export const verificationDocument = ({ entries, removed, last, broken }: Verification) => ({
  verified: broken === undefined,
  entries,
  removed,
  last_id: last?.id ?? null,
  last_digest: last === undefined ? null : digestText(last.digest),
  break: broken === undefined ? null : breakDocument(broken),
});

function breakDocument(broken: ChainBreak) {
  if (broken.kind === "emptied") return broken;
  return broken.kind === "cut_off"
    ? { kind: broken.kind, recorded_up_to: broken.recordedUpTo }
    : { kind: broken.kind, entry: entryDocument(broken.entry) };
}

/** Members of a summary that name its object, in order of preference. */
const NAMES = ["email", "hostname", "display_name", "name", "label", "user"] as const;

/** @returns the name in the summaries of the change; undefined if they have none */
export function nameInSummaries({ before, after }: Pick<AuditRow, "before" | "after">): string | undefined {
  const members = [after, before].map(summaryIn).filter(isJsonObject);
  const names = NAMES.flatMap((name) => members.map((summary) => summary[name]));
  return names.find((name) => typeof name === "string" && name !== "")?.toString();
}

/** @returns the digest with its algorithm; null for the empty digest, the predecessor of the first entry */
export const digestText = (hex: string): string | null => (hex === "" ? null : `sha256:${hex}`);

/** @returns the raw text if it is not JSON, so that a tampered entry can still be shown */
export function summaryIn(text: string | null): unknown {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return text;
  }
}
