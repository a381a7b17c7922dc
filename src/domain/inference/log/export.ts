// The request log by days, for exports: which days are over, and the rows of one day. parquet.ts has the other format.
import { DAY_MS } from "../../../platform/clock.ts";
import { WALK_PAGE_MAX } from "../../shared/page.ts";
import { dayOf, dayText } from "../usage/model.ts";
import type { Gap, RowSearch } from "./model.ts";
import { readLogQuery } from "./query.ts";
import type { RequestLogs } from "./request-logs.ts";
import { type RowView, toRequestLogItem } from "./wire.ts";

/** A day counts as complete after this time, because a request that was running when the service was killed never ends. */
const UNFINISHED_MS_MAX = DAY_MS;

export interface ExportDay {
  /** `2027-06-30` */
  day: string;
  fromMs: number;
  beforeMs: number;
  /** whether rows of the day may still be added or changed */
  isOpen: boolean;
}

type Logs = Pick<RequestLogs, "file" | "keptFromMs" | "viewOf">;

/**
 * @param period first and last day, inclusive
 * @returns the days with rows in order, and the gaps of the period
 * @throws DomainError `request_log.invalid`, `storage.*`
 */
export function exportDays(
  logs: Logs,
  { period, nowMs }: { period: { from?: string | undefined; to?: string | undefined }; nowMs: number },
): { days: ExportDay[]; gaps: Gap[] } {
  const { filter } = readLogQuery({ occurred: period }, logs.keptFromMs()).search;
  const found = logs.file.read((reader) => {
    const { oldestMs, gaps } = reader.figures(filter.fromMs ?? 0);
    if (oldestMs === null) return { days: [], gaps };
    const first = dayOf(Math.max(oldestMs, filter.fromMs ?? 0));
    const last = dayOf(Math.min(nowMs, (filter.beforeMs ?? nowMs + 1) - 1));
    const numbers = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at);
    const days = numbers.map((number) => {
      const span = { fromMs: Math.max(number * DAY_MS, filter.fromMs ?? 0), beforeMs: (number + 1) * DAY_MS };
      const sinceMs = nowMs - span.beforeMs;
      const isOpen = sinceMs < 0 || (sinceMs < UNFINISHED_MS_MAX && reader.hasUnfinished(span));
      return { day: dayText(number), ...span, isOpen };
    });
    return { days, gaps };
  });
  return found ?? { days: [], gaps: [] };
}

/** @returns the rows of a day, oldest first, in pages; calls `count` with the number of rows of each page */
export async function* pagesOfDay(
  logs: Logs,
  { fromMs, beforeMs }: Pick<ExportDay, "fromMs" | "beforeMs">,
  count: (rows: number) => void,
): AsyncGenerator<readonly RowView[]> {
  let after: RowSearch["after"];
  for (;;) {
    const { items } = logs.file.searchNow({
      filter: { fromMs, beforeMs },
      sort: "occurred_asc",
      offset: 0,
      limit: WALK_PAGE_MAX,
      known: 0,
      after,
    });
    if (items.length === 0) return;
    count(items.length);
    yield items.map((row) => logs.viewOf(row));
    after = items.at(-1);
    if (items.length < WALK_PAGE_MAX) return;
  }
}

/** @returns JSON Lines with the rows */
export async function* linesOf(pages: AsyncIterable<readonly RowView[]>): AsyncGenerator<string> {
  for await (const page of pages)
    yield page.map((row) => `${JSON.stringify(toRequestLogItem(row))}\n`).join("");
}
