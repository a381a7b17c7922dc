// SQL of grants and their refresh tokens. Hot statements are prepared once; a refresh runs three or four. refreshVerdict in
// refresh-token.ts decides whether a token may be exchanged.
import { and, desc, eq, getTableColumns, inArray, isNull, lt, lte, notInArray, or, sql } from "drizzle-orm";
import { markTopicChanged } from "../../../platform/database/changed-topics.ts";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, named } from "../../../platform/database/drizzle.ts";
import { timedRows } from "../../../platform/database/maintenance/timed-rows.ts";
import { SWEEP_BATCH_ROWS } from "../model.ts";
import { grants, refreshTokens } from "../tables.ts";
import { FAMILY_TOKENS_MAX, graceStartMs } from "./refresh-token.ts";

export type GrantRow = typeof grants.$inferSelect;
export type NewGrant = Omit<GrantRow, "revokedAtMs" | "revokedReason" | "rotations">;
export type RefreshTokenRow = typeof refreshTokens.$inferSelect;
/** A grant and one of its refresh tokens; `token` is missing if its row was removed. */
export interface Family {
  grant: GrantRow;
  token: Pick<RefreshTokenRow, "expiresAtMs" | "rotatedAtMs"> | null;
}

/** A refresh counts as a change. */
export const timedGrants = timedRows(grants, grants.refreshedAtMs);

export const insert = (tx: Tx, grant: NewGrant): void => void tx.insert(grants).values(grant).run();

/** A flat row, because drizzle converts nested ones slowly. */
const selectFamily = statement((connection) => {
  const isPresented = and(eq(refreshTokens.grantId, grants.id), equalAll(refreshTokens, "tokenHash"));
  return connection
    .select({
      ...getTableColumns(grants),
      tokenExpiresAtMs: refreshTokens.expiresAtMs,
      rotatedAtMs: refreshTokens.rotatedAtMs,
    })
    .from(grants)
    .leftJoin(refreshTokens, isPresented)
    .where(equalAll(grants, "familyHash"))
    .limit(1)
    .prepare();
});

/** @returns the grant of a family, with the row of the given refresh token if it still exists */
export function findFamily(
  connection: Connection,
  { familyHash, tokenHash }: { familyHash: string; tokenHash: string },
): Family | undefined {
  const grant = selectFamily(connection).get({ familyHash, tokenHash });
  if (!grant) return undefined;
  const { tokenExpiresAtMs: expiresAtMs, rotatedAtMs } = grant;
  return { grant, token: expiresAtMs === null ? null : { expiresAtMs, rotatedAtMs } };
}

/** Adds the first token of a family. */
export const addToken = (tx: Tx, token: typeof refreshTokens.$inferInsert): void =>
  void tx.insert(refreshTokens).values(token).run();

const selectToken = statement((connection) =>
  connection
    .select()
    .from(refreshTokens)
    .where(equalAll(refreshTokens, "grantId", "tokenHash"))
    .limit(1)
    .prepare(),
);

export const findToken = (
  tx: Tx,
  token: { grantId: string; tokenHash: string },
): RefreshTokenRow | undefined => selectToken(tx).get(token);

/** The values that a rotation writes. */
export interface Rotation {
  grantId: string;
  usedHash: string;
  nextHash: string;
  nowMs: number;
  expiresAtMs: number;
}

// The used token's row exists, so its values only mark it as rotated.
const rotateToken = statement((connection) => {
  const ofGrant = {
    grantId: named("grantId"),
    createdAtMs: named("nowMs"),
    expiresAtMs: named("expiresAtMs"),
  };
  return connection
    .insert(refreshTokens)
    .values([
      { ...ofGrant, tokenHash: named("usedHash"), rotatedAtMs: named("nowMs") },
      { ...ofGrant, tokenHash: named("nextHash"), rotatedAtMs: null },
    ])
    .onConflictDoUpdate({
      target: [refreshTokens.grantId, refreshTokens.tokenHash],
      set: { rotatedAtMs: sql`coalesce(${refreshTokens.rotatedAtMs}, excluded.rotated_at_ms)` },
    })
    .prepare();
});

const deleteFormer = statement((connection) => {
  const isOfGrant = equalAll(refreshTokens, "grantId");
  const newest = connection
    .select({ tokenHash: refreshTokens.tokenHash })
    .from(refreshTokens)
    .where(isOfGrant)
    .orderBy(desc(eq(refreshTokens.tokenHash, named("nextHash"))), desc(refreshTokens.createdAtMs))
    .limit(FAMILY_TOKENS_MAX);
  const isFormer = or(
    lt(refreshTokens.rotatedAtMs, named("graceStartMs")),
    notInArray(refreshTokens.tokenHash, newest),
  );
  return connection.delete(refreshTokens).where(and(isOfGrant, isFormer)).prepare();
});

/** Adds the next token and marks the used one as rotated; an earlier rotation time is kept. */
export const rotate = (tx: Tx, change: Rotation): void => void rotateToken(tx).run({ ...change });

/** Removes former tokens, whose reuse is detected without rows. */
export const removeFormerTokens = (tx: Tx, { grantId, nextHash, nowMs }: Rotation): void =>
  void deleteFormer(tx).run({ grantId, nextHash, graceStartMs: graceStartMs(nowMs) });

const extendGrant = statement((connection) =>
  connection
    .update(grants)
    .set({
      refreshedAtMs: named("refreshedAtMs"),
      expiresAtMs: named("expiresAtMs"),
      rotations: sql`${grants.rotations} + 1`,
    })
    .where(and(equalAll(grants, "id"), isNull(grants.revokedAtMs)))
    .prepare(),
);

export const extend = (tx: Tx, change: Pick<GrantRow, "id" | "refreshedAtMs" | "expiresAtMs">): void =>
  void extendGrant(tx).run(change);

/** Removes at most SWEEP_BATCH_ROWS refresh tokens that were rotated before that time. @returns how many */
export function removeRotatedTokens(tx: Tx, beforeMs: number): number {
  const rotated = tx
    .select({ grantId: refreshTokens.grantId, tokenHash: refreshTokens.tokenHash })
    .from(refreshTokens)
    .where(lt(refreshTokens.rotatedAtMs, beforeMs))
    .limit(SWEEP_BATCH_ROWS);
  const key = sql`(${refreshTokens.grantId}, ${refreshTokens.tokenHash})`;
  const removed = tx.delete(refreshTokens).where(inArray(key, rotated));
  return removed.returning({ tokenHash: refreshTokens.tokenHash }).all().length;
}

/** Removes at most SWEEP_BATCH_ROWS grants that expired by then, with their tokens, FAMILY_TOKENS_MAX each. @returns how many */
export function removeExpired(tx: Tx, untilMs: number): number {
  markTopicChanged(tx, "access");
  const dead = tx
    .select({ id: grants.id })
    .from(grants)
    .where(lte(grants.expiresAtMs, untilMs))
    .limit(SWEEP_BATCH_ROWS);
  return tx.delete(grants).where(inArray(grants.id, dead)).returning({ id: grants.id }).all().length;
}
