// SQL of grants and their refresh tokens. Hot statements are compiled once: a refresh is four of them. When a token may
// be exchanged is decided by refreshVerdict in model.ts.
import { and, eq, inArray, isNull, lte, type SQL, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database.ts";
import { SWEEP_BATCH_ROWS } from "./model.ts";
import { grants, refreshTokens } from "./tables.ts";

export type GrantRow = typeof grants.$inferSelect;
export type NewGrant = Omit<GrantRow, "revokedAtMs" | "revokedReason">;
export type RefreshTokenRow = typeof refreshTokens.$inferSelect;
export type FamilyMember = RefreshTokenRow & { grant: GrantRow };

const named = (name: string): SQL => sql`${sql.placeholder(name)}`;

export const insert = (tx: Tx, grant: NewGrant): void => void tx.insert(grants).values(grant).run();

const selectToken = statement((connection) =>
  connection
    .select({ token: refreshTokens, grant: grants })
    .from(refreshTokens)
    .innerJoin(grants, eq(grants.id, refreshTokens.grantId))
    .where(eq(refreshTokens.tokenHash, sql.placeholder("tokenHash")))
    .limit(1)
    .prepare(),
);

/** @returns the refresh token of that hash with its grant */
export function findToken(connection: Connection, tokenHash: string): FamilyMember | undefined {
  const found = selectToken(connection).get({ tokenHash });
  return found && { ...found.token, grant: found.grant };
}

const insertToken = statement((connection) =>
  connection
    .insert(refreshTokens)
    .values({
      tokenHash: sql.placeholder("tokenHash"),
      grantId: sql.placeholder("grantId"),
      createdAtMs: sql.placeholder("createdAtMs"),
      expiresAtMs: sql.placeholder("expiresAtMs"),
    })
    .prepare(),
);

export const addToken = (
  tx: Tx,
  token: Pick<RefreshTokenRow, "tokenHash" | "grantId" | "createdAtMs" | "expiresAtMs">,
): void => void insertToken(tx).run(token);

const rotateToken = statement((connection) =>
  connection
    .update(refreshTokens)
    .set({ rotatedAtMs: named("rotatedAtMs"), successors: sql`${refreshTokens.successors} + 1` })
    .where(
      and(
        eq(refreshTokens.tokenHash, sql.placeholder("tokenHash")),
        eq(refreshTokens.successors, sql.placeholder("successors")),
      ),
    )
    .returning({ tokenHash: refreshTokens.tokenHash })
    .prepare(),
);

/** Counts one exchange of a token; `rotatedAtMs` is that of the first. @returns whether it was as it had been read */
export const rotate = (
  tx: Tx,
  change: Pick<RefreshTokenRow, "tokenHash" | "successors"> & { rotatedAtMs: number },
): boolean => rotateToken(tx).get(change) !== undefined;

const prolongGrant = statement((connection) =>
  connection
    .update(grants)
    .set({ refreshedAtMs: named("refreshedAtMs"), expiresAtMs: named("expiresAtMs") })
    .where(and(eq(grants.id, sql.placeholder("id")), isNull(grants.revokedAtMs)))
    .prepare(),
);

export const prolong = (tx: Tx, change: Pick<GrantRow, "id" | "refreshedAtMs" | "expiresAtMs">): void =>
  void prolongGrant(tx).run(change);

/** Removes at most SWEEP_BATCH_ROWS refresh tokens that expired by then. @returns how many */
export function removeExpiredTokens(tx: Tx, untilMs: number): number {
  const dead = tx
    .select({ tokenHash: refreshTokens.tokenHash })
    .from(refreshTokens)
    .where(lte(refreshTokens.expiresAtMs, untilMs))
    .limit(SWEEP_BATCH_ROWS);
  const removed = tx.delete(refreshTokens).where(inArray(refreshTokens.tokenHash, dead));
  return removed.returning({ tokenHash: refreshTokens.tokenHash }).all().length;
}

/** Removes at most SWEEP_BATCH_ROWS grants that expired by then, with what is left of their tokens. @returns how many */
export function removeExpired(tx: Tx, untilMs: number): number {
  const dead = tx
    .select({ id: grants.id })
    .from(grants)
    .where(lte(grants.expiresAtMs, untilMs))
    .limit(SWEEP_BATCH_ROWS);
  return tx.delete(grants).where(inArray(grants.id, dead)).returning({ id: grants.id }).all().length;
}
