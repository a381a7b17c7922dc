// The columns of `audit list` and the facts of `audit show`. The JSON documents are in src/domain/audit/reading/entry-document.ts.
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import {
  digestText,
  type EntryInChain,
  type NamedEntry,
} from "../../../src/domain/audit/reading/entry-document.ts";
import type { Fact } from "../../output/details.ts";
import type { Column } from "../../output/table.ts";

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

/** @returns one entry, one fact per line */
export const factsOf = ({ entry, previous, next }: EntryInChain): readonly Fact[] => [
  ["id", entry.id],
  ["at", new Date(entry.atMs)],
  ["actor", `${entry.actorLabel} (${entry.actorKind})`],
  ["action", entry.action],
  ["target", entry.target],
  ["target name", entry.targetName],
  ["address", entry.address],
  ["credential", entry.credential],
  ["request", entry.requestId],
  ["before", entry.before],
  ["after", entry.after],
  ["digest", digestText(entry.digest)],
  ["redacted by", entry.redactedBy],
  ["previous", neighborText(previous)],
  ["next", neighborText(next)],
];

const neighborText = (entry: AuditRow | null): string | null =>
  entry && `${entry.id} (${entry.action} by ${entry.actorLabel})`;
