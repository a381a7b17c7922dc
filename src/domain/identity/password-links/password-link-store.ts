// SQL of password links. A user has at most one; using or voiding it removes the row.
import { and, count, eq, exists, gt, inArray, isNull, lte, or, type SQL, sql } from "drizzle-orm";
import { alias, type SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, named } from "../../../platform/database/drizzle.ts";
import type { AffectedUsers } from "../dependencies.ts";
import type { User } from "../model.ts";
import { findUserById } from "../store.ts";
import { passwordLinks, users } from "../tables.ts";

export type PasswordLinkRow = typeof passwordLinks.$inferSelect;

/** Adds a link, which replaces the user's earlier one. */
export function putLink(tx: Tx, row: PasswordLinkRow): void {
  tx.insert(passwordLinks).values(row).onConflictDoUpdate({ target: passwordLinks.userId, set: row }).run();
}

/**
 * A link works for an active user until it expires, as long as its creator is an administrator. Only the operator, who is not a
 * user, may create one for a protected administrator.
 */
const isUsable = (
  connection: Connection,
  { tokenHash, nowMs }: { tokenHash: string; nowMs: number },
): SQL | undefined => {
  const creators = alias(users, "creators");
  const isCreator = and(
    eq(creators.id, passwordLinks.creatorId),
    eq(creators.role, "admin"),
    eq(creators.status, "active"),
    eq(users.protected, false),
  );
  const creator = connection.select({ id: creators.id }).from(creators).where(isCreator);
  return and(
    eq(passwordLinks.tokenHash, tokenHash),
    gt(passwordLinks.expiresAtMs, nowMs),
    eq(users.status, "active"),
    or(isNull(passwordLinks.creatorId), exists(creator)),
  );
};

/** @returns the user of a link that currently works */
export function findUserOfLink(
  connection: Connection,
  link: { tokenHash: string; nowMs: number },
): User | undefined {
  const row = connection
    .select({ id: users.id })
    .from(passwordLinks)
    .innerJoin(users, eq(users.id, passwordLinks.userId))
    .where(isUsable(connection, link))
    .limit(1)
    .get();
  return row && findUserById(connection, row.id);
}

/** Binds one value for any number of ids, because a group may have more users than a statement may have parameters. */
const deleteWhere = (column: SQLiteColumn) =>
  statement((connection) =>
    connection
      .delete(passwordLinks)
      .where(inArray(column, sql`(SELECT value FROM json_each(${named("ids")}))`))
      .prepare(),
  );
const deleteOf = deleteWhere(passwordLinks.userId);
const deleteFrom = deleteWhere(passwordLinks.creatorId);

/** Removes the links of one user or several. */
export const removeLinks = (tx: Tx, whose: AffectedUsers): void =>
  void deleteOf(tx).run({ ids: JSON.stringify("userId" in whose ? [whose.userId] : whose.userIds) });

/** Removes all links; there are few, because each is valid for a day. */
export const removeAllLinks = (tx: Tx): void => void tx.delete(passwordLinks).run();

/** @returns the number of links that have not expired, of one user or of all users */
export const countLinks = (
  connection: Connection,
  { userId, nowMs }: { userId?: string | undefined; nowMs: number },
): number =>
  connection
    .select({ total: count() })
    .from(passwordLinks)
    .where(
      and(
        gt(passwordLinks.expiresAtMs, nowMs),
        userId === undefined ? undefined : eq(passwordLinks.userId, userId),
      ),
    )
    .get()?.total ?? 0;

/** Removes the links that these users created. */
export const removeLinksFrom = (tx: Tx, creatorIds: readonly string[]): void =>
  void deleteFrom(tx).run({ ids: JSON.stringify(creatorIds) });

/** @returns how many expired links were removed, at most `limit` */
export function removeExpiredLinks(tx: Tx, { nowMs, limit }: { nowMs: number; limit: number }): number {
  const expired = tx
    .select({ userId: passwordLinks.userId })
    .from(passwordLinks)
    .where(lte(passwordLinks.expiresAtMs, nowMs))
    .limit(limit);
  return changesOf(tx.delete(passwordLinks).where(inArray(passwordLinks.userId, expired)).run());
}
