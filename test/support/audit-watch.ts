// What one operation leaves behind: the actions it put into the audit log, and the tables it changed.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { AUDIT_ACTIONS } from "../../src/domain/audit/actions.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { tablesOf } from "./content/schema.ts";

export interface Traces {
  /** in the order they were recorded */
  actions: string[];
  /** all others that have other rows than before, by name */
  tables: string[];
}

/** What an operation must leave, as the tests say it for each. */
export interface Expected {
  /** each at least once, and no others; as a set, since how many of them there are is for each area's own tests */
  leaves?: readonly string[];
  /** for what leaves nothing: the tables that it may change all the same */
  changes?: readonly string[];
  /** for what leaves nothing: why that is right */
  why?: string;
}

const UNWATCHED = new Set(["audit_entries", "schema_migrations"]);

/**
 * Fails on an action that AUDIT_ACTIONS lacks.
 * @param file of the database
 * @param wanted without `leaves`, the tables are watched, too
 * @returns what `work` left in it; the rest of `work` is over when it resolves
 */
export async function tracesOf(
  file: string,
  { leaves }: Expected,
  work: () => Promise<unknown>,
): Promise<Traces> {
  const watched = leaves === undefined ? watchedTables : noTables;
  const before = lookInto(file, 0, watched);
  await work();
  const after = lookInto(file, before.lastId, watched);
  return { actions: after.actions, tables: changedBetween(before, after) };
}

interface Watch extends Disposable {
  /** @returns what was left since the last time */
  traces(): Traces;
}

/** Looks at the rows only after a commit: for many operations of which few change anything. @param file of the database, which stays open */
export function watchOf(file: string): Watch {
  const db = new Database(file, { readonly: true });
  const version = db.query<{ data_version: number }, []>("PRAGMA data_version");
  let seen = version.get()?.data_version;
  let before = lookInto(file, 0);
  return {
    traces() {
      const now = version.get()?.data_version;
      if (now === seen) return { actions: [], tables: [] };
      const after = lookInto(file, before.lastId);
      const tables = changedBetween(before, after);
      [seen, before] = [now, after];
      return { actions: after.actions, tables };
    },
    [Symbol.dispose]: () => db.close(),
  };
}

const changedBetween = (before: Look, after: Look): string[] =>
  Object.keys(after.digests).filter((name) => after.digests[name] !== before.digests[name]);

/** @returns traces in the form of what is expected: of what is in the log, its tables do not matter */
export function inTermsOf({ leaves }: Expected, { actions, tables }: Traces): Expected {
  const found = [...new Set(actions)].sort();
  return leaves === undefined && found.length === 0 ? { changes: tables } : { leaves: found };
}

/** @returns what `inTermsOf` gives where all is as expected */
export const wantedOf = ({ leaves, changes = [] }: Expected): Expected =>
  leaves === undefined ? { changes } : { leaves: [...leaves].sort() };

interface Look {
  /** of the rows of each table, by its name */
  digests: Record<string, string>;
  /** of the newest entry in the audit log */
  lastId: number;
  actions: string[];
}

const watchedTables = (db: Database): string[] => tablesOf(db).filter((name) => !UNWATCHED.has(name));
const noTables = (): string[] => [];

function lookInto(file: string, after: number, tables = watchedTables): Look {
  if (!existsSync(file)) return { digests: {}, lastId: after, actions: [] };
  using db = new Database(file, { readonly: true });
  const digests = Object.fromEntries(
    tables(db).map((name) => [name, sha256Hex(JSON.stringify(db.query(`SELECT * FROM "${name}"`).all()))]),
  );
  const entries = db
    .query<{ id: number; action: string }, [number]>(
      "SELECT id, action FROM audit_entries WHERE id > ? ORDER BY id",
    )
    .all(after);
  const lastId = entries.at(-1)?.id ?? after;
  const actions = entries.map(({ action }) => action);
  const unknown = actions.filter((action) => !AUDIT_ACTIONS.includes(action));
  if (unknown.length > 0) throw new Error(`not in src/domain/audit/actions.ts: ${unknown.join(", ")}`);
  return { digests, lastId, actions };
}
