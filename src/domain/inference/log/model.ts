// Types of the request log in addition to its rows: queries, results, and their limits.
import type { Outcome, RequestRow } from "./record.ts";

/** Maximum number of rows in one transaction. */
export const BATCH_ROWS_MAX = 500;
/** How long a row waits to share a transaction. */
export const BATCH_MS = 200;
/** Maximum number of matching rows that a list counts. */
export const COUNTED_MAX = 100_000;
/** Time limit of one search. */
export const SEARCH_MS_MAX = 5_000;
/** Maximum number of gaps in one response. */
export const GAPS_MAX = 100;
/** Maximum number of models, harnesses and profiles in the facets. */
export const FACET_VALUES_MAX = 200;
/** Maximum number of stored facet values of one kind, which must be bounded because model names come from workstations. */
export const SEEN_VALUES_MAX = 10_000;

/** Why rows were dropped: the file was not written quickly enough or was locked, its disk was full, or writing failed. */
export const DROP_CAUSES = ["queue_full", "disk_full", "broken"] as const;
export type DropCause = (typeof DROP_CAUSES)[number];

/** Dropped rows, by arrival in UTC milliseconds, both ends inclusive. */
export interface Gap {
  fromMs: number;
  toMs: number;
  count: number;
  cause: DropCause;
}

/** The result of a request by its status, as the API defines it. */
export const RESULTS = ["success", "redirect", "client_error", "server_error", "transport_error"] as const;
export type Result = (typeof RESULTS)[number];

/** By the first digit of the status. */
const RESULT_OF_CLASS: Readonly<Record<number, Result>> = {
  2: "success",
  3: "redirect",
  4: "client_error",
  5: "server_error",
};

/** @returns the result of a status; null if no response headers arrived */
export const resultOf = (httpStatus: number | null): Result =>
  RESULT_OF_CLASS[Math.floor((httpStatus ?? 0) / 100)] ?? "transport_error";

export const SORTS = ["occurred_desc", "occurred_asc"] as const;
type Sort = (typeof SORTS)[number];

/** The filter of a query, with checked values only. */
export interface RowFilter {
  /** UTC milliseconds, inclusive */
  fromMs?: number | undefined;
  /** UTC milliseconds, exclusive */
  beforeMs?: number | undefined;
  userId?: string | undefined;
  profileId?: string | undefined;
  model?: string | undefined;
  harness?: string | undefined;
  result?: Result | undefined;
  outcome?: Outcome | undefined;
  runId?: string | undefined;
  /** total of input and output tokens */
  minTokens?: number | undefined;
  /** literal text, case-insensitive */
  q?: string | undefined;
}

/** One search. */
export interface RowSearch {
  filter: RowFilter;
  sort: Sort;
  offset: number;
  limit: number;
  /** the row after which the page begins, instead of an offset */
  after?: { occurredAtMs: number; id: string } | undefined;
  /** the total, if it need not be counted */
  known?: number | undefined;
}

export interface FoundRows {
  items: RequestRow[];
  /** at most COUNTED_MAX */
  total: number;
  isCapped: boolean;
  gaps: Gap[];
}

/** Values for filters to offer. */
export interface SeenValues {
  models: string[];
  harnesses: string[];
  profiles: { id: string; name: string | null }[];
  results: Result[];
}

/** The figures that `doctor` and `status` show. */
export interface LogFigures {
  /** the earliest row, UTC milliseconds; null without rows */
  oldestMs: number | null;
  gaps: Gap[];
}

export const NOTHING_SEEN: SeenValues = { models: [], harnesses: [], profiles: [], results: [] };
export const NOTHING_FOUND: FoundRows = { items: [], total: 0, isCapped: false, gaps: [] };
