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

/** Fails on an action that AUDIT_ACTIONS lacks. @param file of the database @returns what `work` left in it; the rest of `work` is over when it resolves */
export async function tracesOf(file: string, work: () => Promise<unknown>): Promise<Traces> {
  const before = lookInto(file, 0);
  await work();
  const after = lookInto(file, before.lastId);
  const tables = Object.keys(after.digests).filter((name) => after.digests[name] !== before.digests[name]);
  return { actions: after.actions, tables };
}

/** @returns traces in the form of what is expected: of what is in the log, its tables do not matter */
export function inTermsOf({ leaves }: Expected, { actions, tables }: Traces): Expected {
  const found = [...new Set(actions)].sort();
  return leaves === undefined && found.length === 0 ? { changes: tables } : { leaves: found };
}

/** @returns what `inTermsOf` gives where all is as expected */
export const wantedOf = ({ leaves, changes = [] }: Expected): Expected =>
  leaves === undefined ? { changes } : { leaves: [...leaves].sort() };

function lookInto(
  file: string,
  after: number,
): { digests: Record<string, string>; lastId: number; actions: string[] } {
  if (!existsSync(file)) return { digests: {}, lastId: after, actions: [] };
  using db = new Database(file, { readonly: true });
  const names = tablesOf(db).filter((name) => !UNWATCHED.has(name));
  const digests = Object.fromEntries(
    names.sort().map((name) => [name, sha256Hex(JSON.stringify(db.query(`SELECT * FROM "${name}"`).all()))]),
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
