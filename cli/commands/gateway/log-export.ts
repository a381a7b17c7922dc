// `gateway logs export`: one file for each day, JSON Lines or Parquet, which analysis engines read as they are.
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type ExportDay, exportDays, linesOf, pagesOfDay } from "../../../src/domain/inference/log/export.ts";
import { type RowView, toGapItem } from "../../../src/domain/inference/log/wire.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { folderMissing, replaceFile } from "../../../src/platform/files/files.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { printable, printableJson } from "../../output/printable.ts";
import { startProgress } from "../../output/progress.ts";
import { warnOfGaps } from "./log-reading.ts";
import { periodOf } from "./period.ts";

const FILE_MODE = 0o600;

/** `open`: rows of the day may still come or change */
type DayState = "written" | "kept" | "open";

interface DayResult {
  day: string;
  file: string | null;
  rows: number | null;
  state: DayState;
}

/** @throws DomainError `usage.format`, `request_log.invalid`, `file.*`, `storage.*` */
export async function exportLogs(call: Call): Promise<void> {
  const { domain, context, output, text } = call;
  const format = formatOf(call);
  const folder = resolve(context.cwd, text("out") ?? "");
  if (!existsSync(folder)) throw folderMissing(folder);
  const period = periodOf(call);
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
      results.push(await exportDay(call, { day, folder, format }));
      progress.advance(1);
    }
  }
  output.result({ folder, days: results, gaps: gaps.map(toGapItem) }, summaryOf(results, folder));
  warnOfGaps(call, gaps);
}

async function exportDay(
  { domain, context, has }: Call,
  { day, folder, format }: { day: ExportDay; folder: string; format: Format },
): Promise<DayResult> {
  const file = join(folder, `requests-${day.day}.${format}`);
  if (day.isOpen) return { day: day.day, file: null, rows: null, state: "open" };
  if (existsSync(file) && !has("replace")) return { day: day.day, file, rows: null, state: "kept" };
  let rows = 0;
  const count = (more: number) => {
    context.stopSignal().throwIfAborted(); // the partial file is removed
    rows += more;
  };
  const pages = pagesOfDay(domain.requestLogs, day, count);
  const text = format === "parquet" ? await asParquet(pages) : printableLines(linesOf(pages));
  await replaceFile(file, text, { mode: FILE_MODE });
  return { day: day.day, file, rows, state: "written" };
}

/** Escapes what could be a terminal's command, as all output does: a file may be shown on a terminal. */
async function* printableLines(lines: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const part of lines) yield printableJson(part);
}

function summaryOf(results: readonly DayResult[], folder: string): string {
  if (results.length === 0) return "no requests in this period";
  const ofState = (state: DayState) => results.filter((result) => result.state === state);
  const rows = results.reduce((sum, result) => sum + (result.rows ?? 0), 0);
  const kept = ofState("kept").length;
  const open = ofState("open").map(({ day }) => day);
  return [
    `Exported ${rows} requests of ${ofState("written").length} days to ${printable(folder)}`,
    ...(kept > 0 ? [`${kept} days have a file already; to write them again, pass --replace`] : []),
    ...(open.length > 0 ? [`not over yet: ${open.join(", ")}`] : []),
  ].join("\n");
}

type Format = "jsonl" | "parquet";

function formatOf({ has }: Call): Format {
  if (has("jsonl") === has("parquet"))
    throw new DomainError("invalid", "usage.format", "name one format of the files", {
      hint: "add --jsonl or --parquet",
    });
  return has("parquet") ? "parquet" : "jsonl";
}

/** The library is loaded only where it is used. */
async function asParquet(pages: AsyncIterable<readonly RowView[]>): Promise<AsyncIterable<Uint8Array>> {
  const { parquetOf } = await import("../../../src/domain/inference/log/parquet.ts");
  return parquetOf(pages);
}
