// Reads the query of a summary: the filters of the log, the points of its curve, and the grouping. Reports all problems.
import { DAY_MS, HOUR_MS } from "../../../../platform/clock.ts";
import type { Problem } from "../../../../platform/errors.ts";
import { readSearchText, readWord } from "../../../shared/page.ts";
import { type LogFilterQuery, readFilter, refuse } from "../query.ts";
import {
  BUCKETS,
  type Bucket,
  POINTS_MAX,
  SUMMARY_GROUPS,
  type SummaryGroup,
  type SummarySearch,
} from "./model.ts";

/** Longer periods have a point for each day by default. */
const HOURLY_UP_TO_MS = 3 * DAY_MS;
/** The default period of hourly points. */
const HOURLY_MS = 7 * DAY_MS;

/** The unchecked request of a caller. */
export interface SummaryQuery extends LogFilterQuery {
  q?: string | undefined;
  bucket?: string | undefined;
  by?: readonly string[] | undefined;
  /** known IANA time zone, which determines when days begin; default: UTC */
  zone?: string | undefined;
}

export interface CheckedSummary {
  bucket: Bucket;
  search: SummarySearch;
}

/**
 * @param times the current time, and the time from which rows are kept
 * @throws DomainError `request_log.invalid` with all problems
 */
export function readSummaryQuery(
  query: SummaryQuery,
  { nowMs, keptFromMs }: { nowMs: number; keptFromMs: number },
): CheckedSummary {
  const problems: Problem[] = [];
  const filter = { ...readFilter(query, keptFromMs, problems), q: readSearchText(query.q, problems) };
  const named = readWord(query.bucket, { name: "bucket", words: BUCKETS, problems });
  const groups = (query.by ?? []).flatMap((by) => readGroup(by, problems));
  refuse(problems);
  const hasBeginning = query.fromMs !== undefined || query.occurred?.from !== undefined;
  const { fromMs = keptFromMs, beforeMs = nowMs + 1 } = filter;
  const lastMs = Math.max(fromMs, Math.min(beforeMs - 1, nowMs));
  const bucket = named ?? (hasBeginning && lastMs - fromMs <= HOURLY_UP_TO_MS ? "hour" : "day");
  const firstMs = hasBeginning ? fromMs : Math.max(fromMs, lastMs - REACH_MS[bucket]);
  const points = pointsOf(bucket, { firstMs, lastMs, zone: query.zone ?? "UTC" });
  const endMs = points.pop() ?? lastMs;
  if (points.length > POINTS_MAX) problems.push(tooLong(bucket));
  refuse(problems);
  return { bucket, search: { filter: { ...filter, fromMs: firstMs }, points, endMs, groups } };
}

/** Default length of the period. */
const REACH_MS: Readonly<Record<Bucket, number>> = { hour: HOURLY_MS, day: (POINTS_MAX - 1) * DAY_MS };

function readGroup(by: string, problems: Problem[]): SummaryGroup[] {
  const group = readWord(by, { name: "by", words: SUMMARY_GROUPS, problems });
  return group === undefined ? [] : [group];
}

const tooLong = (bucket: Bucket): Problem => ({
  pointer: "/bucket",
  detail:
    bucket === "hour"
      ? `the period has more than ${POINTS_MAX} hours; shorten it, or request days`
      : `the period has more than ${POINTS_MAX} days; shorten it`,
});

/** @returns the beginnings of all hours or days of a period, at most POINTS_MAX + 1, and the end of the last one */
function pointsOf(
  bucket: Bucket,
  { firstMs, lastMs, zone }: { firstMs: number; lastMs: number; zone: string },
): number[] {
  const points: number[] = [];
  let at = Temporal.Instant.fromEpochMilliseconds(firstMs)
    .toZonedDateTimeISO(zone)
    .round({ smallestUnit: bucket, roundingMode: "floor" });
  // An hour always has the same length, even when clocks are changed; a day may be shorter or longer.
  const step = bucket === "hour" ? { milliseconds: HOUR_MS } : { days: 1 };
  while (points.push(at.epochMilliseconds) <= POINTS_MAX + 1 && at.epochMilliseconds <= lastMs)
    at = at.add(step);
  return points;
}
