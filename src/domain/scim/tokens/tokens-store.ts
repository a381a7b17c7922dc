// SQL of SCIM tokens. tokens.ts and token-model.ts define their format and validity.
import { and, count, desc, eq, gt, isNull, ne, or, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { scimTokens, type TokenRow } from "../tables.ts";
import { CONFIGURED, TOKENS_LISTED_MAX } from "./token-model.ts";

const selectByHash = statement((connection) =>
  connection
    .select()
    .from(scimTokens)
    .where(and(eq(scimTokens.tokenHash, sql.placeholder("tokenHash")), isNull(scimTokens.revokedAtMs)))
    .limit(1)
    .prepare(),
);

/** @returns the token with a digest, unless it was revoked; it may have expired */
export const findOpen = (connection: Connection, tokenHash: string): TokenRow | undefined =>
  selectByHash(connection).get({ tokenHash });

/** @returns the row with the last use of the configured token, which has no digest, so that no presented token finds it */
export const findConfigured = (connection: Connection): TokenRow | undefined =>
  findOpen(connection, CONFIGURED);

/** @returns the token with an id or a label: the one that is not revoked, or else the newest */
export const find = (
  connection: Connection,
  organizationId: string,
  reference: string,
): TokenRow | undefined =>
  connection
    .select()
    .from(scimTokens)
    .where(
      and(
        eq(scimTokens.organizationId, organizationId),
        or(eq(scimTokens.id, reference.toLowerCase()), eq(scimTokens.label, reference)),
      ),
    )
    .orderBy(desc(isNull(scimTokens.revokedAtMs)), desc(scimTokens.id))
    .limit(1)
    .get();

/** @returns created tokens, newest first, at most TOKENS_LISTED_MAX */
export const list = (connection: Connection, organizationId: string): TokenRow[] =>
  connection
    .select()
    .from(scimTokens)
    .where(and(eq(scimTokens.organizationId, organizationId), ne(scimTokens.id, CONFIGURED)))
    .orderBy(desc(scimTokens.id))
    .limit(TOKENS_LISTED_MAX)
    .all();

/** @returns whether any created token is valid at that time */
export function hasLive(connection: Connection, nowMs: number): boolean {
  const isLive = and(
    ne(scimTokens.id, CONFIGURED),
    isNull(scimTokens.revokedAtMs),
    or(isNull(scimTokens.expiresAtMs), gt(scimTokens.expiresAtMs, nowMs)),
  );
  return (connection.select({ total: count() }).from(scimTokens).where(isLive).get()?.total ?? 0) > 0;
}

/** @returns whether a token was ever created or configured, even if it was revoked or removed since */
export const hasAny = (connection: Connection): boolean =>
  connection.select({ id: scimTokens.id }).from(scimTokens).limit(1).get() !== undefined;

export const add = (tx: Tx, row: typeof scimTokens.$inferInsert): TokenRow =>
  tx.insert(scimTokens).values(row).returning().get();

/** Creates the row of the configured token, unless it exists. */
export function addConfigured(tx: Tx, organizationId: string, nowMs: number): void {
  tx.insert(scimTokens)
    .values({
      id: CONFIGURED,
      organizationId,
      label: CONFIGURED,
      tokenHash: CONFIGURED,
      prefix: "",
      profile: "standard",
      createdBy: "configuration",
      createdAtMs: nowMs,
    })
    .onConflictDoNothing()
    .run();
}

export function noteUse(tx: Tx, id: string, lastUsedAtMs: number): void {
  tx.update(scimTokens).set({ lastUsedAtMs }).where(eq(scimTokens.id, id)).run();
}

export const revoke = (tx: Tx, id: string, revokedAtMs: number): TokenRow =>
  tx.update(scimTokens).set({ revokedAtMs }).where(eq(scimTokens.id, id)).returning().get();
