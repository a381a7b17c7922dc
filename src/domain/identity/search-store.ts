// SQL that searches for a text in addresses and subjects: a condition on a column, and the index of users.
import { isNull, type SQL, sql } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../platform/database/database.ts";
import type { Steps } from "../../platform/steps.ts";
import { isAmong } from "../shared/ordered-rows-store.ts";
import { likePattern } from "../shared/page.ts";
import { type IndexedTexts, waitingIds } from "../shared/text-search/indexed-texts-store.ts";
import { candidateNumbers } from "../shared/text-search/trigram-store.ts";
import { USER_SEARCH_CANDIDATES_MAX } from "./model.ts";
import { users } from "./tables.ts";

/** Matches the text literally, ignoring ASCII case. Folded columns need folded text. */
export const contains = (column: SQLiteColumn, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;

const INDEX = { index: "user_search", terms: "user_search_terms" } as const;

/** The texts that the job adds. */
export const INDEXED_TEXTS: IndexedTexts = {
  index: INDEX.index,
  table: users,
  id: users.id,
  number: users.searchNumber,
  text: sql`${users.emailKey} || char(10) || ${users.subject}`,
  isWaiting: isNull(users.searchNumber),
};

/** SQLite folds other characters differently, so it would miss entries that begin with them. */
const isFoundInPairs = (text: string): boolean => [...text].length > 2 || /^\p{ASCII}*$/u.test(text);

/**
 * @param text folded
 * @returns at most USER_SEARCH_CANDIDATES_MAX ids of users of any organization whose address or subject may contain the text;
 * undefined if there are more, or if the text is too short for the index
 */
export function* usersWith(connection: Connection, text: string): Steps<string[] | undefined> {
  if (!isFoundInPairs(text)) return undefined;
  const most = USER_SEARCH_CANDIDATES_MAX;
  const waiting = waitingIds(connection, INDEXED_TEXTS, most + 1); // read first, because the job may number users at the same time
  if (waiting.length > most) return undefined;
  const numbers = yield* candidateNumbers(connection, INDEX, { text, max: most });
  if (!numbers || numbers.length + waiting.length > most) return undefined;
  yield;
  const numbered = connection
    .select({ id: users.id })
    .from(users)
    .where(isAmong(users.searchNumber, numbers))
    .all();
  return [...new Set([...numbered.map(({ id }) => id), ...waiting])];
}
