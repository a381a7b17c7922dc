// The search for a text in a column, in the statements of this area.
import { type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { likePattern } from "../shared/page.ts";

/** Matches the text literally. Folded columns need folded text; ASCII case is ignored in any case. */
export const contains = (column: SQLiteColumn, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;
