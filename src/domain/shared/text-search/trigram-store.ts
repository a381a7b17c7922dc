// Looks texts up in indexes of three-character parts (SQLite FTS5, tokenizer `trigram`). An index gives the rows that may contain a
// text; the caller compares the text of each.
import { type SQL, sql } from "drizzle-orm";
import type { Connection, Db, Tx } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";

/** Maximum number of parts of a text to look up; the index reads the list of each. */
export const SEARCH_PARTS_MAX = 16;
/** Number of characters in an index entry. */
const PART_LENGTH = 3;

/**
 * Spreads the parts evenly, so that a long text has few.
 * @returns parts that every text containing this one has; empty if it is too short
 */
export function searchParts(text: string): string[] {
  const characters = [...text];
  const last = characters.length - PART_LENGTH;
  if (last < 0) return [];
  const count = Math.min(SEARCH_PARTS_MAX, last + 1);
  const starts = Array.from({ length: count }, (_, at) => Math.round((at * last) / Math.max(1, count - 1)));
  return [...new Set(starts.map((start) => characters.slice(start, start + PART_LENGTH).join("")))];
}

/** @returns the query for texts with all the parts */
const matchOf = (parts: readonly string[]): string => parts.map(quotedPart).join(" ");

const quotedPart = (part: string): string => `"${part.replaceAll('"', '""')}"`;

/** The indexes of this installation. */
export type TrigramIndex = "session_search" | "client_search" | "user_search";

/** Number of parts to look up together at first. */
const RARE_PARTS = 2;
/** Number of texts to sample for estimating how frequent a part is. */
const SAMPLED_TEXTS = 50;

/**
 * Tries the rarest parts first, because SQLite reads the whole list of each part.
 * @returns the numbers of texts that may have all parts; at most `max` + 1
 */
export function* numbersWith(
  connection: Connection,
  index: TrigramIndex,
  { parts, max }: { parts: readonly string[]; max: number },
): Steps<number[]> {
  const having = (wanted: readonly string[], window: SQL): number[] =>
    connection
      .values<[number]>(sql`SELECT rowid FROM ${sql.identifier(index)}
        WHERE ${sql.identifier(index)} MATCH ${matchOf(wanted)} ${window}`)
      .map(([number]) => number);
  // How many numbers it takes to find SAMPLED_TEXTS texts with the part: the more, the rarer the part.
  const reachOf = (part: string): number =>
    having([part], sql`LIMIT 1 OFFSET ${SAMPLED_TEXTS - 1}`)[0] ?? Number.POSITIVE_INFINITY;
  const rarest = parts
    .map((part) => ({ part, reach: reachOf(part) }))
    .sort((one, other) => (one.reach === other.reach ? 0 : other.reach - one.reach))
    .slice(0, RARE_PARTS)
    .map(({ part }) => part);
  yield;
  const numbers = having(rarest, sql`LIMIT ${max + 1}`);
  const isEnough = numbers.length <= max || rarest.length === parts.length;
  if (isEnough) return numbers;
  yield;
  return having(parts, sql`LIMIT ${max + 1}`);
}

/** Maximum number of entries that begin with the same two characters and are looked up together. */
export const PAIR_PARTS_MAX = 256;

/** Appended to indexed texts, so that each of their characters begins an entry. */
export const TEXT_END = "\n\n";

/**
 * Looks up two characters by the entries that begin with them. Every text must have been indexed with TEXT_END.
 * @param terms the fts5vocab table of the index, in the form `row`
 * @returns the numbers of texts that have the pair, at most `max` + 1; undefined if too many entries begin with it
 */
function numbersWithPair(
  connection: Connection,
  { index, terms }: { index: TrigramIndex; terms: string },
  { pair, max }: { pair: string; max: number },
): number[] | undefined {
  const parts = connection.values<[string]>(sql`SELECT term FROM ${sql.identifier(terms)}
    WHERE term >= ${pair} AND term <= ${pair + HIGHEST_CHARACTER} LIMIT ${PAIR_PARTS_MAX + 1}`);
  if (parts.length === 0) return [];
  if (parts.length > PAIR_PARTS_MAX) return undefined;
  const anyOf = parts.map(([part]) => quotedPart(part)).join(" OR ");
  return connection
    .values<[number]>(sql`SELECT rowid FROM ${sql.identifier(index)}
      WHERE ${sql.identifier(index)} MATCH ${anyOf} LIMIT ${max + 1}`)
    .map(([number]) => number);
}

const HIGHEST_CHARACTER = "\u{10ffff}";
const PAIR_LENGTH = 2;

/**
 * Looks up a text by its parts, or as a pair if it has two characters. Every text must have been indexed with TEXT_END.
 * @returns the numbers of texts that may have it, at most `max` + 1; undefined if the index cannot tell
 */
export function* candidateNumbers(
  connection: Connection,
  index: { index: TrigramIndex; terms: string },
  { text, max }: { text: string; max: number },
): Steps<number[] | undefined> {
  const parts = searchParts(text);
  if (parts.length > 0) return yield* numbersWith(connection, index.index, { parts, max });
  return [...text].length === PAIR_LENGTH
    ? numbersWithPair(connection, index, { pair: text, max })
    : undefined;
}

/** pages merged in one transaction, which takes a few milliseconds */
const MERGED_PAGES = 16;

/** Pages merged after each batch of new texts: a batch writes up to about a quarter of them. */
const MERGED_AFTER_BATCH_PAGES = 64;
/** With so many parts, SQLite merges them all the same. `mergeAfterBatch` keeps them far fewer. */
const CRISIS_PARTS = 200;

/**
 * Leaves merging to `mergeAfterBatch`. SQLite itself would merge whole levels of the index in the COMMIT of some batches, which
 * blocked requests for up to 36 ms.
 */
export function mergeOnlyOnRequest(tx: Tx, index: TrigramIndex): void {
  configure(tx, index, { option: "automerge", value: 0 });
  configure(tx, index, { option: "crisismerge", value: CRISIS_PARTS });
}

/** Merges a part of the index. Call it after each batch of new texts. */
export const mergeAfterBatch = (tx: Tx, index: TrigramIndex): void =>
  configure(tx, index, { option: "merge", value: MERGED_AFTER_BATCH_PAGES });

/** Merges the whole index in batches, which removes all traces of removed rows. */
export async function optimizeIndex(
  db: Pick<Db, "write">,
  index: TrigramIndex,
  signal: AbortSignal,
): Promise<void> {
  const merge = (pages: number) => db.write((tx) => mergeIndex(tx, index, pages), "unobserved");
  let hasMore = await merge(-MERGED_PAGES);
  while (hasMore && !signal.aborted) hasMore = await merge(MERGED_PAGES);
}

/**
 * Merges part of the index.
 * @param pages negative to begin
 * @returns whether there is more to merge
 */
function mergeIndex(tx: Tx, index: TrigramIndex, pages: number): boolean {
  const changes = () => tx.values<[number]>(sql`SELECT total_changes()`)[0]?.[0] ?? 0;
  const before = changes();
  configure(tx, index, { option: "merge", value: pages });
  return changes() - before > 1;
}

/** @source https://sqlite.org/fts5.html, section 6 */
function configure(tx: Tx, index: TrigramIndex, { option, value }: { option: string; value: number }): void {
  const table = sql.identifier(index);
  tx.run(sql`INSERT INTO ${table} (${table}, rank) VALUES (${option}, ${value})`);
}
