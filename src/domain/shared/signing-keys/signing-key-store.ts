// SQL of signing keys, for the table of any kind of token. signing-key-ring.ts decides which key signs and how long an old one
// verifies.
import { and, desc, eq, isNotNull, isNull, lte } from "drizzle-orm";
import { markTopicChanged } from "../../../platform/database/changed-topics.ts";
import { type Connection, statement, type Topic, type Tx } from "../../../platform/database/database.ts";
import type { SigningKeyRow, SigningKeyTable } from "./signing-key-tables.ts";

/** More keys than can verify at a time: rotations are at least a day apart, and tokens live for minutes or hours. */
const KEYS_MAX = 100;

export interface SigningKeyStore {
  /** @returns every key, newest first */
  list(connection: Connection): SigningKeyRow[];
  /** Inserts a new active key. Retire the active one first. */
  add(tx: Tx, row: SigningKeyRow): void;
  /** Retires the active keys and erases their private keys, which never sign again. */
  retireActive(tx: Tx, times: { retiredAtMs: number; verifiesUntilMs: number }): void;
  /** Stores a private key that was sealed again. */
  rewrap(tx: Tx, key: Pick<SigningKeyRow, "kid" | "sealedPrivateKey">): void;
  /** @returns the ids of the removed keys */
  removeDead(tx: Tx, nowMs: number): string[];
}

/** @param topic topic of the caches of the table's keys */
export function signingKeyStore(table: SigningKeyTable, topic: Topic): SigningKeyStore {
  const selectAll = statement((connection) =>
    connection.select().from(table).orderBy(desc(table.createdAtMs)).limit(KEYS_MAX).prepare(),
  );
  return {
    list: (connection) => selectAll(connection).all(),
    add: (tx, row) => void tx.insert(table).values(row).run(),
    retireActive(tx, times) {
      markTopicChanged(tx, topic);
      tx.update(table)
        .set({ ...times, sealedPrivateKey: "" })
        .where(isNull(table.retiredAtMs))
        .run();
    },
    rewrap: (tx, { kid, sealedPrivateKey }) =>
      void tx.update(table).set({ sealedPrivateKey }).where(eq(table.kid, kid)).run(),
    removeDead(tx, nowMs) {
      markTopicChanged(tx, topic);
      const isDead = and(isNotNull(table.retiredAtMs), lte(table.verifiesUntilMs, nowMs));
      const removed = tx.delete(table).where(isDead).returning({ kid: table.kid }).all();
      return removed.map(({ kid }) => kid);
    },
  };
}
