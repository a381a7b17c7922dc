// Durable writes: `db.write` from several parallel callers, compared with bun:sqlite writing the same rows with one commit each.
// Both sync at every commit (synchronous=FULL); the gain comes from shared commits.
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import { openConnection } from "../../src/platform/database/connection.ts";
import { type Db, openDatabase, statement } from "../../src/platform/database/database.ts";
import { atLeast, type Figure } from "./figures.ts";
import { compareAlternating } from "./tools/compare.ts";
import { temporaryDirectory } from "./tools/installation.ts";

const ROUNDS = 9;
const SECONDS = 0.4;
const ROWS = 10_000;
/** required ratios by callers; undefined where the figure has no required value */
const CALLERS: readonly (readonly [callers: number, wanted: number | undefined])[] = [
  [1, 0.7],
  [16, undefined],
  [32, 4],
  [64, undefined],
];

const TABLE =
  "CREATE TABLE entries (id TEXT PRIMARY KEY, note TEXT NOT NULL, changed INTEGER NOT NULL) STRICT";
const UPSERT = `INSERT INTO entries (id, note, changed) VALUES ($id, $note, $changed)
  ON CONFLICT (id) DO UPDATE SET note = excluded.note, changed = excluded.changed`;

const entries = sqliteTable("entries", {
  id: text("id").primaryKey(),
  note: text("note").notNull(),
  changed: integer("changed").notNull(),
});

const upsert = statement((connection) =>
  connection
    .insert(entries)
    .values({
      id: sql.placeholder("id"),
      note: sql.placeholder("note"),
      changed: sql.placeholder("changed"),
    })
    .onConflictDoUpdate({
      target: entries.id,
      set: { note: sql`excluded.note`, changed: sql`excluded.changed` },
    })
    .prepare(),
);

/** Each row differs from the one before, and never has an earlier value. */
let written = 0;
function nextRow() {
  written += 1;
  return { id: `entry-${written % ROWS}`, note: "n".repeat(200), changed: written };
}

/** Measures one commit per row against grouped commits. */
export async function* measureWrites(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const grouped = openDatabase(fileIn(directory.path, "grouped.db"));
  using alone = openConnection(fileIn(directory.path, "alone.db"), {});
  const single = alone.prepare(UPSERT);
  const rows = await compareAlternating({
    rounds: ROUNDS,
    subjects: {
      loop: async () => writeInLoop(() => single.run(nextRow())),
      ...Object.fromEntries(
        CALLERS.map(([callers]) => [`${callers} at once`, () => writeTogether(grouped, callers)]),
      ),
    },
  });
  await grouped.close();
  const [loop, ...ours] = rows;
  yield* ours.map(({ median, ratio }, at) => {
    const [callers, wanted] = CALLERS[at] ?? [];
    return {
      what: `durable writes, ${callers} at once`,
      unit: "writes/s",
      ours: median,
      reference: loop?.median ?? Number.NaN,
      ratio,
      ...(wanted !== undefined && { verdict: atLeast(wanted, ratio) }),
    };
  });
}

/** @returns a database in that directory, and a function that commits some rows, one by default, and waits for the disk */
export function openWriter(directory: string): AsyncDisposable & { write(rows?: number): Promise<void> } {
  const db = openDatabase(fileIn(directory, "writer.db"));
  const write = (rows = 1): Promise<void> =>
    db.write((tx) => {
      for (let row = 0; row < rows; row++) upsert(tx).run(nextRow());
    }, "jobs");
  return { write, [Symbol.asyncDispose]: () => db.close() };
}

function fileIn(directory: string, name: string): string {
  const file = join(directory, name);
  using connection = openConnection(file, { create: true });
  connection.run(TABLE);
  return file;
}

function writeInLoop(write: () => void): number {
  const begin = performance.now();
  const before = written;
  while (performance.now() < begin + SECONDS * 1_000) write();
  return ((written - before) / (performance.now() - begin)) * 1_000;
}

async function writeTogether(db: Db, callers: number): Promise<number> {
  const begin = performance.now();
  const before = written;
  const caller = async () => {
    while (performance.now() < begin + SECONDS * 1_000) {
      const row = nextRow();
      await db.write((tx) => void upsert(tx).run(row), "jobs");
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
  return ((written - before) / (performance.now() - begin)) * 1_000;
}
