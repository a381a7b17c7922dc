// Parses `--from` and `--to`. Errors name these options, because the API has other names.
import { type DayRangeQuery, readDayRange } from "../../../src/domain/shared/day-range.ts";
import { DomainError, type Problem } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";

const NAME = "period";

/** @throws DomainError `usage.not_a_day` */
export function periodOf({ text }: Call): DayRangeQuery {
  const period = { from: text("from"), to: text("to") };
  const problems: Problem[] = [];
  readDayRange(period, { name: NAME, problems });
  if (problems.length === 0) return period;
  const message = problems.map(({ detail }) => detail.replaceAll(`${NAME}_`, "--")).join("; ");
  throw new DomainError("invalid", "usage.not_a_day", message);
}
