// SQL of users who are expected at a provider that replaces another.
import { and, eq, gt, lte } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, equalAll, named } from "../../../platform/database/drizzle.ts";
import { expectedIdentities } from "../tables.ts";

export type ExpectedRow = typeof expectedIdentities.$inferSelect;

export const expect = (tx: Tx, row: ExpectedRow): void =>
  void tx
    .insert(expectedIdentities)
    .values(row)
    .onConflictDoUpdate({ target: [expectedIdentities.userId, expectedIdentities.issuer], set: row })
    .run();

const selectOne = statement((connection) =>
  connection
    .select({ userId: expectedIdentities.userId })
    .from(expectedIdentities)
    .where(
      and(
        equalAll(expectedIdentities, "userId", "issuer"),
        gt(expectedIdentities.expiresAtMs, named("nowMs")),
      ),
    )
    .limit(1)
    .prepare(),
);

/** @returns whether an operator expects the user at this provider, and the time has not passed */
export const isExpected = (
  connection: Connection,
  query: { userId: string; issuer: string; nowMs: number },
): boolean => selectOne(connection).get(query) !== undefined;

export const removeOf = (tx: Tx, { userId, issuer }: { userId: string; issuer: string }): void =>
  void tx
    .delete(expectedIdentities)
    .where(and(eq(expectedIdentities.userId, userId), eq(expectedIdentities.issuer, issuer)))
    .run();

/** Removes the expectations about a user at every provider. @returns how many rows were removed */
export const removeExpectations = (tx: Tx, userId: string): number =>
  changesOf(tx.delete(expectedIdentities).where(eq(expectedIdentities.userId, userId)).run());

/** @returns how many expired expectations were removed */
export const removeExpired = (tx: Tx, nowMs: number): number =>
  changesOf(tx.delete(expectedIdentities).where(lte(expectedIdentities.expiresAtMs, nowMs)).run());
