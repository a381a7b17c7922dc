// SQL of a table with one sealed secret in each row, for the replacement of the sealing key (sealed-secrets.ts).
import { and, asc, count, eq, gt, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { SealedRow, SealedRowsStore } from "./sealed-secrets.ts";

interface SealedTable {
  table: SQLiteTable;
  /** unique; part of the sealing context */
  id: SQLiteColumn;
  sealed: SQLiteColumn;
}

/** @returns the statements for the secrets in this column */
export function sealedRowsStore({ table, id, sealed }: SealedTable): SealedRowsStore<SealedRow> {
  // A sealed text starts with the id of its key and a dot.
  const sealingKeyId = sql<string>`substr(${sealed}, 1, instr(${sealed}, '.') - 1)`;
  const row = { id: sql<string>`${id}`, sealed: sql<string>`${sealed}` };
  return {
    countUnder(connection) {
      const counted = connection
        .select({ key: sealingKeyId, total: count() })
        .from(table)
        .groupBy(sealingKeyId);
      return new Map(counted.all().map(({ key, total }) => [key, total]));
    },
    listUnder: (connection, { from, after = "", limit }) =>
      connection
        .select(row)
        .from(table)
        .where(and(eq(sealingKeyId, from), gt(id, after)))
        .orderBy(asc(id))
        .limit(limit)
        .all(),
    rewrap(tx, { id: ofRow }, sealedAgain) {
      tx.run(sql`UPDATE ${table} SET ${sql.identifier(sealed.name)} = ${sealedAgain} WHERE ${eq(id, ofRow)}`);
    },
  };
}
