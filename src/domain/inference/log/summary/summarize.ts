// Computes a summary of the request log in steps. Sums of whole hours and days are cached, so that a period is not read
// repeatedly; any filter besides the period needs the rows themselves.
import { DAY_MS, HOUR_MS } from "../../../../platform/clock.ts";
import type { Connection } from "../../../../platform/database/database.ts";
import type { Steps } from "../../../../platform/steps.ts";
import type { RowFilter } from "../model.ts";
import type { Span, SpanHours } from "./cached-sums-store.ts";
import { countFiltered, extentOf, type Period } from "./counted-rows-store.ts";
import {
  GROUPS_MAX,
  SUMMARY_GROUPS,
  type SummaryFound,
  type SummaryGroup,
  type SummarySearch,
} from "./model.ts";
import { nameOf, SpanSums } from "./span-sums.ts";
import { type CountedRow, Tallies, Tally } from "./tally.ts";

interface Source {
  connection: Connection;
  filter: RowFilter;
  /** undefined if the rows themselves must be read */
  spans: SpanSums | undefined;
}

/**
 * Unfinished requests do not count.
 * @param mayKeep whether the connection may store computed sums
 */
export function* summarize(
  { connection, mayKeep }: { connection: Connection; mayKeep: boolean },
  { filter, points, endMs, groups }: SummarySearch,
): Steps<SummaryFound> {
  const extent = extentOf(connection);
  if (!extent) return nothingIn({ points });
  const spans = mayKeep && hasPeriodOnly(filter) ? new SpanSums(connection) : undefined;
  const source: Source = { connection, filter, spans };
  const reachOf = (period: Period) => overlapOf(period, filter, extent);
  const tallies: { atMs: number; tally: Tally }[] = [];
  for (const [at, atMs] of points.entries()) {
    const tally = new Tally();
    tallies.push({ atMs, tally });
    yield* countInto(tally, source, reachOf({ fromMs: atMs, beforeMs: points[at + 1] ?? endMs }));
  }
  const totals = new Tally();
  for (const { tally } of tallies) totals.add(tally.stored());
  const whole = reachOf({ fromMs: points[0] ?? endMs, beforeMs: endMs });
  const found = yield* countGroups(groups, source, whole);
  return {
    totals: totals.figures(),
    points: tallies.map(({ atMs, tally }) => ({ atMs, ...tally.figures() })),
    groups: { model: found.model.most(GROUPS_MAX), user: found.user.most(GROUPS_MAX) },
  };
}

/** Stores the sums of all hours and days, so that the first summary after a while need not read all rows. */
export function* cacheAllSums(connection: Connection): Steps<void> {
  const { firstMs, lastMs } = extentOf(connection) ?? { firstMs: 0, lastMs: 0 };
  const search = { filter: {}, points: [firstMs - (firstMs % DAY_MS)], endMs: nextHour(lastMs) };
  yield* summarize({ connection, mayKeep: true }, { ...search, groups: [...SUMMARY_GROUPS] });
}

/** @returns the summary of a log without rows */
export function nothingIn({ points }: Pick<SummarySearch, "points">): SummaryFound {
  const none = new Tally().figures();
  return { totals: none, points: points.map((atMs) => ({ atMs, ...none })), groups: { model: [], user: [] } };
}

const countInto = (tally: Tally, source: Source, period: Period): Steps<void> =>
  countPeriod(source, period, {
    *addSpan(spans, span) {
      tally.add(yield* spans.partOf(span, "totals"));
    },
    addRow: (row) => tally.count(row),
  });

function* countGroups(
  groups: readonly SummaryGroup[],
  source: Source,
  period: Period,
): Steps<Record<SummaryGroup, Tallies>> {
  const found = { model: new Tallies(), user: new Tallies() };
  if (groups.length === 0) return found;
  yield* countPeriod(source, period, {
    *addSpan(spans, span) {
      for (const group of groups) found[group].add(yield* spans.partOf(span, PARTS[group]));
    },
    addRow: (row) => {
      for (const group of groups) found[group].of(nameOf(row, group)).count(row);
    },
  });
  return found;
}

const PARTS = { model: "models", user: "users" } as const;

interface Counting {
  addSpan(spans: SpanSums, span: Span): Steps<void>;
  addRow(row: CountedRow): void;
}

/** Counts whole days and hours as sums, and everything else row by row. */
function* countPeriod(
  { connection, filter, spans }: Source,
  period: Period,
  counting: Counting,
): Steps<void> {
  if (!spans) {
    if (period.fromMs < period.beforeMs)
      yield* countFiltered(connection, { ...filter, ...period }, counting.addRow);
    return;
  }
  for (let startMs = period.fromMs; startMs < period.beforeMs; ) {
    const hours = spanHoursAt(startMs, period.beforeMs);
    const endMs =
      hours === undefined ? Math.min(period.beforeMs, nextHour(startMs)) : startMs + hours * HOUR_MS;
    if (hours === undefined)
      yield* countFiltered(connection, { fromMs: startMs, beforeMs: endMs }, counting.addRow);
    else yield* counting.addSpan(spans, { hours, startMs });
    yield;
    startMs = endMs;
  }
}

/** @returns the length of the longest span that begins at that time and ends within the period */
function spanHoursAt(startMs: number, beforeMs: number): SpanHours | undefined {
  if (startMs % DAY_MS === 0 && startMs + DAY_MS <= beforeMs) return 24;
  return startMs % HOUR_MS === 0 && startMs + HOUR_MS <= beforeMs ? 1 : undefined;
}

const nextHour = (ms: number): number => (Math.floor(ms / HOUR_MS) + 1) * HOUR_MS;

const hasPeriodOnly = ({ fromMs: _from, beforeMs: _before, ...others }: RowFilter): boolean =>
  Object.values(others).every((value) => value === undefined);

/** @returns the selected part of the period, up to the full hour after the last row; empty if it ends before it begins */
const overlapOf = (
  { fromMs, beforeMs }: Period,
  filter: RowFilter,
  { firstMs, lastMs }: { firstMs: number; lastMs: number },
): Period => ({
  fromMs: Math.max(fromMs, filter.fromMs ?? 0, firstMs - (firstMs % HOUR_MS)),
  beforeMs: Math.min(beforeMs, filter.beforeMs ?? Number.MAX_SAFE_INTEGER, nextHour(lastMs)),
});
