// SQL that removes the login rows of one user. end-logins-store.ts ends a login without removing its row.
import { eq, inArray, or } from "drizzle-orm";
import { markTopicChanged } from "../../platform/database/changed-topics.ts";
import type { Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { deviceLogins, grants, loginSessions } from "./tables.ts";

/** @returns how many were removed; their refresh tokens and gateway sessions are removed with them */
export function removeGrants(tx: Tx, userId: string): number {
  markTopicChanged(tx, "access");
  return changesOf(tx.delete(grants).where(eq(grants.userId, userId)).run());
}

/** Removes the device logins that the user decided or that one of the user's browsers is deciding. @returns how many */
export function removeDecided(tx: Tx, userId: string): number {
  markTopicChanged(tx, "access");
  const sessions = tx
    .select({ id: loginSessions.id })
    .from(loginSessions)
    .where(eq(loginSessions.userId, userId));
  const isTheirs = or(eq(deviceLogins.userId, userId), inArray(deviceLogins.loginSessionId, sessions));
  return changesOf(tx.delete(deviceLogins).where(isTheirs).run());
}

/** Call it last: grants and device logins refer to sessions. @returns how many were removed */
export function removeSessions(tx: Tx, userId: string): number {
  markTopicChanged(tx, "access");
  return changesOf(tx.delete(loginSessions).where(eq(loginSessions.userId, userId)).run());
}
