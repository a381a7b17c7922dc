// `audit list` and `audit export`.
import { once } from "node:events";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import type { AuditRow } from "../../../src/domain/audit/chain.ts";
import {
  entryDocument,
  entryInChainDocument,
  namedDocument,
} from "../../../src/domain/audit/reading/entry-document.ts";
import { countText } from "../../../src/platform/count-text.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { detailsText } from "../../output/details.ts";
import { printPages } from "../../output/list-pages.ts";
import { printable, printableJson } from "../../output/printable.ts";
import { type Progress, startProgress } from "../../output/progress.ts";
import { entryIdIn } from "./entry-id.ts";
import { parseTime } from "./time.ts";
import { ENTRY_COLUMNS, factsOf } from "./view.ts";

const EXPORT_FILE_MODE = 0o600;

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
