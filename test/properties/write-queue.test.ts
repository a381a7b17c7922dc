// The queue of writes: for any writes, short or long, failing or not, with commits of another process in between, the rows are
// those of the successful writes, in the order of their requests.
import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { organizations } from "../../src/domain/identity/tables.ts";
import {
  type Db,
  FOREIGN_COMMIT_CHECK_MS,
  openDatabase,
  type Tx,
} from "../../src/platform/database/database.ts";
import type { Steps } from "../../src/platform/steps.ts";
import { createWorld } from "../support/world.ts";

const SEQUENCES = 25;

interface Write {
  kind: "short" | "background" | "stepped";
  rows: number;
  fails: boolean;
}

/** The writes requested in one turn, with or without a preceding commit of another process. */
interface Round {
  isForeignFirst: boolean;
  writes: Write[];
}

const writes: fc.Arbitrary<Write> = fc.record({
  kind: fc.constantFrom("short", "background", "stepped"),
  rows: fc.nat(3),
  fails: fc.boolean(),
});
const rounds: fc.Arbitrary<Round[]> = fc.array(
  fc.record({ isForeignFirst: fc.boolean(), writes: fc.array(writes, { maxLength: 6 }) }),
  { minLength: 1, maxLength: 4 },
);

const rowsIn = (db: Db): string[] =>
  db.read
    .values<[string]>(sql`SELECT id FROM ${organizations} WHERE created_at_ms = 0 ORDER BY rowid`)
    .flat();

const insert = (tx: Tx, id: string): void =>
  void tx.insert(organizations).values({ id, name: id, createdAtMs: 0 }).run();

/** Adds the rows of a write, one in each step. @throws its name where it fails */
function* steps(tx: Tx, { rows, fails }: Write, name: string): Steps<string> {
  for (let row = 0; row < rows; row += 1) {
    insert(tx, `${name}.${row}`);
    yield;
  }
  if (fails) throw new Error(name);
  return name;
}

function writeInOneStep(tx: Tx, write: Write, name: string): string {
  const all = steps(tx, write, name);
  for (;;) {
    const step = all.next();
    if (step.done) return step.value;
  }
}

function ask(db: Db, write: Write, name: string): Promise<string> {
  if (write.kind === "stepped") return db.writeInSteps((tx) => steps(tx, write, name));
  const once = (tx: Tx) => writeInOneStep(tx, write, name);
  return write.kind === "short" ? db.write(once) : db.writeInBackground(once);
}

const rowsOf = ({ rows, fails }: Write, name: string): string[] =>
  fails ? [] : Array.from({ length: rows }, (_, row) => `${name}.${row}`);

/** Requests all writes of a round in one turn. @returns what readers saw in each turn until the last one had ended */
async function run(db: Db, request: readonly [Write, string][]): Promise<string[][]> {
  let isDone = false;
  const seen: string[][] = [];
  const responses = request.map(async ([write, name]) => {
    const response = await ask(db, write, name).catch((error: unknown) => String(error));
    expect(response).toBe(write.fails ? `Error: ${name}` : name);
    expect(rowsIn(db)).toEqual(expect.arrayContaining(rowsOf(write, name)));
  });
  const ended = Promise.all(responses).finally(() => {
    isDone = true;
  });
  while (!isDone) {
    seen.push(rowsIn(db));
    await setImmediate();
  }
  await ended;
  return seen;
}

/** No write has to wait for others if a short write comes last. */
const LAST: Write = { kind: "short", rows: 1, fails: false };

test("readers see whole writes in the requested order for any writes", async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async (sequence) => {
      await using world = await createWorld();
      const other = openDatabase(world.file);
      const expected: string[] = [];
      for (const [at, { isForeignFirst, writes }] of sequence.entries()) {
        if (isForeignFirst) {
          await other.write((tx) => insert(tx, `foreign ${at}`));
          expected.push(`foreign ${at}`);
          await Bun.sleep(FOREIGN_COMMIT_CHECK_MS + 1);
        }
        const requests = [...writes, LAST].map((write, order): [Write, string] => [write, `${at}.${order}`]);
        const states = [expected.join()];
        for (const [write, name] of requests) {
          expected.push(...rowsOf(write, name));
          states.push(expected.join());
        }
        for (const seen of await run(world.db, requests)) expect(states).toContain(seen.join());
        expect(rowsIn(world.db)).toEqual(expected);
      }
      await other.close();
    }),
    { numRuns: SEQUENCES },
  );
});
