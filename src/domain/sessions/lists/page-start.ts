// Finds the beginning of a numbered page without reading the sessions of earlier days.
import { DAY_MS } from "../../../platform/clock.ts";
import type { PageWindow } from "../../shared/page-steps.ts";
import type { DayCount } from "./count-store.ts";
import type { SessionSort } from "./list-query.ts";

/**
 * @param days in the order of the list
 * @param offset number of sessions before the page
 * @returns the beginning of the day in which the page begins, and the number of that day's sessions before the page
 */
export function pageStart(
  days: readonly DayCount[],
  offset: number,
  sort: SessionSort,
): Pick<PageWindow, "after" | "offset"> {
  let left = offset;
  for (const { day, sessions } of days) {
    if (left < sessions) {
      const first = (sort === "updated_asc" ? day : day + 1) * DAY_MS;
      return { after: { first, second: "" }, offset: left };
    }
    left -= sessions;
  }
  return { offset };
}
