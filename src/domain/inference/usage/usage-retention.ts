// Removes sums of usage older than USAGE_DAYS_KEPT, and removes an erased user from the sums.
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { ErasePersonalData } from "../../shared/personal-data.ts";
import { dayOf, USAGE_DAYS_KEPT } from "./model.ts";
import * as store from "./store.ts";

/** Number of sums to delete in one transaction. */
const BATCH_ROWS = 500;

/** @returns the number of sums that were removed */
export async function forgetUsage(
  { db, clock }: { db: Db; clock: Clock },
  signal?: AbortSignal,
): Promise<number> {
  const beforeDay = dayOf(clock.nowMs()) - USAGE_DAYS_KEPT;
  let removed = 0;
  for (let some = BATCH_ROWS; some === BATCH_ROWS && !signal?.aborted; removed += some)
    some = await db.writeInBackground((tx) => store.removeBefore(tx, beforeDay, BATCH_ROWS), "unobserved");
  return removed;
}

/** See ErasePersonalData. */
export const eraseUsage: ErasePersonalData = (tx, { person: { userId } }) =>
  userId === undefined ? {} : { usage_sums: store.forgetUser(tx, userId) };
