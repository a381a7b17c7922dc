// SQL of stored responses.
import { and, count, eq, gt, inArray, lte, min } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { sealedRowsStore } from "../shared/sealed-rows-store.ts";
import { idempotentResponses as answers } from "./tables.ts";

export type ResponseRow = typeof answers.$inferSelect;

/** @returns the response with that id, unless it has expired */
export const findOpen = (
  connection: Connection,
  { id, nowMs }: { id: string; nowMs: number },
): ResponseRow | undefined =>
  connection
    .select()
    .from(answers)
    .where(and(eq(answers.id, id), gt(answers.expiresAtMs, nowMs)))
    .limit(1)
    .get();

/** Replaces an expired response with the same id. */
export function put(tx: Tx, row: ResponseRow): void {
  tx.insert(answers).values(row).onConflictDoUpdate({ target: answers.id, set: row }).run();
}

/** @returns how many responses are stored for a caller, and when the first of them expires */
export function openOf(
  connection: Connection,
  { callerId, nowMs }: { callerId: string; nowMs: number },
): { total: number; firstExpiresAtMs: number } {
  const row = connection
    .select({ total: count(), first: min(answers.expiresAtMs) })
    .from(answers)
    .where(and(eq(answers.callerId, callerId), gt(answers.expiresAtMs, nowMs)))
    .get();
  return { total: row?.total ?? 0, firstExpiresAtMs: row?.first ?? nowMs };
}

/** @returns how many expired responses were removed, at most `limit` */
export function removeExpired(tx: Tx, { nowMs, limit }: { nowMs: number; limit: number }): number {
  const expired = tx
    .select({ id: answers.id })
    .from(answers)
    .where(lte(answers.expiresAtMs, nowMs))
    .limit(limit);
  return tx.delete(answers).where(inArray(answers.id, expired)).returning({ id: answers.id }).all().length;
}

export const sealedResponses = sealedRowsStore({
  table: answers,
  id: answers.id,
  sealed: answers.sealedResponse,
});

/** @returns how many responses of a caller were removed */
export const removeOfCaller = (tx: Tx, callerId: string): number =>
  changesOf(tx.delete(answers).where(eq(answers.callerId, callerId)).run());
