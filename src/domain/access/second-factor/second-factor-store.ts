// SQL of second factors: authenticator apps, passkeys, recovery codes and answered challenges. second-factors.ts decides what
// counts as a proof. Nothing caches these rows.
import { and, asc, count, eq, inArray, lt, lte } from "drizzle-orm";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { sealedRowsStore } from "../../shared/sealed-rows-store.ts";
import { SWEEP_BATCH_ROWS } from "../model.ts";
import { authenticatorApps, passkeys, recoveryCodes, spentChallenges } from "../tables.ts";
import { PASSKEYS_PER_USER_MAX } from "./model.ts";

export type AppRow = typeof authenticatorApps.$inferSelect;
export type PasskeyRow = typeof passkeys.$inferSelect;

export const findApp = (connection: Connection, userId: string): AppRow | undefined =>
  connection.select().from(authenticatorApps).where(eq(authenticatorApps.userId, userId)).limit(1).get();

export function putApp(tx: Tx, row: AppRow): void {
  tx.insert(authenticatorApps)
    .values(row)
    .onConflictDoUpdate({ target: authenticatorApps.userId, set: row })
    .run();
}

/** Records the step of an accepted code. @returns false if a code of this or a later step was already accepted */
export function spendStep(
  tx: Tx,
  { userId, step, nowMs }: { userId: string; step: number; nowMs: number },
): boolean {
  const spent = tx
    .update(authenticatorApps)
    .set({ lastStep: step, usedAtMs: nowMs })
    .where(and(eq(authenticatorApps.userId, userId), lt(authenticatorApps.lastStep, step)))
    .run();
  return changesOf(spent) > 0;
}

/** @returns how many were removed */
export const removeApp = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(authenticatorApps).where(eq(authenticatorApps.userId, userId)).run());

/** @returns the passkeys of a user, oldest first */
export const listPasskeys = (connection: Connection, userId: string): PasskeyRow[] =>
  connection
    .select()
    .from(passkeys)
    .where(eq(passkeys.userId, userId))
    .orderBy(asc(passkeys.id))
    .limit(PASSKEYS_PER_USER_MAX)
    .all();

/** @returns false if any user has a passkey with this credential id */
export function addPasskey(tx: Tx, row: PasskeyRow): boolean {
  return changesOf(tx.insert(passkeys).values(row).onConflictDoNothing().run()) > 0;
}

/** Records the use of a passkey. @returns false if the passkey was removed, or another request used it first */
export function usePasskey(
  tx: Tx,
  { id, counter, before, nowMs }: { id: string; counter: number; before: number; nowMs: number },
): boolean {
  const used = tx
    .update(passkeys)
    .set({ counter, usedAtMs: nowMs })
    .where(and(eq(passkeys.id, id), eq(passkeys.counter, before)))
    .run();
  return changesOf(used) > 0;
}

/** @returns the removed passkey */
export const takePasskey = (tx: Tx, { userId, id }: { userId: string; id: string }): PasskeyRow | undefined =>
  tx
    .delete(passkeys)
    .where(and(eq(passkeys.userId, userId), eq(passkeys.id, id)))
    .returning()
    .get();

/** @returns how many were removed */
export const removePasskeys = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(passkeys).where(eq(passkeys.userId, userId)).run());

/** @returns how many unused recovery codes a user has */
export const countRecoveryCodes = (connection: Connection, userId: string): number =>
  connection.select({ total: count() }).from(recoveryCodes).where(eq(recoveryCodes.userId, userId)).get()
    ?.total ?? 0;

/** Uses up a recovery code. @returns whether it existed */
export const takeRecoveryCode = (tx: Tx, row: { userId: string; codeHash: string }): boolean =>
  changesOf(
    tx
      .delete(recoveryCodes)
      .where(and(eq(recoveryCodes.userId, row.userId), eq(recoveryCodes.codeHash, row.codeHash)))
      .run(),
  ) > 0;

/** @returns how many were removed */
export const removeRecoveryCodes = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(recoveryCodes).where(eq(recoveryCodes.userId, userId)).run());

export function addRecoveryCodes(tx: Tx, userId: string, hashes: readonly string[]): void {
  tx.insert(recoveryCodes)
    .values(hashes.map((codeHash) => ({ userId, codeHash })))
    .run();
}

/** @returns false if the challenge was answered before */
export const spendChallenge = (tx: Tx, row: { challengeHash: string; expiresAtMs: number }): boolean =>
  changesOf(tx.insert(spentChallenges).values(row).onConflictDoNothing().run()) > 0;

/** Removes a batch of expired challenges. @returns how many */
export function removeExpiredChallenges(tx: Tx, nowMs: number): number {
  const expired = tx
    .select({ hash: spentChallenges.challengeHash })
    .from(spentChallenges)
    .where(lte(spentChallenges.expiresAtMs, nowMs))
    .limit(SWEEP_BATCH_ROWS);
  return changesOf(tx.delete(spentChallenges).where(inArray(spentChallenges.challengeHash, expired)).run());
}

export const sealedApps = sealedRowsStore({
  table: authenticatorApps,
  id: authenticatorApps.userId,
  sealed: authenticatorApps.sealedSecret,
});
