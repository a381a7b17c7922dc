// The file of the request log: its closed list of columns, its version, and the literal search.
import { Database } from "bun:sqlite";
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { getTableColumns } from "drizzle-orm";
import { openLogFile, openLogForReading } from "../../../../src/domain/inference/log/log-file-store.ts";
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
  expect(tablesOf(database)).toEqual(["gaps", "requests", "seen", "usage_sums"]);
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

  test("of a newer program is refused", () => {
    openLogFile(file).close();
    using database = new Database(file);
    database.run("PRAGMA user_version=99");
    expect(() => openLogFile(file)).toThrow(expect.objectContaining({ reason: "request_log.newer" }));
    expect(() => openLogForReading(file)).toThrow(expect.objectContaining({ reason: "request_log.newer" }));
  });

  test("that is missing or empty has nothing to read", () => {
    expect(openLogForReading(file)).toBeUndefined();
    new Database(file).close();
    expect(openLogForReading(file)).toBeUndefined();
  });
});

/** Characters that patterns of the database, of expressions or of SQL give a meaning, and letters with several cases. */
const CHARACTERS = [
  ..."*?[]^-!%_\\'\"`;()|.{}$/ aB\u00c9\u00e9\u00df\u01c5\u03a3\u03c2\u03c3\u0131\u0130\u{1d49c}\u{1f600}\u0301\t",
];

/** A generator that gives the same sequence every time. */
function* numbersBelow(max: number): Generator<number> {
  for (let state = 20_261_123; ; ) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    yield (state >>> 8) % max;
  }
}

test("INF-45 a search finds exactly the rows that contain the literal text, whatever its characters are", () => {
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

/** Upper case joins more letters than the search does, so that only texts that differ in more than case are far apart. */
const folded = (text: string): string => text.toUpperCase().toLowerCase().toUpperCase();
