// SQL of the attempt counters. What a counter means and when it is full is for budgets.ts.
import { and, eq, lte, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../platform/database.ts";
import { budgets } from "./tables.ts";

export type BudgetRow = typeof budgets.$inferSelect;

const byKey = and(eq(budgets.name, sql.placeholder("name")), eq(budgets.subject, sql.placeholder("subject")));

const selectOne = statement((connection) =>
  connection.select().from(budgets).where(byKey).limit(1).prepare(),
);

const upsert = statement((connection) => {
  const values = { used: sql.placeholder("used"), resetsAtMs: sql.placeholder("resetsAtMs") };
  return connection
    .insert(budgets)
    .values({ name: sql.placeholder("name"), subject: sql.placeholder("subject"), ...values })
    .onConflictDoUpdate({
      target: [budgets.name, budgets.subject],
      set: { used: sql`excluded.used`, resetsAtMs: sql`excluded.resets_at_ms` },
    })
    .prepare();
});

const deleteOne = statement((connection) => connection.delete(budgets).where(byKey).prepare());

export const find = (connection: Connection, key: Pick<BudgetRow, "name" | "subject">) =>
  selectOne(connection).get({ ...key });

export const put = (tx: Tx, row: BudgetRow): void => void upsert(tx).run({ ...row });

export const remove = (tx: Tx, key: Pick<BudgetRow, "name" | "subject">): void =>
  void deleteOne(tx).run({ ...key });

/** @returns how many counters were over */
export const removeExpired = (tx: Tx, nowMs: number): number =>
  tx.delete(budgets).where(lte(budgets.resetsAtMs, nowMs)).returning({ name: budgets.name }).all().length;
