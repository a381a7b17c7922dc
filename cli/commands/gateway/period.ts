// Parses `--from` and `--to`. Errors name these options, because the API has other names.
import { type DayRangeQuery, readDayRange, readTimeRange } from "../../../src/domain/shared/day-range.ts";
import { DomainError, type Problem } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";

const NAME = "period";

/** @returns days @throws DomainError `usage.not_a_day` */
export const daysOf = (call: Call): DayRangeQuery => periodOf(call, readDayRange);

/** @returns days or times @throws DomainError `usage.not_a_day` */
export const timesOf = (call: Call): DayRangeQuery => periodOf(call, readTimeRange);

function periodOf({ text }: Call, check: typeof readTimeRange): DayRangeQuery {
  const period = { from: text("from"), to: text("to") };
  const problems: Problem[] = [];
  check(period, { name: NAME, problems });
  if (problems.length === 0) return period;
  const message = problems.map(({ detail }) => detail.replaceAll(`${NAME}_`, "--")).join("; ");
  throw new DomainError("invalid", "usage.not_a_day", message);
}
