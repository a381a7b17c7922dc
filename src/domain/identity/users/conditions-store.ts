// SQL about users for statements of other areas.
import { eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { contains } from "../search-store.ts";
import { users } from "../tables.ts";

/** A condition on a column with ids of users. */
export type UserCondition = (userId: SQLiteColumn) => SQL;

/**
 * @param text folded
 * @returns a condition for users whose address contains it, in any status
 */
export const hasAddressLike =
  (text: string): UserCondition =>
  (userId) =>
    sql`EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = ${userId} AND ${contains(users.emailKey, text)})`;

/** The order of rows by the address of their user. */
export const addressOrder = {
  key: users.emailKey,
  /** @param userId column that holds a user's id */
  joinedTo: (userId: SQLiteColumn) => ({ table: users, on: eq(users.id, userId) }),
  /** leads SQLite to the index by address */
  isIn: (organizationId: string): SQL => eq(users.organizationId, organizationId),
};
