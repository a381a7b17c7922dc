// The index beside the log of a real database. Another connection has the database open, as Litestream does when the service is killed.
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LogFiles } from "../../../../src/domain/inference/log/writing/log-files.ts";
import { readIndex, resetIndex } from "../../../../src/platform/database/maintenance/log-index.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const folder = temporaryDirectory();
afterAll(() => rmSync(folder, { recursive: true }));

function createDatabase(name: string): { db: Database; path: string } {
  const path = join(folder, `${name}.db`);
  const db = new Database(path);
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run("CREATE TABLE notes (text TEXT)");
  return { db, path };
}

const notes = (db: Database) => db.query<{ text: string }, []>("SELECT text FROM notes").all();

/** Leaves what a process leaves that is killed after it has written a commit to the log, and before it has written the index. */
function cutOffCommit({ db, path }: { db: Database; path: string }, text: string): void {
  const before = readFileSync(`${path}-shm`).subarray(0, 96);
  db.run("INSERT INTO notes VALUES (?)", [text]);
  writeFileSync(`${path}-shm`, Buffer.concat([before, readFileSync(`${path}-shm`).subarray(96)]));
}

const locksOn = (path: string): string[] => {
  const { ino } = statSync(path);
  return readFileSync("/proc/locks", "utf8")
    .split("\n")
    .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `))
    .map((line) => line.replace(/^\d+: /, "")); // its place among the locks of all processes
};

test("STB-10 a commit that only the log has is overwritten without a reset", () => {
  const { db, path } = createDatabase("lost");
  cutOffCommit({ db, path }, "cut off");
  expect(notes(db)).toEqual([]);
  using next = new Database(path);
  next.run("INSERT INTO notes VALUES ('next')");
  resetIndex(path);
  expect(notes(db)).toEqual([{ text: "next" }]);
  db.close();
});

test("STB-10 a reset keeps a commit that only the log has, and every later one", () => {
  const { db, path } = createDatabase("kept");
  db.run("INSERT INTO notes VALUES ('first')");
  cutOffCommit({ db, path }, "cut off");
  resetIndex(path);
  using next = new Database(path);
  next.run("INSERT INTO notes VALUES ('next')");
  expect(notes(db)).toEqual([{ text: "first" }, { text: "cut off" }, { text: "next" }]);
  expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
  db.close();
});

test("STB-10 a reset under a reader leaves its snapshot", () => {
  const { db, path } = createDatabase("reader");
  db.run("BEGIN");
  expect(notes(db)).toEqual([]);
  using next = new Database(path);
  next.run("INSERT INTO notes VALUES ('next')");
  resetIndex(path);
  next.run("INSERT INTO notes VALUES ('again')");
  expect(notes(db)).toEqual([]);
  db.run("ROLLBACK");
  expect(notes(db)).toHaveLength(2);
  db.close();
});

test("resetting and reading the index keeps the locks of SQLite", () => {
  const { db, path } = createDatabase("locked");
  db.run("INSERT INTO notes VALUES ('first')");
  const before = locksOn(`${path}-shm`);
  expect(before).toHaveLength(1);
  readIndex(path, 40);
  resetIndex(path);
  readIndex(path, 40);
  resetIndex(path);
  expect(locksOn(`${path}-shm`)).toEqual(before);
  db.close();
});

test("INF-44 a repaired index of the request log keeps the locks of SQLite", () => {
  const { db, path } = createDatabase("request-logs");
  db.run("INSERT INTO notes VALUES ('first')");
  const files = new LogFiles(path);
  const before = locksOn(`${path}-shm`);
  truncateSync(`${path}-shm`);
  expect(files.checkOutsideChange()).toMatchObject({ isReopening: false });
  expect(locksOn(`${path}-shm`)).toEqual(before);
  expect(notes(db)).toEqual([{ text: "first" }]);
  db.close();
});

test("a missing index is not an error", () => {
  const path = join(folder, "missing.db");
  resetIndex(path);
  expect(readIndex(path, 40)).toBeUndefined();
});
