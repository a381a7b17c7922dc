// Users must periodically sign in at the provider again, because without SCIM this service does not learn that a person left. Users
// who never signed in at a provider are not affected.
import { HOUR_MS } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { IsConfirmed } from "../access/service.ts";
import * as identities from "./identities/identities-store.ts";
import type { CurrentSsoSettings } from "./settings.ts";

/** How early `status` warns. */
const RECONFIRMATION_WARNING_MS = 24 * HOUR_MS;

/** @returns the check, which access makes at each refresh of a grant and each use of a browser session */
export const createIsConfirmed =
  (settings: CurrentSsoSettings): IsConfirmed =>
  (connection, { userId, nowMs }) => {
    const hours = settings()?.reconfirmHours ?? 0;
    if (hours === 0) return true;
    const lastMs = identities.lastSignInOf(connection, userId);
    return lastMs === null || nowMs - lastMs < hours * HOUR_MS;
  };

/** @returns how many users must sign in at the provider again within RECONFIRMATION_WARNING_MS */
export function countDueSoon(db: Pick<Db, "read">, settings: CurrentSsoSettings, nowMs: number): number {
  const hours = settings()?.reconfirmHours ?? 0;
  if (hours === 0) return 0;
  const fromMs = nowMs - hours * HOUR_MS;
  return identities.countLastSignIns(db.read, { fromMs, beforeMs: fromMs + RECONFIRMATION_WARNING_MS });
}
