// Queries and results of summaries of the request log, and their limits.
import type { RowFilter } from "../model.ts";
import type { Figures } from "./tally.ts";

/** Maximum number of points of a summary. */
export const POINTS_MAX = 400;
/** Maximum number of models or users of a summary, those with the most requests. */
export const GROUPS_MAX = 50;

/** The period that one point covers. */
export const BUCKETS = ["hour", "day"] as const;
export type Bucket = (typeof BUCKETS)[number];

export const SUMMARY_GROUPS = ["model", "user"] as const;
export type SummaryGroup = (typeof SUMMARY_GROUPS)[number];

/** A checked request for a summary. */
export interface SummarySearch {
  /** the period is within the points */
  filter: RowFilter;
  /** beginnings of the points in UTC milliseconds, ascending; 1 to POINTS_MAX */
  points: number[];
  /** end of the last point */
  endMs: number;
  groups: readonly SummaryGroup[];
}

export interface SummaryFound {
  totals: Figures;
  /** in the order of the search, including points without requests */
  points: ({ atMs: number } & Figures)[];
  /** most requests first, at most GROUPS_MAX; the empty name stands for requests without a model */
  groups: Record<SummaryGroup, { name: string; figures: Figures }[]>;
}
