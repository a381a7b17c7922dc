// The file of the request log: its fixed list of columns, its version, and the literal search.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns } from "drizzle-orm";
import { FileSource } from "../../../../src/domain/inference/log/file-source.ts";
import { LogFollower, ROWS_MAX, RUNNING_MAX } from "../../../../src/domain/inference/log/follow.ts";
import { openLogFile, openLogForReading } from "../../../../src/domain/inference/log/log-file-store.ts";
import {
  COUNTED_MAX,
  FACET_VALUES_MAX,
  GAPS_MAX,
  SEEN_VALUES_MAX,
} from "../../../../src/domain/inference/log/model.ts";
import type { RequestRow } from "../../../../src/domain/inference/log/record.ts";
import { LogReader } from "../../../../src/domain/inference/log/search-store.ts";
import { gaps, requests, seen } from "../../../../src/domain/inference/log/tables.ts";
import {
  ROW_MEMBERS,
  rowsInText,
  textOfRows,
} from "../../../../src/domain/inference/log/writing/row-text.ts";
import { RowWriter } from "../../../../src/domain/inference/log/writing/rows-store.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import { columnsOf, tablesOf } from "../../../support/content/schema.ts";
import { rowOf } from "../../../support/inference/request-rows.ts";
import { temporaryDirectory } from "../../../support/world.ts";

let directory: string;
let file: string;
beforeEach(() => {
  directory = temporaryDirectory();
  file = join(directory, "request-logs.db");
});
afterEach(() => rmSync(directory, { recursive: true }));

test.each<[string, () => unknown]>([
  ["the service", () => openLogFile(file)],
  [
    "a command",
    () => new FileSource(file).searchNow({ filter: {}, sort: "occurred_asc", offset: 0, limit: 1 }),
  ],
])("a damaged file is to be moved away, because no backup contains it: %s", (_, work) => {
  writeFileSync(file, "not a database".repeat(100));
  expect(work).toThrow(
    expect.objectContaining({
      reason: "storage.damaged",
      hint: expect.stringContaining("move request-logs.db out of the data directory"),
    }),
  );
});

test("INF-38 a row has these columns and no others: no body, query, header, token, key or address", () => {
  using database = openLogFile(file);
  expect(columnsOf(database, "requests").map(({ name }) => name)).toEqual([
    "id",
    "user_id",
    "organization_id",
    "profile_id",
    "profile_name",
    "occurred_at_ms",
    "method",
    "path",
    "model",
    "http_status",
    "upstream_latency_ms",
    "harness",
    "repository",
    "branch",
    "commit_sha",
    "dirty",
    "run_id",
    "claimed",
    "request_id",
    "duration_ms",
    "first_byte_ms",
    "request_bytes",
    "response_bytes",
    "stream",
    "outcome",
    "refusal",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "usage_source",
    "upstream_cost",
  ]);
  expect(tablesOf(database)).toEqual(["gaps", "kept_sums", "requests", "seen", "usage_sums"]);
  expect([...ROW_MEMBERS].map(String)).toEqual(Object.keys(rowOf(1)));
});

test.each([
  ["requests", requests],
  ["gaps", gaps],
  ["seen", seen],
])("the table %s has the columns that statements name", (name, table) => {
  using database = openLogFile(file);
  const declared = Object.values(getTableColumns(table)).map((column) => column.name);
  expect(columnsOf(database, name).map((column) => column.name)).toEqual(declared);
});

