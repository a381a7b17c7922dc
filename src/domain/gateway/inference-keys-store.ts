// SQL of the keys that sign inference tokens. Which key signs, and until when an old one verifies, is for
// signing-key-ring.ts.
import { and, desc, isNotNull, isNull, lte } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import type { SigningKeyRow } from "../signing-key-ring.ts";
import { gatewaySigningKeys } from "./tables.ts";

/** More keys than this never verify at once: each rotation waits a day at least, and tokens live hours. */
const KEYS_MAX = 100;

const selectAll = statement((connection) =>
  connection
    .select()
    .from(gatewaySigningKeys)
    .orderBy(desc(gatewaySigningKeys.createdAtMs))
    .limit(KEYS_MAX)
    .prepare(),
);

/** @returns every key, newest first */
export const list = (connection: Connection): SigningKeyRow[] => selectAll(connection).all();

/** Inserts a new active key; retire the active one before. */
export const add = (tx: Tx, row: SigningKeyRow): void => void tx.insert(gatewaySigningKeys).values(row).run();

/** Retires the keys that sign; their private halves are erased, for they never sign again. */
export function retireActive(tx: Tx, times: { retiredAtMs: number; verifiesUntilMs: number }): void {
  const retired = { ...times, sealedPrivateKey: "" };
  tx.update(gatewaySigningKeys).set(retired).where(isNull(gatewaySigningKeys.retiredAtMs)).run();
}

const isDead = (nowMs: number) =>
  and(isNotNull(gatewaySigningKeys.retiredAtMs), lte(gatewaySigningKeys.verifiesUntilMs, nowMs));

/** @returns the ids of the keys removed */
export const removeDead = (tx: Tx, nowMs: number): string[] =>
  tx
    .delete(gatewaySigningKeys)
    .where(isDead(nowMs))
    .returning({ kid: gatewaySigningKeys.kid })
    .all()
    .map(({ kid }) => kid);
