// Queries and results of summaries of the request log, and their limits.
import type { RowFilter } from "../model.ts";
import type { Figures } from "./tally.ts";

/** Points of a summary. */
export const POINTS_MAX = 400;
/** Models or users of a summary, those with the most requests. */
export const GROUPS_MAX = 50;

/** Length of the time that one point covers. */
export const BUCKETS = ["hour", "day"] as const;
export type Bucket = (typeof BUCKETS)[number];

export const SUMMARY_GROUPS = ["model", "user"] as const;
export type SummaryGroup = (typeof SUMMARY_GROUPS)[number];

/** One summary; checked values only. */
export interface SummarySearch {
  /** the period is within the points */
  filter: RowFilter;
  /** beginnings of the points in UTC milliseconds, ascending; at least one and at most POINTS_MAX */
  points: number[];
  /** end of the last point */
  endMs: number;
  groups: readonly SummaryGroup[];
}

export interface SummaryFound {
  totals: Figures;
  /** in the order of the search, also points without requests */
  points: ({ atMs: number } & Figures)[];
  /** most requests first, at most GROUPS_MAX; the empty name is that of requests without a model */
  groups: Record<SummaryGroup, { name: string; figures: Figures }[]>;
}