describe("INF-43 the file", () => {
  test("is created for its owner only, and opens again", () => {
    openLogFile(file).close();
    openLogFile(file).close();
    expect(statSync(file).mode & 0o777).toBe(0o600);
    openLogForReading(file)?.close();
  });

  test("is released when it is closed, with any number of statements left", () => {
    const database = openLogFile(file);
    const statements = Array.from({ length: 100 }, (_, at) => database.prepare(`SELECT ${at}`));
    const open = () => {
      const links = readdirSync("/proc/self/fd").map((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`);
        } catch {
          return ""; // the descriptor that lists them
        }
      });
      return links.filter((link) => link.startsWith(file)).length;
    };
    expect([open(), statements.length]).toEqual([3, 100]);
    database.close();
    expect([open(), statements.length]).toEqual([0, 100]);
  });

  test("refuses a file of a newer program", () => {
    openLogFile(file).close();
    using database = new Database(file);
    database.run("PRAGMA user_version=99");
    expect(() => openLogFile(file)).toThrow(expect.objectContaining({ reason: "request_log.newer" }));
    expect(() => openLogForReading(file)).toThrow(expect.objectContaining({ reason: "request_log.newer" }));
  });

  test("reads nothing from a missing or empty file", () => {
    expect(openLogForReading(file)).toBeUndefined();
    new Database(file).close();
    expect(openLogForReading(file)).toBeUndefined();
  });
});

describe("limits of reading", () => {
  const write = (database: Database, rows: RequestRow[]) =>
    new RowWriter(database).write(rowsInText(textOfRows(rows.map((row) => ({ row, isOnlyNew: false })))), []);

  /** Fills the table with copies of a row that differ in id and time. */
  function fill(database: Database, count: number, changes = {}): void {
    write(database, [rowOf(0, changes)]);
    const names = columnsOf(database, "requests").map(({ name }) => name);
    const values = names.map((name) =>
      name === "id" ? "id || n" : name === "occurred_at_ms" ? "occurred_at_ms + n" : name,
    );
    database.run(
      `WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ?)
        INSERT INTO requests SELECT ${values.join(", ")} FROM requests, counted WHERE ? > 1`,
      [count - 1, count],
    );
  }

  test("a search counts rows up to its limit, and reports that there are more", () => {
    using database = openLogFile(file);
    fill(database, COUNTED_MAX - 1);
    for (const step of [-1, 0, 1]) {
      const search = { filter: { model: "gpt-5" }, sort: "occurred_asc", offset: 0, limit: 2 } as const;
      const { items, total, isCapped } = runSynchronously(new LogReader(database).search(search));
      expect([items.length, total, isCapped]).toEqual([2, COUNTED_MAX + Math.min(step, 0), step > 0]);
      write(database, [rowOf(COUNTED_MAX + step + 1)]);
    }
  });

  test.each([-1, 0, 1])("%i gaps more than the limit are shown up to it, the latest first", (step) => {
    using database = openLogFile(file);
    const minutes = Array.from({ length: GAPS_MAX + step }, (_, at) => at * 120_000);
    const lost = minutes.map((fromMs) => ({ fromMs, toMs: fromMs + 1, count: 1, cause: "broken" as const }));
    new RowWriter(database).write([], lost);
    const shown = new LogReader(database).gapsBetween({ fromMs: 0 });
    expect(shown).toHaveLength(GAPS_MAX + Math.min(step, 0));
    expect(shown[0]?.fromMs).toBe(minutes.at(-1) ?? -1);
  });

  test.each([-1, 0, 1])("%i models more than the limit are offered up to it", (step) => {
    using database = openLogFile(file);
    const rows = Array.from({ length: FACET_VALUES_MAX + step }, (_, at) => rowOf(at, { model: `m-${at}` }));
    write(database, rows);
    const { models } = new LogReader(database).seenSince(0);
    expect(models).toHaveLength(FACET_VALUES_MAX + Math.min(step, 0));
    expect(models.includes("m-0")).toBe(step <= 0);
  });

  test.each([-1, 0, 1])("a sweep leaves %i seen values more than the limit only up to it", (step) => {
    using database = openLogFile(file);
    database.run(
      `WITH RECURSIVE counted (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM counted WHERE n < ?)
        INSERT INTO seen SELECT 'model', 'm-' || n, NULL, n FROM counted`,
      [SEEN_VALUES_MAX + step],
    );
    new RowWriter(database).sweepRest(0);
    const left = database.query("SELECT count(*) AS count, min(last_at_ms) AS oldest FROM seen").get();
    expect(left).toEqual({ count: SEEN_VALUES_MAX + Math.min(step, 0), oldest: step > 0 ? 2 : 1 });
  });

  const followerOf = (earlier: number) =>
    new LogFollower(
      {
        file: new FileSource(file),
        keptFromMs: () => 0,
        viewOf: (row) => ({ ...row, userEmail: "ana@example.com" }),
      },
      earlier,
    );

  test.each([-1, 0, 1])("a scan reads at most its limit of rows, with %i more present", (step) => {
    using database = openLogFile(file);
    fill(database, ROWS_MAX + step);
    const follower = followerOf(ROWS_MAX + step);
    expect(follower.next()).toHaveLength(ROWS_MAX + Math.min(step, 0));
    expect(follower.next()).toHaveLength(Math.max(step, 0));
  });

  test("running requests up to the limit are shown when they end, and one more immediately", () => {
    using database = openLogFile(file);
    fill(database, RUNNING_MAX + 1, { outcome: null });
    const follower = followerOf(RUNNING_MAX + 1);
    const shown = Array.from({ length: RUNNING_MAX / ROWS_MAX + 1 }, () => follower.next().length);
    expect(shown).toEqual([...Array(RUNNING_MAX / ROWS_MAX).fill(0), 1]);
    database.run("UPDATE requests SET outcome = 'complete'");
    expect(follower.next()).toHaveLength(RUNNING_MAX);
  });
});

/** Characters that are special in patterns, in regular expressions or in SQL, and letters with several cases. */
const CHARACTERS = [
  ..."*?[]^-!%_\\'\"`;()|.{}$/ aB\u00c9\u00e9\u00df\u01c5\u03a3\u03c2\u03c3\u0131\u0130\u{1d49c}\u{1f600}\u0301\t",
];

/** A generator that returns the same sequence every time. */
function* numbersBelow(max: number): Generator<number> {
  for (let state = 20_261_123; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    yield (state >>> 8) % max;
  }
}

test("INF-45 a search finds exactly the rows that contain the literal text, with any characters", () => {
  using database = openLogFile(file);
  const draw = numbersBelow(CHARACTERS.length);
  const textOf = (length: number) =>
    Array.from({ length }, () => CHARACTERS[draw.next().value ?? 0] ?? "").join("");
  const branches = Array.from({ length: 400 }, () => textOf(4));
  const rows = branches.map((branch, number) => ({ row: { ...rowOf(number), branch }, isOnlyNew: false }));
  new RowWriter(database).write(rowsInText(textOfRows(rows)), []);
  const reader = new LogReader(database);
  for (let round = 0; round < 400; round++) {
    const q = textOf(1 + (round % 3)).trim();
    if (q === "") continue;
    const filter = { q, model: "gpt-5" };
    const search = { filter, sort: "occurred_asc", offset: 0, limit: 500 } as const;
    const found = new Set(runSynchronously(reader.search(search)).items.map(({ branch }) => branch));
    const others = "/chat/completions gpt-5 ana github.com/example/shop run-1";
    for (const branch of branches) {
      if (branch.includes(q)) expect([q, branch, found.has(branch)]).toEqual([q, branch, true]);
      const isFar = !folded(branch).includes(folded(q)) && !folded(others).includes(folded(q));
      if (isFar) expect([q, branch, found.has(branch)]).toEqual([q, branch, false]);
    }
  }
});

/** Upper case merges more letters than the search does, so that only texts that differ in more than case are unequal. */
const folded = (text: string): string => text.toUpperCase().toLowerCase().toUpperCase();
