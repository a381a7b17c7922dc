// Reads a query of the request log, and reports all its problems.
import { DAY_MS } from "../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { type DayRange, type DayRangeQuery, readTimeRange } from "../../shared/day-range.ts";
import { offsetOf, type PageQuery, readPageQuery, readUuid, readWord } from "../../shared/page.ts";
import { RESULTS, type RowFilter, type RowSearch, SORTS } from "./model.ts";
import { OUTCOMES } from "./record.ts";

/** Maximum characters of the values that filters compare, the same as for stored rows. */
export const LENGTH_MAX = { harness: 128, model: 512, profileId: 512, runId: 512 };

/** The unchecked filters of a caller. */
export interface LogFilterQuery {
  userId?: string | undefined;
  profileId?: string | undefined;
  model?: string | undefined;
  harness?: string | undefined;
  result?: string | undefined;
  outcome?: string | undefined;
  runId?: string | undefined;
  minTokens?: number | undefined;
  occurred?: DayRangeQuery | undefined;
  /** UTC milliseconds instead of `occurred`: inclusive, and exclusive */
  fromMs?: number | undefined;
  beforeMs?: number | undefined;
}

/** The unchecked request of a caller. */
export interface LogQuery extends LogFilterQuery, PageQuery {
  sort?: string | undefined;
  /** the last row of the previous page; replaces the page number */
  after?: RowSearch["after"];
}

export interface CheckedQuery {
  page: number;
  perPage: number;
  search: RowSearch;
}

/**
 * @param keptFromMs rows that arrived earlier have expired
 * @throws DomainError `request_log.invalid` with all problems
 */
export function readLogQuery(query: LogQuery, keptFromMs: number): CheckedQuery {
  const problems: Problem[] = [];
  const request = readPageQuery(query, problems);
  const filter = { ...readFilter(query, keptFromMs, problems), q: request.q };
  const sort = readWord(query.sort, { name: "sort", words: SORTS, problems }) ?? SORTS[0];
  refuse(problems);
  const { page, perPage } = request;
  const { after, known } = query;
  const offset = after ? 0 : offsetOf(request);
  return { page, perPage, search: { filter, sort, offset, limit: perPage, after, known } };
}

/** Reads the filters except the search text. */
export function readFilter(query: LogFilterQuery, keptFromMs: number, problems: Problem[]): RowFilter {
  const { fromMs, beforeMs } = readPeriod(query, problems);
  const text = textReader(problems);
  return {
    fromMs: Math.max(fromMs ?? keptFromMs, keptFromMs),
    beforeMs,
    userId: readUuid(query.userId, "user_id", problems),
    profileId: text("profile_id", query.profileId, LENGTH_MAX.profileId),
    model: text("model", query.model, LENGTH_MAX.model),
    harness: text("harness", query.harness, LENGTH_MAX.harness),
    result: readWord(query.result, { name: "result", words: RESULTS, problems }),
    outcome: readWord(query.outcome, { name: "outcome", words: OUTCOMES, problems }),
    runId: text("run_id", query.runId, LENGTH_MAX.runId),
    minTokens: readCount(query.minTokens, "min_tokens", problems),
  };
}

/** Days in the API are days in UTC; the console passes times. */
function readPeriod({ occurred = {}, fromMs, beforeMs }: LogFilterQuery, problems: Problem[]): DayRange {
  if (fromMs === undefined && beforeMs === undefined)
    return readTimeRange(occurred, { name: "occurred", problems });
  if (fromMs !== undefined && beforeMs !== undefined && fromMs >= beforeMs)
    problems.push({ pointer: "/occurred_to", detail: "occurred_to must not be before occurred_from" });
  return { fromMs, beforeMs };
}

/** @throws DomainError `request_log.invalid` if there are problems */
export function refuse(problems: readonly Problem[]): void {
  if (problems.length > 0) throw invalidLog(problems);
}

/** @returns the error for a query or for rows */
export function invalidLog(problems: readonly Problem[]): DomainError {
  const message = problems.map(({ detail }) => detail).join("; ");
  return new DomainError("invalid", "request_log.invalid", message, { problems });
}

/** @returns the time from which rows are kept */
export const retentionStartMs = (nowMs: number, retentionDays: number): number =>
  nowMs - retentionDays * DAY_MS;

const textReader =
  (problems: Problem[]) =>
  (name: string, text: string | undefined, lengthMax: number): string | undefined => {
    if (text !== undefined && [...text].length > lengthMax)
      problems.push({ pointer: `/${name}`, detail: `${name} may have at most ${lengthMax} characters` });
    return text;
  };

function readCount(count: number | undefined, name: string, problems: Problem[]): number | undefined {
  if (count !== undefined && (!Number.isSafeInteger(count) || count < 0))
    problems.push({ pointer: `/${name}`, detail: `${name} must be a whole number from 0` });
  return count;
}
