// SQL about users for statements of other areas.
import { and, eq, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import { isAmong } from "../../shared/ordered-rows-store.ts";
import { contains, usersWith } from "../search-store.ts";
import { users } from "../tables.ts";

/** A condition on a column of user ids. */
export type UserCondition = (userId: SQLiteColumn) => SQL;

/**
 * @param text folded
 * @returns a condition for users whose address contains it, in any status
 */
export const hasAddressLike =
  (text: string): UserCondition =>
  (userId) =>
    sql`EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = ${userId} AND ${contains(users.emailKey, text)})`;

/**
 * @param userId column of user ids
 * @returns the organization of the user; null unless the user is active
 */
export const organizationOfActive = (userId: SQLiteColumn): SQL<string | null> =>
  sql`(SELECT ${users.organizationId} FROM ${users} WHERE ${users.id} = ${userId} AND ${users.status} = 'active')`;

/** Number of users that one step of a search reads; takes about a millisecond. */
const USERS_AT_ONCE = 4_000;

/**
 * @param text folded
 * @returns the ids of at most `limit` users whose address contains it, in any status
 */
export function* idsWithAddress(
  connection: Connection,
  organizationId: string,
  { text, limit }: { text: string; limit: number },
): Steps<string[]> {
  const few = yield* usersWith(connection, text);
  if (!few) return yield* idsInOrder(connection, organizationId, { text, limit });
  yield;
  return connection
    .select({ id: users.id })
    .from(users)
    .where(
      and(
        isAmong(users.id, few),
        sql`+${users.organizationId} = ${organizationId}`, // without it SQLite reads every user of the organization
        contains(users.emailKey, text),
      ),
    )
    .limit(limit)
    .all()
    .map(({ id }) => id);
}

/** Scans the index of all users, which has every column that this reads. */
function* idsInOrder(
  connection: Connection,
  organizationId: string,
  { text, limit }: { text: string; limit: number },
): Steps<string[]> {
  const { id, emailKey } = users;
  const after = sql.placeholder("after");
  const isBehind = and(eq(users.organizationId, organizationId), sql`${emailKey} > ${after}`);
  const ends = connection
    .select({ emailKey })
    .from(users)
    .where(isBehind)
    .orderBy(emailKey)
    .limit(1)
    .offset(USERS_AT_ONCE - 1)
    .prepare();
  const matching = connection
    .select({ id })
    .from(users)
    .where(and(isBehind, sql`${emailKey} <= ${sql.placeholder("upTo")}`, contains(emailKey, text)))
    .limit(limit)
    .prepare();
  const found: string[] = [];
  for (let from = ""; found.length < limit; ) {
    const end = ends.get({ after: from });
    found.push(...matching.all({ after: from, upTo: end?.emailKey ?? LAST }).map((row) => row.id));
    if (!end) break;
    from = end.emailKey;
    yield;
  }
  return found.slice(0, limit);
}

/** Sorts after every address. */
const LAST = "\u{10ffff}";

/** The order of rows by the address of their user. */
export const addressOrder = {
  key: users.emailKey,
  /** @param userId column of user ids */
  joinedTo: (userId: SQLiteColumn) => ({ table: users, on: eq(users.id, userId) }),
  /** makes SQLite use the index by address */
  isIn: (organizationId: string): SQL => eq(users.organizationId, organizationId),
};
