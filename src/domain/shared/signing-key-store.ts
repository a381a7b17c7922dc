// SQL of signing keys, for the table of any sort of token. Which key signs, and until when an old one verifies, is for
// signing-key-ring.ts.
import { and, desc, eq, isNotNull, isNull, lte } from "drizzle-orm";
import { type Connection, statement, type Topic, type Tx } from "../../platform/database/database.ts";
import { moveRevision } from "../../platform/database/moved-topics.ts";
import type { SigningKeyRow, SigningKeyTable } from "./signing-key-tables.ts";

/** More keys than this never verify at once: each rotation waits a day at least, and tokens live minutes or hours. */
const KEYS_MAX = 100;

export interface SigningKeyStore {
  /** @returns every key, newest first */
  list(connection: Connection): SigningKeyRow[];
  /** Inserts a new active key; retire the active one before. */
  add(tx: Tx, row: SigningKeyRow): void;
  /** Retires the keys that sign; their private halves are erased, for they never sign again. */
  retireActive(tx: Tx, times: { retiredAtMs: number; verifiesUntilMs: number }): void;
  /** Replaces the wrapping of a private key. */
  reseal(tx: Tx, key: Pick<SigningKeyRow, "kid" | "sealedPrivateKey">): void;
  /** @returns the ids of the keys removed */
  removeDead(tx: Tx, nowMs: number): string[];
}

/** @param topic of the caches that hold keys of the table */
export function signingKeyStore(table: SigningKeyTable, topic: Topic): SigningKeyStore {
  const selectAll = statement((connection) =>
    connection.select().from(table).orderBy(desc(table.createdAtMs)).limit(KEYS_MAX).prepare(),
  );
  return {
    list: (connection) => selectAll(connection).all(),
    add: (tx, row) => void tx.insert(table).values(row).run(),
    retireActive(tx, times) {
      moveRevision(tx, topic);
      tx.update(table)
        .set({ ...times, sealedPrivateKey: "" })
        .where(isNull(table.retiredAtMs))
        .run();
    },
    reseal: (tx, { kid, sealedPrivateKey }) =>
      void tx.update(table).set({ sealedPrivateKey }).where(eq(table.kid, kid)).run(),
    removeDead(tx, nowMs) {
      moveRevision(tx, topic);
      const isDead = and(isNotNull(table.retiredAtMs), lte(table.verifiesUntilMs, nowMs));
      const removed = tx.delete(table).where(isDead).returning({ kid: table.kid }).all();
      return removed.map(({ kid }) => kid);
    },
  };
}
