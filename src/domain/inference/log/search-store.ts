// SQL that finds rows, gaps and values of the facets in the request log. A page is read in steps.
import type { Database } from "bun:sqlite";
import { and, asc, count, desc, eq, gte, inArray, isNotNull, isNull, lt, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import { createDrizzle } from "../../../platform/database/drizzle.ts";
import type { Steps } from "../../../platform/steps.ts";
import { type OrderedList, orderedRows, orderOf } from "../../shared/ordered-rows-store.ts";
import { pageInSteps } from "../../shared/page-steps.ts";
import {
  COUNTED_MAX,
  DROP_CAUSES,
  FACET_VALUES_MAX,
  type FoundRows,
  GAPS_MAX,
  type Gap,
  type LogFigures,
  RESULTS,
  type RowFilter,
  type RowSearch,
  type SeenValues,
} from "./model.ts";
import type { RequestRow } from "./record.ts";
import { selectionOf } from "./selection-store.ts";
import type { SummaryFound, SummarySearch } from "./summary/model.ts";
import { cacheAllSums, summarize } from "./summary/summarize.ts";
import { gaps, requests, seen } from "./tables.ts";

const { occurredAtMs, id, userId } = requests;

/** Statements over one connection to the file. */
export class LogReader {
  readonly #connection: Connection;

  constructor(private readonly database: Database) {
    this.#connection = createDrizzle(database);
  }

  close(): void {
    this.database.close();
  }

  /** @returns a page of rows, and the gaps of its period */
  *search(search: RowSearch): Steps<FoundRows> {
    const { filter, sort, offset, limit, after, known } = search;
    const rows = orderedRows(this.#connection, listOf(this.#connection, { filter, sort }));
    const place = after && { first: after.occurredAtMs, second: after.id };
    const window = { after: place, offset, limit, known, countedMax: COUNTED_MAX };
    const { items, total } = yield* pageInSteps(rows, window);
    const counted = { items, total: Math.min(total, COUNTED_MAX) };
    return { ...counted, isCapped: total > COUNTED_MAX, gaps: this.#gapsOf(search, counted) };
  }

  /** @param mayKeep whether the connection may store computed sums */
  summarize(search: SummarySearch, mayKeep: boolean): Steps<SummaryFound> {
    return summarize({ connection: this.#connection, mayKeep }, search);
  }

  /** Needs a writable connection. */
  cacheAllSums(): Steps<void> {
    return cacheAllSums(this.#connection);
  }

  /** The first page starts with the requested period, and the last page ends with it. */
  #gapsOf({ filter, sort, offset }: RowSearch, { items, total }: Pick<FoundRows, "items" | "total">): Gap[] {
    const isFirst = offset === 0;
    const isLast = offset + items.length >= total;
    const [first, last] = [items[0]?.occurredAtMs, items.at(-1)?.occurredAtMs];
    const isDescending = sort === "occurred_desc";
    const lowest = isDescending ? !isLast && last : !isFirst && first;
    const highest = isDescending ? !isFirst && first : !isLast && last;
    return this.gapsBetween({
      fromMs: typeof lowest === "number" ? lowest : filter.fromMs,
      beforeMs: typeof highest === "number" ? highest + 1 : filter.beforeMs,
    });
  }

  /** @returns the latest GAPS_MAX gaps that overlap the period, latest first */
  gapsBetween({ fromMs, beforeMs }: Pick<RowFilter, "fromMs" | "beforeMs">): Gap[] {
    return this.#connection
      .select({ fromMs: gaps.fromMs, toMs: gaps.toMs, count: gaps.count, cause: gaps.cause })
      .from(gaps)
      .where(
        and(
          fromMs === undefined ? undefined : gte(gaps.toMs, fromMs),
          beforeMs === undefined ? undefined : lt(gaps.fromMs, beforeMs),
        ),
      )
      .orderBy(desc(gaps.id))
      .limit(GAPS_MAX)
      .all()
      .map((gap) => ({ ...gap, cause: DROP_CAUSES.find((cause) => cause === gap.cause) ?? "broken" }));
  }

  /** @returns values of rows since that time: the most recent FACET_VALUES_MAX of each kind, ordered by name */
  seenSince(fromMs: number): SeenValues {
    const values = (kind: string) =>
      this.#connection
        .select({ value: seen.value, name: seen.name })
        .from(seen)
        .where(and(eq(seen.kind, kind), gte(seen.lastAtMs, fromMs)))
        .orderBy(desc(seen.lastAtMs))
        .limit(FACET_VALUES_MAX)
        .all()
        .sort((one, other) => byText(one.value, other.value));
    const namesOf = (kind: string) => values(kind).map(({ value }) => value);
    const results = new Set(namesOf("result"));
    return {
      models: namesOf("model"),
      harnesses: namesOf("harness"),
      profiles: values("profile").map(({ value, name }) => ({ id: value, name })),
      results: RESULTS.filter((result) => results.has(result)),
    };
  }

  /** @returns facts for `doctor` and `status` */
  figures(fromMs: number): LogFigures {
    const [oldest] = this.#connection
      .select({ occurredAtMs })
      .from(requests)
      .orderBy(asc(occurredAtMs), asc(id))
      .limit(1)
      .all();
    return { oldestMs: oldest?.occurredAtMs ?? null, gaps: this.gapsBetween({ fromMs }) };
  }

  /** @returns rows after that number, in the order in which they were first written; for a command that follows the log */
  writtenAfter(number: number, limit: number): { number: number; row: RequestRow }[] {
    const position = sql<number>`rowid`;
    return this.#connection
      .select({ number: position, row: requests })
      .from(requests)
      .where(sql`rowid > ${number}`)
      .orderBy(asc(position))
      .limit(limit)
      .all();
  }

  /** @returns the number of the last written row; 0 without rows */
  lastNumber(): number {
    return this.#connection.select({ last: sql<number | null>`max(rowid)` }).from(requests).get()?.last ?? 0;
  }

  /** @returns the rows that still exist, in the order in which they were first written */
  find(ids: string[]): RequestRow[] {
    return this.#connection
      .select()
      .from(requests)
      .where(inArray(id, ids))
      .orderBy(sql`rowid`)
      .limit(ids.length)
      .all();
  }

  /** @returns the number of rows of a user */
  countOf(ofUser: string): number {
    return (
      this.#connection.select({ total: count() }).from(requests).where(eq(userId, ofUser)).get()?.total ?? 0
    );
  }

  /** @returns whether the period has a row of an unfinished request */
  hasUnfinished({ fromMs, beforeMs }: { fromMs: number; beforeMs: number }): boolean {
    const isUnfinished = and(isNull(requests.outcome), isNotNull(requests.requestId));
    const within = and(gte(occurredAtMs, fromMs), lt(occurredAtMs, beforeMs));
    return (
      this.#connection.select({ id }).from(requests).where(and(within, isUnfinished)).limit(1).get() !==
      undefined
    );
  }
}

function listOf(connection: Connection, wanted: Pick<RowSearch, "filter" | "sort">): OrderedList<RequestRow> {
  const selection = selectionOf(wanted);
  return {
    ...selection,
    read: (where, { limit, offset }) =>
      connection
        .select()
        .from(requests)
        .where(where)
        .orderBy(...orderOf(selection.order))
        .limit(limit)
        .offset(offset)
        .all(),
  };
}

/** Compares texts by their bytes, like the database. */
const byText = (one: string, other: string): number => (one < other ? -1 : Number(one > other));
