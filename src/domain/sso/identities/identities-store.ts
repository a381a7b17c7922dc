// SQL of identities at providers: which user each (issuer, subject) identifies.
import { and, asc, count, eq, gt, max, or, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, equalAll, updateAll } from "../../../platform/database/drizzle.ts";
import { userIdentities } from "../tables.ts";

export type IdentityRow = typeof userIdentities.$inferSelect;

const selectBySubject = statement((connection) =>
  connection
    .select()
    .from(userIdentities)
    .where(equalAll(userIdentities, "issuer", "subject"))
    .limit(1)
    .prepare(),
);

/** @returns the identity of a person; compared exactly */
export const findBySubject = (
  connection: Connection,
  person: { issuer: string; subject: string },
): IdentityRow | undefined => selectBySubject(connection).get(person);

/** @returns the identity of a user at a provider */
export const findOfUser = (
  connection: Connection,
  { userId, issuer }: { userId: string; issuer: string },
): IdentityRow | undefined =>
  connection
    .select()
    .from(userIdentities)
    .where(and(eq(userIdentities.userId, userId), eq(userIdentities.issuer, issuer)))
    .limit(1)
    .get();

export const insert = (tx: Tx, row: IdentityRow): void => void tx.insert(userIdentities).values(row).run();

const updateLastSignIn = statement((connection) =>
  connection
    .update(userIdentities)
    .set(updateAll({ lastSignInAtMs: userIdentities.lastSignInAtMs }))
    .where(equalAll(userIdentities, "userId", "issuer"))
    .prepare(),
);

export const noteSignIn = (tx: Tx, { userId, issuer }: IdentityRow, lastSignInAtMs: number): void =>
  void updateLastSignIn(tx).run({ userId, issuer, lastSignInAtMs });

/** @returns whether there was one */
export const remove = (tx: Tx, { userId, issuer }: { userId: string; issuer: string }): boolean =>
  changesOf(
    tx
      .delete(userIdentities)
      .where(and(eq(userIdentities.userId, userId), eq(userIdentities.issuer, issuer)))
      .run(),
  ) > 0;

/** @returns the removed identities */
export const removeOf = (tx: Tx, userId: string): IdentityRow[] =>
  tx.delete(userIdentities).where(eq(userIdentities.userId, userId)).returning().all();

const selectLastSignIn = statement((connection) =>
  connection
    .select({ atMs: max(userIdentities.lastSignInAtMs) })
    .from(userIdentities)
    .where(equalAll(userIdentities, "userId"))
    .prepare(),
);

/** @returns when the user last signed in at any provider; null if never */
export const lastSignInOf = (connection: Connection, userId: string): number | null =>
  selectLastSignIn(connection).get({ userId })?.atMs ?? null;

export interface IdentityFilter {
  userId?: string | undefined;
  issuer?: string | undefined;
}

const matching = ({ userId, issuer }: IdentityFilter) =>
  and(
    userId === undefined ? undefined : eq(userIdentities.userId, userId),
    issuer === undefined ? undefined : eq(userIdentities.issuer, issuer),
  );

/** @returns at most `limit` identities after the given one, ordered by user and issuer */
export const list = (
  connection: Connection,
  {
    after,
    limit,
    ...filter
  }: IdentityFilter & { after?: { userId: string; issuer: string } | undefined; limit: number },
): IdentityRow[] =>
  connection
    .select()
    .from(userIdentities)
    .where(
      and(
        matching(filter),
        after &&
          or(
            gt(userIdentities.userId, after.userId),
            and(eq(userIdentities.userId, after.userId), gt(userIdentities.issuer, after.issuer)),
          ),
      ),
    )
    .orderBy(asc(userIdentities.userId), asc(userIdentities.issuer))
    .limit(limit)
    .all();

/** @returns the number of identities that the filter selects */
export const total = (connection: Connection, filter: IdentityFilter): number =>
  connection.select({ total: count() }).from(userIdentities).where(matching(filter)).get()?.total ?? 0;

/** @returns the number of users whose last sign-in at a provider was between two times, the second exclusive */
export const countLastSignIns = (
  connection: Connection,
  { fromMs, beforeMs }: { fromMs: number; beforeMs: number },
): number => {
  const last = connection
    .select({ atMs: max(userIdentities.lastSignInAtMs).as("at_ms") })
    .from(userIdentities)
    .groupBy(userIdentities.userId)
    .as("last");
  return (
    connection
      .select({ total: count() })
      .from(last)
      .where(sql`${last.atMs} >= ${fromMs} AND ${last.atMs} < ${beforeMs}`)
      .get()?.total ?? 0
  );
};
