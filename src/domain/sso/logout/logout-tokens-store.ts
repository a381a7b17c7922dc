// SQL of used logout tokens.
import { lte } from "drizzle-orm";
import type { Tx } from "../../../platform/database/database.ts";
import { changesOf } from "../../../platform/database/drizzle.ts";
import { logoutTokens } from "../tables.ts";

/** @returns whether the token was new */
export const use = (tx: Tx, row: typeof logoutTokens.$inferInsert): boolean =>
  changesOf(tx.insert(logoutTokens).values(row).onConflictDoNothing().run()) > 0;

/** Removes tokens that can no longer be used. @returns how many */
export const removeExpired = (tx: Tx, nowMs: number): number =>
  changesOf(tx.delete(logoutTokens).where(lte(logoutTokens.expiresAtMs, nowMs)).run());
