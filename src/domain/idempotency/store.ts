// SQL of stored answers.
import { and, asc, count, eq, gt, inArray, lte, min, sql } from "drizzle-orm";
import type { Connection, Tx } from "../../platform/database/database.ts";
import { changesOf } from "../../platform/database/drizzle.ts";
import { idempotentAnswers as answers } from "./tables.ts";

export type AnswerRow = typeof answers.$inferSelect;

/** @returns the answer with an id, unless it has expired */
export const findOpen = (tx: Tx, { id, nowMs }: { id: string; nowMs: number }): AnswerRow | undefined =>
  tx
    .select()
    .from(answers)
    .where(and(eq(answers.id, id), gt(answers.expiresAtMs, nowMs)))
    .limit(1)
    .get();

/** Replaces an expired answer with the same id. */
export function put(tx: Tx, row: AnswerRow): void {
  tx.insert(answers).values(row).onConflictDoUpdate({ target: answers.id, set: row }).run();
}

/** @returns how many answers are stored for a caller, and when the first of them expires */
export function openOf(
  tx: Tx,
  { callerId, nowMs }: { callerId: string; nowMs: number },
): { total: number; firstExpiresAtMs: number } {
  const row = tx
    .select({ total: count(), first: min(answers.expiresAtMs) })
    .from(answers)
    .where(and(eq(answers.callerId, callerId), gt(answers.expiresAtMs, nowMs)))
    .get();
  return { total: row?.total ?? 0, firstExpiresAtMs: row?.first ?? nowMs };
}

/** @returns how many expired answers were removed, at most `limit` */
export function removeExpired(tx: Tx, { nowMs, limit }: { nowMs: number; limit: number }): number {
  const expired = tx
    .select({ id: answers.id })
    .from(answers)
    .where(lte(answers.expiresAtMs, nowMs))
    .limit(limit);
  return tx.delete(answers).where(inArray(answers.id, expired)).returning({ id: answers.id }).all().length;
}

/** A sealed text starts with the id of its key and a dot. */
const sealingKeyId = sql<string>`substr(${answers.sealedAnswer}, 1, instr(${answers.sealedAnswer}, '.') - 1)`;

/** @returns how many answers there are under each sealing key */
export const countUnder = (connection: Connection): Map<string, number> =>
  new Map(
    connection
      .select({ id: sealingKeyId, total: count() })
      .from(answers)
      .groupBy(sealingKeyId)
      .all()
      .map(({ id, total }) => [id, total]),
  );

/** @returns answers under one sealing key, by id */
export const listUnder = (
  connection: Connection,
  { from, after = "", limit }: { from: string; after: string | undefined; limit: number },
): Pick<AnswerRow, "id" | "sealedAnswer">[] =>
  connection
    .select({ id: answers.id, sealedAnswer: answers.sealedAnswer })
    .from(answers)
    .where(and(eq(sealingKeyId, from), gt(answers.id, after)))
    .orderBy(asc(answers.id))
    .limit(limit)
    .all();

/** Replaces only the wrapping of an answer. */
export function reseal(tx: Tx, { id, sealedAnswer }: Pick<AnswerRow, "id" | "sealedAnswer">): void {
  tx.update(answers).set({ sealedAnswer }).where(eq(answers.id, id)).run();
}

/** @returns how many answers of a caller were removed */
export const removeOfCaller = (tx: Tx, callerId: string): number =>
  changesOf(tx.delete(answers).where(eq(answers.callerId, callerId)).run());
