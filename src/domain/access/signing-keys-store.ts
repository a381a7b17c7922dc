// SQL of the signing keys. Which key signs, and until when an old one verifies, is for signing-keys.ts.
import { and, desc, eq, isNotNull, isNull, lte } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import { moveRevision } from "../../platform/database/moved-topics.ts";
import { signingKeys } from "./tables.ts";

export type SigningKeyRow = typeof signingKeys.$inferSelect;

/** More keys than this never verify at once: each rotation waits a day at least, and tokens live minutes. */
const KEYS_MAX = 100;

const selectAll = statement((connection) =>
  connection.select().from(signingKeys).orderBy(desc(signingKeys.createdAtMs)).limit(KEYS_MAX).prepare(),
);

/** @returns every key, newest first */
export const list = (connection: Connection): SigningKeyRow[] => selectAll(connection).all();

/** Inserts a new active key; retire the active one before. */
export const add = (tx: Tx, row: SigningKeyRow): void => void tx.insert(signingKeys).values(row).run();

/** Retires the keys that sign; their private halves are erased, for they never sign again. */
export function retireActive(tx: Tx, times: { retiredAtMs: number; verifiesUntilMs: number }): void {
  moveRevision(tx, "access");
  const retired = { ...times, sealedPrivateKey: "" };
  tx.update(signingKeys).set(retired).where(isNull(signingKeys.retiredAtMs)).run();
}

/** Replaces the wrapping of a private key. */
export function reseal(
  tx: Tx,
  { kid, sealedPrivateKey }: Pick<SigningKeyRow, "kid" | "sealedPrivateKey">,
): void {
  tx.update(signingKeys).set({ sealedPrivateKey }).where(eq(signingKeys.kid, kid)).run();
}

const isDead = (nowMs: number) =>
  and(isNotNull(signingKeys.retiredAtMs), lte(signingKeys.verifiesUntilMs, nowMs));

/** @returns the ids of the keys removed */
export function removeDead(tx: Tx, nowMs: number): string[] {
  moveRevision(tx, "access");
  const removed = tx.delete(signingKeys).where(isDead(nowMs)).returning({ kid: signingKeys.kid }).all();
  return removed.map(({ kid }) => kid);
}
