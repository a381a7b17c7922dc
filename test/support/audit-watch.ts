// The effects of one operation: the actions that it recorded in the audit log, and the tables that it changed.
import { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { AUDIT_ACTIONS } from "../../src/domain/audit/actions.ts";
import { sha256Hex } from "../../src/platform/ids.ts";
import { tablesOf } from "./content/schema.ts";

export interface Traces {
  /** in the order of recording */
  actions: string[];
  /** all other tables whose rows changed, by name */
  tables: string[];
}

/** The expected effects of an operation, in the form of the tests. */
export interface Expected {
  /** each at least once, and no others. A set, because each area's own tests check how many there are */
  leaves?: readonly string[];
  /** for operations that record nothing: the tables that they may change */
  changes?: readonly string[];
  /** for operations that record nothing: the justification */
  why?: string;
}

const UNWATCHED = new Set(["audit_entries", "schema_migrations"]);

/**
 * Fails on an action that AUDIT_ACTIONS lacks.
 * @param file of the database
 * @param wanted without `leaves`, the tables are compared, too
 * @returns the effects of `work` in the database; all of its work has ended when this resolves
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
  /** @returns the effects since the last time */
  traces(): Traces;
}

/**
 * Reads the rows only after a commit, for many operations that rarely change anything. @param file of the database,
 * which stays open
 */
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

/** @returns effects in the form of the expectation, without tables for an audited operation */
export function inTermsOf({ leaves }: Expected, { actions, tables }: Traces): Expected {
  const found = [...new Set(actions)].sort();
  return leaves === undefined && found.length === 0 ? { changes: tables } : { leaves: found };
}

/** @returns the result of `inTermsOf` for the expected effects */
export const wantedOf = ({ leaves, changes = [] }: Expected): Expected =>
  leaves === undefined ? { changes } : { leaves: [...leaves].sort() };

interface Look {
  /** digest of the rows of each table, by its name */
  digests: Record<string, string>;
  /** id of the newest audit entry */
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
