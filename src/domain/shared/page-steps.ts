// Reads long lists in steps of STEP_ROWS rows, so that the event loop can turn between them. Needs rows in a fixed order;
// ordered-rows-store.ts has the SQL.
import type { Db, Topic } from "../../platform/database/database.ts";
import type { Steps } from "../../platform/steps.ts";

/** Number of rows that one step reads, matching or not. Takes about a millisecond with a filter of the table itself. */
export const STEP_ROWS = 1_000;
/** Number of rows of a step whose filter reads a row of another table for each. */
export const JOINED_STEP_ROWS = 500;

/** Size of the first step for a page whose total is not counted, in pages. */
const FIRST_PAGES = 4;

/** The position of a row in the order. */
export interface Place {
  first: string | number;
  second: string;
}

/** The rows after a position, up to and including another; default: from the beginning, and to the end. */
export interface Span {
  after?: Place | undefined;
  upTo?: Place | undefined;
}

export interface OrderedRows<Row> {
  /** whether every row matches */
  isComplete: boolean;
  /** number of rows per step, instead of STEP_ROWS */
  stepRows?: number | undefined;
  /** @returns the position that many rows later, whether or not its row matches; undefined if fewer rows follow */
  placeAhead(after: Place | undefined, rows: number): Place | undefined;
  /** @returns how many rows of the span match */
  count(span: Span): number;
  /** @returns matching rows of the span */
  read(span: Span, window: { offset: number; limit: number }): Row[];
}

/**
 * Calls `work` for each step's rows, in order. Each step sees the commits up to then.
 * @param work returns whether to continue
 * @param options `after`: the row before the first step; default: from the first row. `firstRows`: size of the first step
 */
export function* overSpans(
  { placeAhead, stepRows = STEP_ROWS }: Pick<OrderedRows<unknown>, "placeAhead" | "stepRows">,
  work: (span: Span) => boolean,
  { after, firstRows = stepRows }: { after?: Place | undefined; firstRows?: number | undefined } = {},
): Steps<void> {
  for (let from = after, rows = firstRows; ; rows = stepRows) {
    const upTo = placeAhead(from, rows);
    if (!work({ after: from, upTo }) || !upTo) return;
    from = upTo;
    yield;
  }
}

export interface PageWindow {
  /** the row after which the page begins */
  after?: Place | undefined;
  /** number of matching rows to skip */
  offset: number;
  limit: number;
  /** the total, if it is known or not needed; then nothing after the page is read */
  known?: number | undefined;
  /** counting stops soon after this total; without it, every row is counted */
  countedMax?: number | undefined;
}

/**
 * @returns the page, and the number of matching rows after `after`; a row that moves in the order between two steps may be missing
 * from the page
 */
export function* pageInSteps<Row>(
  rows: OrderedRows<Row>,
  { after, offset, limit, known, countedMax = Number.POSITIVE_INFINITY }: PageWindow,
): Steps<{ items: Row[]; total: number }> {
  if (rows.isComplete && known !== undefined && offset + limit <= STEP_ROWS)
    return { items: limit > 0 ? rows.read({ after }, { offset, limit }) : [], total: known };
  const items: Row[] = [];
  let total = 0;
  const readSpan = (span: Span): boolean => {
    if (known !== undefined && offset === 0) {
      items.push(...rows.read(span, { offset, limit: limit - items.length }));
      return items.length < limit;
    }
    const matching = rows.isComplete && span.upTo ? STEP_ROWS : rows.count(span);
    const left = limit - items.length;
    if (left > 0 && total + matching > offset)
      items.push(...rows.read(span, { offset: Math.max(0, offset - total), limit: left }));
    total += matching;
    return known === undefined ? total <= countedMax : items.length < limit;
  };
  // A page whose total is not counted may need only the first rows.
  const isShort = known !== undefined && offset === 0 && limit > 0;
  const firstRows = isShort ? Math.min(FIRST_PAGES * limit, rows.stepRows ?? STEP_ROWS) : undefined;
  yield* overSpans(rows, readSpan, { after, firstRows });
  return { items, total: known ?? total };
}

/** @returns the ids of a page among the ids of all matching rows, in the order of SQLite */
export function placesOf(
  places: readonly Place[],
  { after, offset, limit, isDescending }: PageWindow & { isDescending: boolean },
): string[] {
  const sign = isDescending ? -1 : 1;
  const inOrder = (one: Place, other: Place): number =>
    sign * (byValue(one.first, other.first) || byBytes(one.second, other.second));
  const sorted = [...places].sort(inOrder);
  const behind = after ? sorted.filter((place) => inOrder(place, after) > 0) : sorted;
  return behind.slice(offset, offset + limit).map(({ second }) => second);
}

const byValue = (one: string | number, other: string | number): number =>
  typeof one === "number" && typeof other === "number" ? one - other : byBytes(String(one), String(other));

const SURROGATE = /[\ud800-\udfff]/;

/** The order of SQLite, which differs from the one of JavaScript for characters outside the basic plane. */
export function byBytes(one: string, other: string): number {
  if (one === other) return 0;
  if (SURROGATE.test(one) || SURROGATE.test(other))
    return Buffer.compare(Buffer.from(one), Buffer.from(other));
  return one < other ? -1 : 1;
}

/** The number of rows of each organization, counted again only after the revision of the topic has changed. */
export class RowTotals {
  readonly #known = new Map<string, { revision: number; total: number }>();

  constructor(
    private readonly db: Pick<Db, "revision">,
    /** topic whose revision changes with every new or removed row */
    private readonly topic: Topic,
  ) {}

  *of(organizationId: string, rows: OrderedRows<unknown>): Steps<number> {
    const revision = this.db.revision(this.topic);
    const known = this.#known.get(organizationId);
    if (known?.revision === revision) return known.total;
    const { total } = yield* pageInSteps(rows, { offset: 0, limit: 0 });
    this.#known.set(organizationId, { revision, total });
    return total;
  }
}
