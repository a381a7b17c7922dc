// Reports of usage for administrators, users and commands, from the sums in the database. The last seconds are still in memory
// (usage-sums.ts), so reports lack them.
import { type Clock, DAY_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import type { Steps } from "../../../platform/steps.ts";
import { type DayRangeQuery, readDayRange } from "../../shared/day-range.ts";
import {
  addSums,
  dayOf,
  dayText,
  ENTRIES_MAX,
  GROUPS,
  type Group,
  NO_SUMS,
  type Sums,
  USAGE_DAYS_KEPT,
  type UsageEntry,
} from "./model.ts";
import * as store from "./store.ts";

/** Default number of days in a report. */
const DAYS_DEFAULT = 30;

export interface UsageQuery extends DayRangeQuery {
  groupBy?: string | undefined;
  /** only the sums of this user */
  userId?: string | undefined;
}

export interface UsageReport {
  /** first and last day, `2026-01-31` */
  from: string;
  to: string;
  group: Group;
  /** by day, or else most requests first; at most ENTRIES_MAX */
  entries: UsageEntry[];
  /** totals of all entries, including omitted ones */
  totals: Sums;
  isTruncated: boolean;
}

export class UsageReports {
  constructor(private readonly dependencies: { db: Db; clock: Clock; addressOf(userId: string): string }) {}

  /**
   * @param fallback the default group
   * @throws DomainError `usage.invalid` with all problems
   */
  *report(organizationId: string, query: UsageQuery, fallback: Group = "user"): Steps<UsageReport> {
    const { fromDay, toDay, group } = readQuery(query, {
      fallback,
      today: dayOf(this.dependencies.clock.nowMs()),
    });
    const byKey = new Map<string, Sums>();
    const totals = { ...NO_SUMS };
    for (let day = fromDay; day <= toDay; day++) {
      const wanted = { ofDay: day, group, ofUser: query.userId };
      for (const { key, ...sums } of store.usageOfDay(this.dependencies.db.read, organizationId, wanted)) {
        const name = group === "day" ? dayText(day) : key;
        addSums(sumsIn(byKey, name), sums);
        addSums(totals, sums);
      }
      yield;
    }
    const entries = [...byKey].map(([key, sums]) => ({ key: key === "" ? null : key, ...sums }));
    if (group !== "day") entries.sort((one, other) => other.requests - one.requests);
    const shown = entries.slice(0, ENTRIES_MAX);
    return {
      from: dayText(fromDay),
      to: dayText(toDay),
      group,
      totals,
      entries: group === "user" ? shown.map((entry) => this.#named(entry)) : shown,
      isTruncated: entries.length > ENTRIES_MAX,
    };
  }

  #named(entry: UsageEntry): UsageEntry {
    return { ...entry, userEmail: this.dependencies.addressOf(entry.key ?? "") };
  }
}

function sumsIn(byKey: Map<string, Sums>, key: string): Sums {
  const sums = byKey.get(key) ?? { ...NO_SUMS };
  byKey.set(key, sums);
  return sums;
}

function readQuery(
  query: UsageQuery,
  { fallback, today }: { fallback: Group; today: number },
): { fromDay: number; toDay: number; group: Group } {
  const problems: Problem[] = [];
  const { fromMs, beforeMs } = readDayRange(query, { name: "day", problems });
  const named = problems.map(({ pointer, detail }) => ({
    pointer: pointer.replace("/day_", "/"),
    detail: detail.replaceAll("day_", ""),
  }));
  const group = query.groupBy === undefined ? fallback : GROUPS.find((name) => name === query.groupBy);
  if (group === undefined)
    named.push({ pointer: "/group_by", detail: `group_by must be one of ${GROUPS.join(", ")}` });
  const toDay = beforeMs === undefined ? today : beforeMs / DAY_MS - 1;
  const fromDay = fromMs === undefined ? toDay - DAYS_DEFAULT + 1 : fromMs / DAY_MS;
  if (named.length === 0 && toDay - fromDay >= USAGE_DAYS_KEPT)
    named.push({ pointer: "/from", detail: `a report covers at most ${USAGE_DAYS_KEPT} days` });
  if (named.length === 0 && group !== undefined && fromDay <= toDay) return { fromDay, toDay, group };
  if (named.length === 0) named.push({ pointer: "/to", detail: "to must not be before from" });
  const message = named.map(({ detail }) => detail).join("; ");
  throw new DomainError("invalid", "usage.invalid", message, { problems: named });
}
