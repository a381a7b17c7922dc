// SQL that reads the rows of a period for a summary, in steps.
import { and, asc, max, min, sql } from "drizzle-orm";
import type { Connection } from "../../../../platform/database/database.ts";
import type { Steps } from "../../../../platform/steps.ts";
import { orderedRows, orderOf } from "../../../shared/ordered-rows-store.ts";
import { overSpans, STEP_ROWS } from "../../../shared/page-steps.ts";
import type { RowFilter } from "../model.ts";
import { selectionOf } from "../selection-store.ts";
import { requests } from "../tables.ts";
import type { CountedRow } from "./tally.ts";

const { httpStatus, upstreamLatencyMs, outcome, requestId, model, userId, occurredAtMs, id } = requests;
const COUNTED = { httpStatus, upstreamLatencyMs, outcome, requestId, model, userId };
const PLACED = { ...COUNTED, occurredAtMs, id };

type Count = (row: CountedRow) => void;

export interface Period {
  /** UTC milliseconds, inclusive */
  fromMs: number;
  /** UTC milliseconds, exclusive */
  beforeMs: number;
}

/** Calls `count` for every row that the filter selects. */
export function* countFiltered(connection: Connection, filter: RowFilter, count: Count): Steps<void> {
  const selection = selectionOf({ filter, sort: "occurred_asc" });
  const rows = orderedRows<CountedRow>(connection, {
    ...selection,
    read: (where, { limit }) =>
      connection
        .select(COUNTED)
        .from(requests)
        .where(where)
        .orderBy(...orderOf(selection.order))
        .limit(limit)
        .all(),
  });
  yield* overSpans(rows, (span) => {
    for (const row of rows.read(span, { offset: 0, limit: STEP_ROWS })) count(row);
    return true;
  });
}

/** @returns a function like `countFiltered` for all rows of a period; its statement is compiled once */
export function countingAll(connection: Connection): (period: Period, count: Count) => Steps<void> {
  const place = sql`(${sql.placeholder("atMs")}, ${sql.placeholder("id")})`;
  const behind = connection
    .select(PLACED)
    .from(requests)
    .where(
      and(sql`(${occurredAtMs}, ${id}) > ${place}`, sql`${occurredAtMs} < ${sql.placeholder("beforeMs")}`),
    )
    .orderBy(asc(occurredAtMs), asc(id))
    .limit(STEP_ROWS)
    .prepare();
  return function* ({ fromMs, beforeMs }, count) {
    let after = { atMs: fromMs, id: "" };
    for (;;) {
      const rows = behind.all({ ...after, beforeMs });
      for (const row of rows) count(row);
      const last = rows.at(-1);
      if (!last || rows.length < STEP_ROWS) return;
      after = { atMs: last.occurredAtMs, id: last.id };
      yield;
    }
  };
}

/** @returns the times of the first and the last row; undefined without rows */
export function extentOf(connection: Connection): { firstMs: number; lastMs: number } | undefined {
  // One statement each, because SQLite looks up only a single min or max in the index.
  const first = connection
    .select({ at: min(occurredAtMs) })
    .from(requests)
    .get()?.at;
  const last = connection
    .select({ at: max(occurredAtMs) })
    .from(requests)
    .get()?.at;
  return typeof first === "number" && typeof last === "number" ? { firstMs: first, lastMs: last } : undefined;
}
