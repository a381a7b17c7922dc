// SQL of the attempt counters. budgets.ts defines what a counter means and when it is full.
import { and, eq, getTableColumns, gt, inArray, lt, lte, or, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { changesOf, equalAll, insertAll, named, overwriteAll } from "../../../platform/database/drizzle.ts";
import { SWEEP_BATCH_ROWS } from "../model.ts";
import { budgets } from "../tables.ts";

export type BudgetRow = typeof budgets.$inferSelect;

const { name, subject, ...counted } = getTableColumns(budgets);
const byKey = equalAll(budgets, "name", "subject");

const selectOne = statement((connection) =>
  connection.select().from(budgets).where(byKey).limit(1).prepare(),
);

const upsert = statement((connection) =>
  connection
    .insert(budgets)
    .values(insertAll(budgets))
    .onConflictDoUpdate({ target: [name, subject], set: overwriteAll(counted) })
    .prepare(),
);

const incrementOpen = statement((connection) =>
  connection
    .update(budgets)
    .set({ used: sql`${budgets.used} + 1` })
    .where(
      and(
        byKey,
        lt(budgets.used, named("limit")),
        gt(budgets.resetsAtMs, named("nowMs")),
        lte(budgets.resetsAtMs, named("latestMs")),
      ),
    )
    .prepare(),
);

const deleteOne = statement((connection) => connection.delete(budgets).where(byKey).prepare());

/** @returns the counter, even if its window has ended */
export const find = (connection: Connection, key: Pick<BudgetRow, "name" | "subject">) =>
  selectOne(connection).get({ ...key });

export const put = (tx: Tx, row: BudgetRow): void => void upsert(tx).run({ ...row });

/** Selects a counter below its limit in an open window, one that ends after `nowMs` and no later than `latestMs`. */
export interface OpenCounter extends Pick<BudgetRow, "name" | "subject"> {
  limit: number;
  nowMs: number;
  latestMs: number;
}

/** Counts one attempt. @returns whether such a counter exists */
export const increment = (tx: Tx, counter: OpenCounter): boolean =>
  changesOf(incrementOpen(tx).run({ ...counter })) > 0;

/** Removes one counter, if it exists. */
export const remove = (tx: Tx, key: Pick<BudgetRow, "name" | "subject">): void =>
  void deleteOne(tx).run({ ...key });

/** Removes the counter of a subject and those of its parts, `<subject>.<part>`. @returns the removed counters */
export function removeParts(tx: Tx, { name, subject }: Pick<BudgetRow, "name" | "subject">): BudgetRow[] {
  // "/" follows "." in ASCII, so the range contains every text that begins with the subject and a dot.
  const isPart = and(gt(budgets.subject, `${subject}.`), lt(budgets.subject, `${subject}/`));
  return tx
    .delete(budgets)
    .where(and(eq(budgets.name, name), or(eq(budgets.subject, subject), isPart)))
    .returning()
    .all();
}

/** Removes a batch of expired counters. @returns how many */
export function removeExpired(tx: Tx, nowMs: number): number {
  const expired = tx
    .select({ name: budgets.name, subject: budgets.subject })
    .from(budgets)
    .where(lte(budgets.resetsAtMs, nowMs))
    .limit(SWEEP_BATCH_ROWS);
  const key = sql`(${budgets.name}, ${budgets.subject})`;
  return tx.delete(budgets).where(inArray(key, expired)).returning({ name: budgets.name }).all().length;
}
