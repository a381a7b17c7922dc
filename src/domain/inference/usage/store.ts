// SQL for the daily sums of usage.
import { and, eq, getTableColumns, gte, ne, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, insertAll } from "../../../platform/database/drizzle.ts";
import type { Group, Sums, UsageDelta } from "./model.ts";
import { inferenceUsage, inferenceUsageBatch } from "./tables.ts";

const { organizationId, day, userId, model, harness, ...summed } = getTableColumns(inferenceUsage);
const KEY = [organizationId, day, userId, model, harness];

/** Adds each sum to the conflicting row. */
const added = Object.fromEntries(
  Object.entries(summed).map(([member, column]) => [
    member,
    sql`${column} + ${sql.raw(`excluded.${column.name}`)}`,
  ]),
);

const add = statement((connection) =>
  connection
    .insert(inferenceUsage)
    .values(insertAll(inferenceUsage))
    .onConflictDoUpdate({ target: KEY, set: added })
    .prepare(),
);

/** Adds to the sums of a day, user, model and agent. */
export const addUsage = (tx: Tx, delta: UsageDelta): void => void add(tx).run({ ...delta });

/** Stores the id of the last batch. @returns whether the id is new */
export function noteBatch(tx: Tx, batch: string): boolean {
  const noted = tx
    .insert(inferenceUsageBatch)
    .values({ onlyRow: 1, batch })
    .onConflictDoUpdate({
      target: inferenceUsageBatch.onlyRow,
      set: { batch },
      setWhere: ne(inferenceUsageBatch.batch, batch),
    });
  return changesOf(noted.run()) > 0;
}

const total = (column: SQLiteColumn): SQL<number> => sql<number>`coalesce(sum(${column}), 0)`;
const totals = {
  requests: total(summed.requests),
  refused: total(summed.refused),
  inputTokens: total(summed.inputTokens),
  outputTokens: total(summed.outputTokens),
  cacheReadTokens: total(summed.cacheReadTokens),
  cacheWriteTokens: total(summed.cacheWriteTokens),
  cost: total(summed.cost),
};

/** @returns the sums of each user on a day */
export const sumsOfDay = (connection: Connection, ofDay: number): (Sums & { userId: string })[] =>
  connection
    .select({ userId, ...totals })
    .from(inferenceUsage)
    .where(eq(day, ofDay))
    .groupBy(userId)
    .all();

const COLUMN_OF: Readonly<Record<Exclude<Group, "day">, SQLiteColumn>> = { user: userId, model, harness };

/** @returns the sums of one day by group; only those of one user, if given */
export function usageOfDay(
  connection: Connection,
  organization: string,
  { ofDay, group, ofUser }: { ofDay: number; group: Group; ofUser: string | undefined },
): (Sums & { key: string })[] {
  const key = group === "day" ? sql<string>`''` : sql<string>`${COLUMN_OF[group]}`;
  const ofOne = ofUser === undefined ? undefined : eq(userId, ofUser);
  return connection
    .select({ key, ...totals })
    .from(inferenceUsage)
    .where(and(eq(organizationId, organization), eq(day, ofDay), ofOne))
    .groupBy(key)
    .all();
}

/** Deletes some sums of earlier days. @returns how many */
export function removeBefore(tx: Tx, beforeDay: number, limit: number): number {
  const some = sql`(${organizationId}, ${day}, ${userId}, ${model}, ${harness}) IN (
    SELECT organization_id, day, user_id, model, harness FROM inference_usage
    WHERE day < ${beforeDay} ORDER BY day LIMIT ${limit})`;
  return changesOf(tx.delete(inferenceUsage).where(some).run());
}

/** Removes the user from the user's sums without changing the totals. @returns the number of sums */
export function forgetUser(tx: Tx, id: string): number {
  const own = tx.select().from(inferenceUsage).where(eq(userId, id)).all();
  for (const row of own) addUsage(tx, { ...row, userId: "" });
  tx.delete(inferenceUsage).where(eq(userId, id)).run();
  return own.length;
}

/** A condition for users with requests from that day on, for statements of other areas. */
export const hasUsageSince =
  (fromDay: number) =>
  (column: SQLiteColumn): SQL =>
    sql`EXISTS (SELECT 1 FROM ${inferenceUsage} WHERE ${userId} = ${column} AND ${gte(day, fromDay)})`;
