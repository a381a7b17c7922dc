// Checks whether Litestream has copied every commit in the log of a real database. The tests write Litestream's files;
// for 0.5, only the header.
import { Database } from "bun:sqlite";
import { afterAll, expect, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isLogCopied } from "../../../../src/app/standby/replica/copied-log.ts";
import { litestreamFolder } from "../../../../src/platform/database/maintenance/replication.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const folder = temporaryDirectory();
afterAll(() => rmSync(folder, { recursive: true }));

function createDatabase(name: string): { db: Database; path: string; taken: string } {
  const path = join(folder, `${name}.db`);
  const db = new Database(path);
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA wal_autocheckpoint = 0");
  db.run("CREATE TABLE notes (text TEXT)");
  return { db, path, taken: join(folder, `${name}.ltx`) };
}

/** Writes the file of Litestream after a copy of the whole log. */
function copyLog({ path, taken }: { path: string; taken: string }): void {
  const log = readFileSync(`${path}-wal`);
  const header = Buffer.alloc(100);
  header.write("LTX1");
  header.writeBigUInt64BE(32n, 48);
  header.writeBigUInt64BE(BigInt(log.length - 32), 56);
  log.copy(header, 64, 16, 24); // the salts
  writeFileSync(taken, header);
}

const note = (db: Database) => db.run("INSERT INTO notes VALUES (?)", ["a".repeat(9_000)]);

test("STB-2 a commit is missing until Litestream has copied the log after it", () => {
  const { db, path, taken } = createDatabase("grows");
  note(db);
  copyLog({ path, taken });
  expect(isLogCopied(path, taken)).toBe(true);
  note(db);
  expect(isLogCopied(path, taken)).toBe(false);
  copyLog({ path, taken });
  expect(isLogCopied(path, taken)).toBe(true);
  db.close();
});

test("STB-2 a transaction that was rolled back is not missing", () => {
  const { db, path, taken } = createDatabase("undone");
  copyLog({ path, taken });
  db.run("PRAGMA cache_size = 2"); // writes pages to the log before the commit
  db.run("BEGIN");
  for (let at = 0; at < 50; at += 1) note(db);
  db.run("ROLLBACK");
  expect(isLogCopied(path, taken)).toBe(true);
  db.close();
});

test("STB-2 a restarted log has commits that were not copied, and an empty log has none", () => {
  const { db, path, taken } = createDatabase("again");
  note(db);
  copyLog({ path, taken });
  db.run("PRAGMA wal_checkpoint(TRUNCATE)");
  expect(isLogCopied(path, taken)).toBe(true);
  note(db);
  expect(isLogCopied(path, taken)).toBe(false);
  db.close();
});

test("STB-2 the copy of the log that Litestream 0.3 keeps is compared in the same way", () => {
  const { db, path } = createDatabase("older");
  const copies = join(litestreamFolder(path), "generations", "0123456789abcdef", "wal");
  mkdirSync(copies, { recursive: true });
  expect(isLogCopied(path, undefined)).toBeUndefined();
  writeFileSync(join(litestreamFolder(path), "generation"), "0123456789abcdef\n");
  writeFileSync(join(copies, "00000000.wal"), Buffer.alloc(32));
  cpSync(`${path}-wal`, join(copies, "00000001.wal"));
  expect(isLogCopied(path, undefined)).toBe(true);
  note(db);
  expect(isLogCopied(path, undefined)).toBe(false);
  db.close();
});

test("files without an answer get no verdict", () => {
  const { db, path, taken } = createDatabase("odd");
  note(db);
  expect(isLogCopied(path, taken)).toBeUndefined();
  writeFileSync(taken, "LTX1");
  expect(isLogCopied(path, taken)).toBeUndefined();
  writeFileSync(taken, Buffer.alloc(100));
  expect(isLogCopied(path, taken)).toBeUndefined();
  copyLog({ path, taken });
  db.close();
  expect(isLogCopied(path, taken)).toBeUndefined();
});

test("STB-2 reading the index keeps SQLite's locks on it", () => {
  const { db, path, taken } = createDatabase("locked");
  note(db);
  const { ino } = statSync(`${path}-shm`);
  const locks = () =>
    readFileSync("/proc/locks", "utf8")
      .split("\n")
      .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${ino} `));
  expect(locks()).toHaveLength(1);
  isLogCopied(path, taken);
  isLogCopied(path, taken);
  expect(locks()).toHaveLength(1);
  db.close();
});

test("STB-2 an index that replaced another one is read", () => {
  const { db, path, taken } = createDatabase("replaced");
  note(db);
  copyLog({ path, taken });
  expect(isLogCopied(path, taken)).toBe(true);
  db.close();
  expect(isLogCopied(path, taken)).toBeUndefined();
  const again = new Database(path);
  note(again);
  expect(isLogCopied(path, taken)).toBe(false);
  again.close();
});
