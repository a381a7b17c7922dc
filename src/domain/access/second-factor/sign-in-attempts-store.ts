// SQL of sign-ins that wait for a second factor. sign-in-attempts.ts decides which ones count.
import { and, desc, eq, inArray, lte, notInArray } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { SWEEP_BATCH_ROWS } from "../model.ts";
import { signInAttempts } from "../tables.ts";

export type AttemptRow = typeof signInAttempts.$inferSelect;

/** Adds an attempt and drops all but the newest `keep` of the user. */
export function add(tx: Tx, row: AttemptRow, keep: number): void {
  tx.insert(signInAttempts).values(row).run();
  const newest = tx
    .select({ id: signInAttempts.id })
    .from(signInAttempts)
    .where(eq(signInAttempts.userId, row.userId))
    .orderBy(desc(signInAttempts.id))
    .limit(keep);
  tx.delete(signInAttempts)
    .where(and(eq(signInAttempts.userId, row.userId), notInArray(signInAttempts.id, newest)))
    .run();
}

/** @returns the attempt of a token, which may have expired */
export const find = (connection: Connection, tokenHash: string): AttemptRow | undefined =>
  connection.select().from(signInAttempts).where(eq(signInAttempts.tokenHash, tokenHash)).limit(1).get();

/** Uses up an attempt. @returns false if it no longer exists */
export const take = (tx: Tx, id: string): boolean =>
  changesOf(tx.delete(signInAttempts).where(eq(signInAttempts.id, id)).run()) > 0;

/** Removes a batch of expired attempts. @returns how many */
export function removeExpired(tx: Tx, nowMs: number): number {
  const expired = tx
    .select({ id: signInAttempts.id })
    .from(signInAttempts)
    .where(lte(signInAttempts.expiresAtMs, nowMs))
    .limit(SWEEP_BATCH_ROWS);
  return changesOf(tx.delete(signInAttempts).where(inArray(signInAttempts.id, expired)).run());
}
