// `audit list` and `audit export`.

import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import {
  digestText,
  type EntryInChain,
  entryDocument,
  entryInChainDocument,
  type NamedEntry,
  namedDocument,
} from "../../../src/domain/audit/reading/entry-document.ts";
import { parseDuration, parseExactTime } from "../../../src/platform/clock.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText, type Fact } from "../../output/details.ts";
import { printPages } from "../../output/list-pages.ts";
import { printable, printableJson } from "../../output/printable.ts";
import { type Progress, startProgress } from "../../output/progress.ts";
import type { Column } from "../../output/table.ts";
import { entryIdIn } from "./entry-id.ts";

const EXPORT_FILE_MODE = 0o600;

/**
 * @param text `7d`, `12h` or `30m` ago, `2027-06-30` (the beginning of that day in UTC) or an RFC 3339 time
 * @returns UTC milliseconds; undefined for undefined
 * @throws DomainError `usage.not_a_time`
 */
export function parseTime(option: string, text: string | undefined, nowMs: number): number | undefined {
  if (text === undefined) return undefined;
  const agoMs = parseDuration(text);
  const timeMs = agoMs === undefined ? parseExactTime(text) : nowMs - agoMs;
  if (timeMs !== undefined) return timeMs;
  throw new DomainError("invalid", "usage.not_a_time", `${option} must be an age, a date or a time`, {
    hint: `for example: ${option} 12h, ${option} 2027-06-30 or ${option} 2027-06-30T12:00:00Z`,
  });
}

const ENTRY_COLUMNS: readonly Column<NamedEntry>[] = [
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
const factsOf = ({ entry, previous, next }: EntryInChain): readonly Fact[] => [
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

export async function list(call: Call): Promise<void> {
  const { domain, actor, context, text } = call;
  const nowMs = context.clock.nowMs();
  const wanted = {
    actor: text("actor"),
    action: text("action"),
    target: text("target"),
    sinceMs: parseTime("--since", text("since"), nowMs),
    beforeMs: parseTime("--until", text("until"), nowMs),
  };
  const { auditLog } = domain;
  const listing = { columns: ENTRY_COLUMNS, json: namedDocument, empty: "no entries" };
  await printPages(
    call,
    (query) => {
      const page = auditLog.list(actor.organizationId, { ...wanted, ...query });
      return { ...page, items: page.items.map((entry) => auditLog.named(entry)) };
    },
    listing,
  );
}

/** @throws DomainError `audit.not_found` */
export async function show({ domain, actor, output, args: [id = ""] }: Call): Promise<void> {
  const found = domain.auditLog.find(actor.organizationId, id);
  output.result(entryInChainDocument(found), detailsText(factsOf(found)));
}

/**
 * Writes one JSON object per line, oldest first. Standard output contains nothing else, with or without `--json`.
 * @throws DomainError `usage.not_a_number`, `file.exists`, `file.*`
 */
export async function exportLog(call: Call): Promise<void> {
  const { context, output, text } = call;
  const { lines, reached, end } = startReading(call, entryIdIn(text("after")));
  using _ = { [Symbol.dispose]: end };
  const file = text("out");
  if (file === undefined) {
    for await (const part of lines) if (!context.stdout.write(part)) await once(context.stdout, "drain");
    return output.note(exportedText(reached(), ""));
  }
  const path = resolve(context.cwd, file);
  if (existsSync(path)) throw fileExists(file);
  await replaceFile(path, lines, { mode: EXPORT_FILE_MODE });
  const { entries, lastId } = reached();
  output.result({ file: path, entries, last_id: lastId }, exportedText(reached(), ` to ${printable(file)}`));
}

interface Reached {
  entries: number;
  /** null if no entry was exported */
  lastId: number | null;
}

function startReading({ domain, context }: Call, after: number) {
  const total = domain.auditLog.size(after);
  const progress = startProgress(context, { label: "exporting the audit log", unit: "entries", total });
  const reached: Reached = { entries: 0, lastId: null };
  const pages = domain.auditLog.walk({ after, signal: context.stopSignal() });
  return { lines: linesOf(pages, reached, progress), reached: () => reached, end: progress.end };
}

async function* linesOf(
  pages: AsyncIterable<AuditRow[]>,
  reached: Reached,
  progress: Progress,
): AsyncGenerator<string> {
  for await (const page of pages) {
    yield page.map((entry) => `${printableJson(JSON.stringify(entryDocument(entry)))}\n`).join("");
    reached.entries += page.length;
    reached.lastId = page.at(-1)?.id ?? null;
    progress.advance(page.length);
  }
}

function exportedText({ entries, lastId }: Reached, destination: string): string {
  if (lastId === null) return `Exported no entries${destination}`;
  const count = countText(entries, "entry", "entries");
  return `Exported ${count}${destination}; the last is ${lastId}`;
}

const fileExists = (file: string): DomainError =>
  new DomainError("conflict", "file.exists", `the file ${file} already exists`, {
    hint: "choose another name; to continue an earlier export, pass the id of its last entry with --after",
  });
