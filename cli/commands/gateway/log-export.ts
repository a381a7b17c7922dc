// `gateway logs export`: one file for each day, JSON Lines or Parquet, which analysis engines read without conversion.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ExportDay, exportDays, linesOf, pagesOfDay } from "../../../src/domain/inference/log/export.ts";
import type { Content } from "../../../src/domain/inference/log/log-archive.ts";
import { type RowView, toGapItem } from "../../../src/domain/inference/log/wire.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { folderMissing, replaceFile } from "../../../src/platform/files/operator-files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printable, printableJson } from "../../output/printable.ts";
import { startProgress } from "../../output/progress.ts";
import { warnOfGaps } from "./log-reading.ts";
import { daysOf } from "./period.ts";

/** `open`: rows of the day may still be added or change; `due`: an export writes the day */
type DayState = "written" | "kept" | "open" | "due";

interface DayResult {
  day: string;
  file: string | null;
  rows: number | null;
  state: DayState;
}

const FILE_MODE = 0o600;

interface ExportTarget {
  /** path or URL, without a slash at its end */
  readonly folder: string;
  has(name: string): Promise<boolean>;
  /** Writes the whole file; on failure, the previous file stays. */
  write(name: string, content: Content): Promise<void>;
}

/** @throws DomainError `usage.target`, `file.missing`, `request_log.store_unset`, `object_store.*` */
async function targetOf(call: Call, contentType: string): Promise<ExportTarget> {
  const out = call.text("out");
  if ((out === undefined) !== call.has("store"))
    throw new DomainError("invalid", "usage.target", "choose one destination for the files", {
      hint: "add --out FOLDER or --store",
    });
  return out === undefined ? await storeTarget(call, contentType) : folderTarget(call, out);
}

function folderTarget({ context }: Call, out: string): ExportTarget {
  const folder = resolve(context.cwd, out);
  if (!existsSync(folder)) throw folderMissing(folder);
  return {
    folder,
    has: async (name) => existsSync(join(folder, name)),
    write: (name, content) => replaceFile(join(folder, name), content(), { mode: FILE_MODE }),
  };
}

async function storeTarget({ domain, context }: Call, contentType: string): Promise<ExportTarget> {
  const { archive } = domain.requestLogs;
  if (!archive)
    throw new DomainError("invalid", "request_log.store_unset", "no object store is configured", {
      hint: "set blobs.s3.endpoint, blobs.s3.bucket and its credentials, or name a folder with --out",
    });
  await archive.check();
  const signal = context.stopSignal();
  return {
    folder: archive.url,
    has: (name) => archive.has(name),
    write: (name, content) => archive.put(name, content, { contentType, signal }),
  };
}

/** @throws DomainError `usage.*`, `request_log.*`, `file.*`, `storage.*`, `object_store.*` */
export async function exportLogs(call: Call): Promise<void> {
  const { domain, context, output, has } = call;
  const format = formatOf(call);
  const period = daysOf(call);
  const target = await targetOf(call, MEDIA_TYPES[format]);
  const { days, gaps } = exportDays(domain.requestLogs, { period, nowMs: context.clock.nowMs() });
  const results: DayResult[] = [];
  const signal = context.stopSignal();
  {
    using progress = startProgress(context, {
      label: "exporting request logs",
      unit: "days",
      total: days.length,
    });
    for (const day of days) {
      signal.throwIfAborted();
      results.push(await exportDay(call, { day, target, format }));
      progress.advance(1);
    }
  }
  const { folder } = target;
  const isDryRun = has("dryRun");
  output.result(
    { ...(isDryRun && { dry_run: true }), folder, days: results, gaps: gaps.map(toGapItem) },
    summaryOf(results, { folder, isDryRun }),
  );
  warnOfGaps(call, gaps);
}

async function exportDay(
  call: Call,
  { day, target, format }: { day: ExportDay; target: ExportTarget; format: Format },
): Promise<DayResult> {
  const name = `requests-${day.day}.${format}`;
  const known = { day: day.day, file: `${target.folder}/${name}`, rows: null };
  if (day.isOpen) return { ...known, file: null, state: "open" };
  if (!call.has("replace") && (await target.has(name))) return { ...known, state: "kept" };
  if (call.has("dryRun")) return { ...known, state: "due" };
  const { content, rows } = contentOf(call, { day, format });
  await target.write(name, content);
  return { ...known, rows: rows(), state: "written" };
}

/** @returns the bytes of a day, and a function that returns the number of rows in the most recent bytes */
function contentOf(
  { domain, context }: Call,
  { day, format }: { day: ExportDay; format: Format },
): { content: Content; rows: () => number } {
  let rows = 0;
  const count = (more: number) => {
    context.stopSignal().throwIfAborted(); // the partial file is removed
    rows += more;
  };
  const content = () => {
    rows = 0;
    const pages = pagesOfDay(domain.requestLogs, day, count);
    return format === "parquet" ? asParquet(pages) : printableLines(linesOf(pages));
  };
  return { content, rows: () => rows };
}

/** Escapes control characters, as in all output, because a file may be printed on a terminal. */
async function* printableLines(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  for await (const part of lines) yield Buffer.from(printableJson(part));
}

function summaryOf(
  results: readonly DayResult[],
  { folder, isDryRun }: { folder: string; isDryRun: boolean },
): string {
  if (results.length === 0) return "no requests in this period";
  const ofState = (state: DayState) => results.filter((result) => result.state === state);
  const rows = results.reduce((sum, result) => sum + (result.rows ?? 0), 0);
  const kept = ofState("kept").length;
  const open = ofState("open").map(({ day }) => day);
  const done = isDryRun
    ? `Would export ${ofState("due").length} days`
    : `Exported ${rows} requests of ${ofState("written").length} days`;
  return [
    `${done} to ${printable(folder)}`,
    ...(kept > 0 ? [`${kept} days have a file already; to write them again, pass --replace`] : []),
    ...(open.length > 0 ? [`not over yet: ${open.join(", ")}`] : []),
    ...(isDryRun ? ["No changes made."] : []),
  ].join("\n");
}

/** by format */
const MEDIA_TYPES = { jsonl: "application/x-ndjson", parquet: "application/vnd.apache.parquet" };
type Format = keyof typeof MEDIA_TYPES;

function formatOf({ has }: Call): Format {
  if (has("jsonl") === has("parquet"))
    throw new DomainError("invalid", "usage.format", "choose one file format", {
      hint: "add --jsonl or --parquet",
    });
  return has("parquet") ? "parquet" : "jsonl";
}

/** The library is loaded only where it is used. */
async function* asParquet(pages: AsyncIterable<readonly RowView[]>): AsyncGenerator<Uint8Array> {
  const { parquetOf } = await import("../../../src/domain/inference/log/parquet.ts");
  yield* parquetOf(pages);
}
