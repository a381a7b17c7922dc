// Terms: each machine that takes over begins a new one, with its own folder in the replica. A former machine that
// starts again can therefore never write to the replica of the active one. A record next to the folder names the
// machine that began the term, and describes the restored data.
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { LIST_KEYS_MAX } from "../../platform/object-store/bucket.ts";
import type { ReplicaObject, ReplicaStore } from "./replica-store.ts";

/** `t00000002-1f9c3a`: the number, and random digits, so that two machines never use the same folder. */
const TERM = /^t(\d{8})-[0-9a-f]{6}$/;
const TERM_NUMBER_MAX = 99_999_999;
/** Maximum number of terms to read; takeovers are rare. */
export const TERMS_MAX = 1000;

/** A text from the store, shown to people on one line, because writers of the store must not control a terminal. */
export const StoredLine = Type.String({ maxLength: 255, pattern: "^[^\\x00-\\x1f\\x7f-\\x9f]*$" });

const RestoredSchema = Type.Object({
  audit_id: Type.Integer(),
  audit_digest: StoredLine,
  audit_at: StoredLine,
  /** the newest rows of each kind; earlier versions did not write it */
  newest: Type.Optional(
    Type.Record(StoredLine, Type.Object({ at_ms: Type.Integer(), rows: Type.Integer() })),
  ),
});

/** The end of the restored data. */
export type RestoredEnd = Static<typeof RestoredSchema>;

const RecordSchema = Type.Object({
  term: StoredLine,
  /** the term whose replica was restored; null for the first one */
  from_term: Type.Union([StoredLine, Type.Null()]),
  machine: StoredLine,
  /** RFC 3339 */
  began_at: StoredLine,
  /** null until the restore is complete, and for the first term */
  restored: Type.Union([RestoredSchema, Type.Null()]),
});

export type TermRecord = Static<typeof RecordSchema>;

/** @param random at least 6 hexadecimal digits @returns the name of a term */
export const termName = (number: number, random: string): string =>
  `t${String(Math.min(number, TERM_NUMBER_MAX)).padStart(8, "0")}-${random.slice(0, 6)}`;

/** @returns the number in the name of a term; 0 for another text */
export const numberOf = (term: string): number => Number(TERM.exec(term)?.[1] ?? 0);

/** @returns the terms that have files or a record, in ascending order */
export async function listTerms(store: ReplicaStore): Promise<readonly string[]> {
  if (store.names) return termsAmong(await store.names());
  const terms: string[] = [];
  for (let after = ""; terms.length < TERMS_MAX; ) {
    const [next] = await store.list({ prefix: "t", after, max: 1 });
    if (!next) return terms;
    const [name = ""] = next.key.split(/[./]/);
    if (TERM.test(name)) terms.push(name);
    after = `${name}0`; // 0 is the character after the slash
  }
  return terms;
}

const termsAmong = (names: readonly string[]): readonly string[] =>
  [...new Set(names.map((name) => name.split(".")[0] ?? "").filter((name) => TERM.test(name)))]
    .toSorted()
    .slice(0, TERMS_MAX);

const recordKey = (term: string): string => `${term}.json`;

/** @returns undefined if the term has no record that can be read */
export async function readRecord(store: ReplicaStore, term: string): Promise<TermRecord | undefined> {
  const text = await store.read(recordKey(term));
  try {
    const found: unknown = JSON.parse(text ?? "");
    return Value.Check(RecordSchema, found) ? found : undefined;
  } catch {
    return undefined;
  }
}

/**
 * @param terms in ascending order
 * @returns the end of the data that another machine restored from a term; undefined without a later record of a
 * restore
 */
export async function restoredFrom(
  store: ReplicaStore,
  { terms, term }: { terms: readonly string[]; term: string },
): Promise<RestoredEnd | undefined> {
  for (const later of terms.filter((name) => numberOf(name) > numberOf(term))) {
    const record = await readRecord(store, later);
    if (record?.from_term === term && record.restored) return record.restored;
  }
  return undefined;
}

/** @returns false if another machine has written that record */
export const createRecord = (store: ReplicaStore, record: TermRecord): Promise<boolean> =>
  store.create(recordKey(record.term), textOf(record));

/** Completes the record of a term. */
export const replaceRecord = (store: ReplicaStore, record: TermRecord): Promise<void> =>
  store.replace(recordKey(record.term), textOf(record));

const textOf = (record: TermRecord): string => `${JSON.stringify(record)}\n`;

/** The newest point of a replica. */
export interface Position {
  /** transaction of Litestream 0.5; undefined for 0.3, whose files have no such number */
  transaction: number | undefined;
  /** time at which the store received it, UTC milliseconds */
  atMs: number;
}

/** Maximum pages of a thousand files. Litestream merges its files, so a replica has fewer. */
export const PAGES_MAX = 20;

/** @returns undefined if the term has no files of Litestream */
export async function newestPosition(store: ReplicaStore, term: string): Promise<Position | undefined> {
  let newest: Position | undefined;
  let after: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const range = { prefix: `${term}/`, max: LIST_KEYS_MAX, ...(after !== undefined && { after }) };
    const objects = await store.list(range);
    for (const object of objects) newest = later(newest, positionOf(object));
    after = objects.at(-1)?.key;
    if (objects.length < LIST_KEYS_MAX) break;
  }
  return newest;
}

/** Names of Litestream 0.5, and of the log and the snapshots of 0.3. */
const TRANSACTIONS = /[0-9a-f]{16}-([0-9a-f]{16})\.ltx$/;
const OLDER = /[0-9a-f]{8}(?:_[0-9a-f]{8})?\.(?:wal|snapshot)\.lz4$/;

function positionOf({ key, modifiedAtMs: atMs }: ReplicaObject): Position | undefined {
  const [, last] = TRANSACTIONS.exec(key) ?? [];
  if (last !== undefined) return { transaction: Number.parseInt(last, 16), atMs };
  return OLDER.test(key) ? { transaction: undefined, atMs } : undefined;
}

/** Merging writes old transactions again, so the time is that of the first file with the newest transaction. */
function later(one: Position | undefined, other: Position | undefined): Position | undefined {
  if (!one || !other) return one ?? other;
  const [of1, of2] = [one.transaction ?? 0, other.transaction ?? 0];
  if (of1 !== of2) return of1 > of2 ? one : other;
  const isEarlierBetter = one.transaction !== undefined;
  return one.atMs < other.atMs === isEarlierBetter ? one : other;
}
