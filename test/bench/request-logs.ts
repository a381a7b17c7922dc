// The request log: the cost of handing over a row for requests at a fixed rate, whether rows are lost, and the duration of lists of
// a million rows. The goals are those of the specification; a search for text that no row has is reported without a goal.
import { join } from "node:path";
import { startLogThread } from "../../src/app/request-logs/start-log-thread.ts";
import { FileSource } from "../../src/domain/inference/log/file-source.ts";
import { openLogFile } from "../../src/domain/inference/log/log-file-store.ts";
import type { RowFilter } from "../../src/domain/inference/log/model.ts";
import { readSummaryQuery } from "../../src/domain/inference/log/summary/summary-query.ts";
import { rowsInText, textOfRows } from "../../src/domain/inference/log/writing/row-text.ts";
import { RowWriter } from "../../src/domain/inference/log/writing/rows-store.ts";
import { RunningLog } from "../../src/domain/inference/log/writing/running-log.ts";
import { DAY_MS, systemClock } from "../../src/platform/clock.ts";
import { rowOf } from "../support/inference/request-rows.ts";
import { START_MS } from "../support/world.ts";
import { atMost, type Figure } from "./figures.ts";
import { temporaryDirectory } from "./tools/installation.ts";

const ROWS = 1_000_000;
const BATCH = 500;
/** Rows of the lists and summaries cover 30 days. */
const ROW_EVERY_MS = (30 * DAY_MS) / ROWS;
const USERS = 1_000;
const MODELS = 20;
const RATE = 5_000;
const SECONDS = 5;
const LISTS = 30;
const TEXT_SEARCHES = 5;
const GOALS = { handUs: 5, listMs: 200 };

const userOf = (number: number): string =>
  `0190c5a8-0000-7000-8000-${String(number % USERS).padStart(12, "0")}`;

/** Measures handing over rows, then lists. */
export async function* measureRequestLogs(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  yield* await handingOver(join(directory.path, "rate.db"));
  yield* lists(join(directory.path, "million.db"));
  yield* await summaries(join(directory.path, "million.db"));
}

async function handingOver(file: string): Promise<Figure[]> {
  const log = { warning: () => {}, error: () => {} };
  const options = { isEnabled: true, queueRowsMax: 10_000, clock: systemClock, startThread: startLogThread };
  const running = new RunningLog({ file, log, ...options });
  const startMs = performance.now();
  const elapsedMs = () => performance.now() - startMs;
  let handed = 0;
  let spentMs = 0;
  while (elapsedMs() < SECONDS * 1_000) {
    const due = (elapsedMs() / 1_000) * RATE;
    const fromMs = performance.now();
    for (; handed < due; handed++) running.add(rowOf(handed));
    spentMs += performance.now() - fromMs;
    await Bun.sleep(1);
  }
  const { dropped } = running.queueFigures();
  await running.close();
  const us = (spentMs * 1_000) / handed;
  const lost = dropped.queue_full + dropped.disk_full + dropped.broken;
  const at = `at ${RATE} rows/s`;
  return [
    {
      what: `request log: making and handing over a row, ${at}`,
      unit: "µs",
      ours: us,
      verdict: atMost(GOALS.handUs, us),
    },
    { what: `request log: rows lost, ${at}`, unit: "rows", ours: lost, verdict: atMost(0, lost) },
  ];
}

function lists(file: string): Figure[] {
  fill(file);
  const source = new FileSource(file);
  const slowestMs = (filter: RowFilter, times: number): number => {
    const all = Array.from({ length: times }, () => {
      const startMs = performance.now();
      source.searchNow({ filter, sort: "occurred_desc", offset: 0, limit: 25 });
      return performance.now() - startMs;
    });
    return Math.max(...all);
  };
  const told = (what: string, filter: RowFilter, times = LISTS): Figure => ({
    what: `request log, a million rows: ${what}, slowest of ${times}`,
    unit: "ms",
    ours: slowestMs(filter, times),
  });
  const withVerdict = (figure: Figure): Figure => ({ ...figure, verdict: atMost(GOALS.listMs, figure.ours) });
  return [
    withVerdict(told("the latest", {})),
    withVerdict(told("of a user", { userId: userOf(7) })),
    withVerdict(told("of a model", { model: "model-7" })),
    told("with a text in every row", { q: "SHOP" }, TEXT_SEARCHES),
    told("with a text in no row", { q: "nowhere" }, TEXT_SEARCHES),
  ];
}

/** Written like the service does: in the thread, with stored sums. */
async function summaries(file: string): Promise<Figure[]> {
  const log = { warning: () => {}, error: () => {} };
  const options = { isEnabled: true, queueRowsMax: 10_000, clock: systemClock, startThread: startLogThread };
  const running = new RunningLog({ file, log, ...options });
  const { search } = readSummaryQuery(
    { by: ["model", "user"] },
    { nowMs: START_MS + 30 * DAY_MS, keptFromMs: START_MS },
  );
  const timeOf = async (): Promise<number> => {
    const startMs = performance.now();
    await running.summarize(search);
    return performance.now() - startMs;
  };
  const first = await timeOf();
  const times: number[] = [];
  for (let time = 0; time < LISTS; time++) times.push(await timeOf());
  await running.close();
  const again = Math.max(...times);
  const told = (what: string, ours: number): Figure => ({
    what: `request log, a million rows: summary by model and user, ${what}`,
    unit: "ms",
    ours,
  });
  return [
    told("first", first),
    { ...told(`then, slowest of ${LISTS}`, again), verdict: atMost(GOALS.listMs, again) },
  ];
}

function fill(file: string): void {
  using connection = openLogFile(file);
  const writer = new RowWriter(connection);
  for (let first = 0; first < ROWS; first += BATCH) {
    const rows = Array.from({ length: BATCH }, (_, at) => {
      const number = first + at;
      const row = rowOf(number, {
        occurredAtMs: START_MS + Math.floor(number * ROW_EVERY_MS),
        userId: userOf(number),
        model: `model-${number % MODELS}`,
      });
      return { row, isOnlyNew: false };
    });
    writer.write(rowsInText(textOfRows(rows)), []);
  }
}
