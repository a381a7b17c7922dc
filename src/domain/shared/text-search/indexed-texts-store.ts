// SQL of tables whose texts a job puts into an index: rows without a number wait for it.
import { asc, isNotNull, max, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Connection, Tx } from "../../../platform/database/database.ts";
import { TEXT_END, type TrigramIndex } from "./trigram-store.ts";

export interface IndexedTexts {
  index: TrigramIndex;
  table: SQLiteTable;
  id: SQLiteColumn;
  /** number of the row in the index; null while it waits */
  number: SQLiteColumn;
  text: SQLiteColumn | SQL;
  /** condition for waiting rows; the table has a partial index of them */
  isWaiting: SQL | undefined;
}

/** Without this order, SQLite uses another index and reads every row. */
const inOrderOfWaiting = ({ id }: IndexedTexts): SQL => asc(id);

/** @returns the ids of at most `limit` waiting rows */
export const waitingIds = (connection: Connection, texts: IndexedTexts, limit: number): string[] =>
  connection
    .select({ id: sql<string>`${texts.id}` })
    .from(texts.table)
    .where(texts.isWaiting)
    .orderBy(inOrderOfWaiting(texts))
    .limit(limit)
    .all()
    .map((row) => row.id);

/** Limits of one transaction, which takes a few milliseconds: texts and characters. */
const BATCH_ROWS = 100;
const BATCH_LENGTH = 30_000;

/** Adds texts of waiting rows to the index. @returns how many; 0 at the end */
export function indexTexts(tx: Tx, texts: IndexedTexts): number {
  const { index, table, id, number, text } = texts;
  const rows = tx
    .select({ id: sql<string>`${id}`, length: sql<number>`length(${text})` })
    .from(table)
    .where(texts.isWaiting)
    .orderBy(inOrderOfWaiting(texts))
    .limit(BATCH_ROWS)
    .all();
  let length = 0;
  const batch = rows.filter((row, at) => {
    length += row.length;
    return at === 0 || length <= BATCH_LENGTH;
  });
  if (batch.length === 0) return 0;
  const ids = JSON.stringify(batch.map((row) => row.id));
  const highest = tx
    .select({ number: sql<number | null>`${max(number)}` })
    .from(table)
    .where(isNotNull(number))
    .get();
  const last = highest?.number ?? 0;
  tx.run(sql`UPDATE ${table} SET ${sql.identifier(number.name)} = ${last} + 1 + wanted.key
    FROM json_each(${ids}) AS wanted WHERE ${id} = wanted.value`);
  tx.run(sql`INSERT INTO ${sql.identifier(index)} (rowid, text)
    SELECT ${number}, ${text} || ${TEXT_END} FROM ${table} WHERE ${number} > ${last}`);
  return batch.length;
}
