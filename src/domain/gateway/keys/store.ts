// SQL for gateway keys and for the queue of revocations. model.ts defines the allowed state transitions.
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  isNotNull,
  lte,
  or,
  type SQL,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, insertAll, overwriteAll } from "../../../platform/database/drizzle.ts";
import { timedRows } from "../../../platform/database/maintenance/timed-rows.ts";
import type { DueTimes, KeyRow } from "../model.ts";
import { gatewayKeys, gatewayRevocations } from "../tables.ts";

export type Revocation = typeof gatewayRevocations.$inferSelect;

/** Upper bound on the number of problem codes to count; fewer exist. */
const PROBLEM_CODES_MAX = 50;

export const timedKeys = timedRows(gatewayKeys, gatewayKeys.updatedAtMs);

const isDue = (column: SQLiteColumn, { untilMs, fromMs }: DueTimes) =>
  or(lte(column, untilMs), gt(column, fromMs));

const keyOfUser = statement((connection) =>
  connection.select().from(gatewayKeys).where(equalAll(gatewayKeys, "userId")).limit(1).prepare(),
);

export const findKey = (connection: Connection, userId: string): KeyRow | undefined =>
  keyOfUser(connection).get({ userId });

const {
  userId: _user,
  organizationId: _organization,
  createdAtMs: _created,
  ...changeable
} = getTableColumns(gatewayKeys);

const upsert = statement((connection) =>
  connection
    .insert(gatewayKeys)
    .values(insertAll(gatewayKeys))
    .onConflictDoUpdate({ target: gatewayKeys.userId, set: overwriteAll(changeable) })
    .prepare(),
);

/** Inserts the row, or replaces the stored row of the same user. */
export const putKey = (tx: Tx, row: KeyRow): void => void upsert(tx).run(row);

/** @returns the deleted row; undefined for none */
export const deleteKey = (tx: Tx, userId: string): KeyRow | undefined =>
  tx.delete(gatewayKeys).where(eq(gatewayKeys.userId, userId)).returning().get();

/** @returns ids of users whose key is due, longest overdue first */
export const dueUsers = (connection: Connection, due: DueTimes, limit: number): string[] =>
  connection
    .select({ userId: gatewayKeys.userId })
    .from(gatewayKeys)
    .where(and(isNotNull(gatewayKeys.nextAttemptAtMs), isDue(gatewayKeys.nextAttemptAtMs, due)))
    .orderBy(asc(gatewayKeys.nextAttemptAtMs))
    .limit(limit)
    .all()
    .map(({ userId }) => userId);

/** Marks keys created under another configuration as due and resets their failures. @returns the number of keys */
export const makeOutdatedDue = (tx: Tx, { digest, nowMs }: { digest: string; nowMs: number }): number =>
  tx
    .update(gatewayKeys)
    .set({ nextAttemptAtMs: nowMs, failures: 0 })
    .where(sql`${gatewayKeys.configurationDigest} IS NOT ${digest}`)
    .returning({ userId: gatewayKeys.userId })
    .all().length;

/** Ends the leases that an earlier service process left behind and marks their keys as due. @returns the number of keys */
export const endServiceAttempts = (tx: Tx, nowMs: number): number =>
  tx
    .update(gatewayKeys)
    .set({ recoveringUntilMs: null, nextAttemptAtMs: nowMs })
    .where(and(isNotNull(gatewayKeys.recoveringUntilMs), eq(gatewayKeys.recoveringBy, "service")))
    .returning({ userId: gatewayKeys.userId })
    .all().length;

export const countDue = (connection: Connection, due: DueTimes): number =>
  countWhere(
    connection,
    and(isNotNull(gatewayKeys.nextAttemptAtMs), isDue(gatewayKeys.nextAttemptAtMs, due)),
  );

/** @returns the number of keys with a problem, usable or not */
export const countWithProblem = (connection: Connection): number =>
  countWhere(connection, isNotNull(gatewayKeys.problem));

/** @returns the number of keys per problem, most frequent first */
export const countProblems = (connection: Connection): { code: string; total: number }[] =>
  connection
    .select({ code: sql<string>`coalesce(${gatewayKeys.problemCode}, 'other')`, total: count() })
    .from(gatewayKeys)
    .where(isNotNull(gatewayKeys.problem))
    .groupBy(gatewayKeys.problemCode)
    .orderBy(desc(count()))
    .limit(PROBLEM_CODES_MAX)
    .all();

const countWhere = (connection: Connection, condition: SQL | undefined): number =>
  connection.select({ total: count() }).from(gatewayKeys).where(condition).get()?.total ?? 0;

/** Marks the keys of these users as due, because data that the provisioner receives has changed. */
export function makeDue(tx: Tx, { userIds, nowMs }: { userIds: readonly string[]; nowMs: number }): void {
  const theirs = sql`${gatewayKeys.userId} IN (SELECT value FROM json_each(${JSON.stringify(userIds)}))`;
  tx.update(gatewayKeys)
    .set({ nextAttemptAtMs: nowMs })
    .where(and(theirs, eq(gatewayKeys.state, "ready")))
    .run();
}

/** @returns the number of keys per stored state. Groups follow the order of an index, which avoids sorting. */
export const countStates = (connection: Connection): { state: KeyRow["state"]; total: number }[] =>
  connection
    .select({ state: gatewayKeys.state, total: count() })
    .from(gatewayKeys)
    .groupBy(gatewayKeys.organizationId, gatewayKeys.state)
    .all();

/** Queues a revocation. An external id is queued only once. */
export function insertRevocation(tx: Tx, revocation: Revocation): void {
  tx.insert(gatewayRevocations).values(revocation).onConflictDoNothing().run();
}

/** Marks revocations of rotated keys in their overlap period as due. The condition on the time makes SQLite use the index. */
export function endOverlaps(tx: Tx, { userId, nowMs }: { userId: string; nowMs: number }): void {
  const isWaiting = and(eq(gatewayRevocations.reason, "superseded"), eq(gatewayRevocations.attempts, 0));
  tx.update(gatewayRevocations)
    .set({ nextAttemptAtMs: nowMs })
    .where(
      and(gt(gatewayRevocations.nextAttemptAtMs, nowMs), eq(gatewayRevocations.userId, userId), isWaiting),
    )
    .run();
}

export const dueRevocations = (connection: Connection, due: DueTimes, limit: number): Revocation[] =>
  connection
    .select()
    .from(gatewayRevocations)
    .where(isDue(gatewayRevocations.nextAttemptAtMs, due))
    .orderBy(asc(gatewayRevocations.nextAttemptAtMs))
    .limit(limit)
    .all();

/** @returns false if another process was faster */
export const finishRevocation = (tx: Tx, id: string): boolean =>
  tx
    .delete(gatewayRevocations)
    .where(eq(gatewayRevocations.id, id))
    .returning({ id: gatewayRevocations.id })
    .all().length === 1;

export function postponeRevocation(
  tx: Tx,
  { id, ...changes }: { id: string; attempts: number; nextAttemptAtMs: number; problem: string },
): void {
  tx.update(gatewayRevocations).set(changes).where(eq(gatewayRevocations.id, id)).run();
}

/** Cancels the revocation of a key that is stored again. */
const forget = statement((connection) =>
  connection.delete(gatewayRevocations).where(equalAll(gatewayRevocations, "externalId")).prepare(),
);

export function forgetRevocation(tx: Tx, externalId: string): void {
  forget(tx).run({ externalId });
}

export const countRevocations = (connection: Connection): number =>
  connection.select({ total: count() }).from(gatewayRevocations).get()?.total ?? 0;
