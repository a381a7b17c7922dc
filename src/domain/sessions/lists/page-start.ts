// Finds where a numbered page begins without reading the sessions of the days before it.
import { DAY_MS } from "../../../platform/clock.ts";
import type { PageWindow } from "../../shared/page-steps.ts";
import type { DayCount } from "./count-store.ts";
import type { SessionSort } from "./list-query.ts";

/**
 * @param days in the order of the list
 * @param offset sessions before the page
 * @returns the beginning of the day in which the page begins, and how many sessions of that day come before the page
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
