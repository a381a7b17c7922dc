// Tests the reserve of the disk: its size, the parts that it releases, and what a database does with it when there is no space.
import { expect, test } from "bun:test";
import {
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openDatabase } from "../../../src/platform/database/database.ts";
import {
  DiskReserve,
  RELEASED_BYTES,
  RESERVE_BYTES,
  reserveSizeOf,
} from "../../../src/platform/files/disk-reserve.ts";
import { temporaryDirectory } from "../../support/world.ts";

/** @param bytes of the reserve; 0: there is no file */
function createReserve(bytes: number) {
  const directory = temporaryDirectory();
  const file = join(directory, "disk-reserve");
  if (bytes > 0) writeFileSync(file, Buffer.alloc(bytes), { mode: 0o600 });
  const seen = { uses: 0 };
  const reserve = new DiskReserve(file, () => {
    seen.uses += 1;
  });
  return { directory, file, reserve, seen, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) };
}

test.each([
  ["no part of a missing file", 0, false, 0],
  ["all of a reserve that is smaller than a part", RELEASED_BYTES - 1, true, 0],
  ["all of one part", RELEASED_BYTES, true, 0],
  ["one part of more", RELEASED_BYTES + 1, true, 1],
])("releases %s", (_, bytes, released, left) => {
  using own = createReserve(bytes);
  expect([own.reserve.release(), own.reserve.isInUse, own.reserve.bytes]).toEqual([released, released, left]);
});

test.each([
  ["a missing one", 0, true],
  ["one that lacks a byte", RESERVE_BYTES - 1, true],
  ["a whole one, without a change", RESERVE_BYTES, false],
])("fills %s, readable by its owner only", async (_, bytes, isFilled) => {
  using own = createReserve(0);
  if (bytes > 0) writeFileSync(own.file, Buffer.alloc(bytes), { mode: 0o600 });
  expect([await own.reserve.fill(), own.reserve.isInUse, own.reserve.bytes]).toEqual([
    isFilled,
    false,
    RESERVE_BYTES,
  ]);
  expect(statSync(own.file).mode & 0o777).toBe(0o600);
});

const PRECIOUS = "text of another program";

/** What another program puts in the place of the reserve; `other` is a file of its own. */
const FOREIGN: [what: string, put: (file: string, other: string) => void, named: string][] = [
  ["a symbolic link", (file, other) => symlinkSync(other, file), "a symbolic link"],
  ["a link to nothing", (file, other) => symlinkSync(`${other}-missing`, file), "a symbolic link"],
  ["a hard link", (file, other) => linkSync(other, file), "a file with 2 hard links"],
  ["a directory", (file) => mkdirSync(file), "a directory"],
  ["a named pipe", (file) => void Bun.spawnSync(["mkfifo", file]), "a named pipe or a device"],
  [
    "a file that others can read",
    (file) => {
      writeFileSync(file, PRECIOUS);
      chmodSync(file, 0o644);
    },
    `a file with mode 0644, of user id ${process.geteuid?.()}`,
  ],
  [
    "a larger file",
    (file) => {
      writeFileSync(file, "", { mode: 0o600 });
      truncateSync(file, RESERVE_BYTES + 1);
    },
    "a file of 64.0 MiB",
  ],
];

test.each(FOREIGN)("writes to no foreign file, and names it: %s", async (_, put, named) => {
  using own = createReserve(0);
  const other = join(own.directory, "other");
  writeFileSync(other, PRECIOUS, { mode: 0o600 });
  put(own.file, other);
  const sizeBefore = lstatSync(own.file).size;
  const error = expect.objectContaining({
    reason: "data_dir.foreign_reserve",
    message: `${own.file} is ${named}, so it reserves no disk space`,
    hint: expect.stringContaining(`remove it`),
  });
  expect(await own.reserve.fill().catch((thrown) => thrown)).toEqual(error);
  expect(() => reserveSizeOf(own.file)).toThrow(`is ${named}`);
  expect([own.reserve.release(), own.reserve.isInUse, own.reserve.bytes]).toEqual([false, false, 0]);
  expect([readFileSync(other, "utf8"), lstatSync(own.file).size]).toEqual([PRECIOUS, sizeBefore]);
  expect(lstatSync(`${other}-missing`, { throwIfNoEntry: false })).toBeUndefined();
  rmSync(own.file, { recursive: true });
  expect([await own.reserve.fill(), own.reserve.bytes]).toEqual([true, RESERVE_BYTES]);
});

test("a foreign file in the place of a used reserve ends its use", async () => {
  using own = createReserve(2 * RELEASED_BYTES);
  own.reserve.release();
  rmSync(own.file);
  mkdirSync(own.file);
  await own.reserve.fill().catch(() => {});
  expect(own.reserve.isInUse).toBe(false);
});

test("is in use until it is complete again, and reports its use once", async () => {
  using own = createReserve(3 * RELEASED_BYTES);
  own.reserve.release();
  own.reserve.release();
  expect([own.seen.uses, own.reserve.isInUse]).toEqual([1, true]);
  await own.reserve.fill();
  expect([own.reserve.isInUse, own.reserve.bytes]).toEqual([false, RESERVE_BYTES]);
  own.reserve.release();
  expect(own.seen.uses).toBe(2);
});

test("a write on a full disk gets all of the reserve, and frequent writes leave it to others", async () => {
  using own = createReserve(3 * RELEASED_BYTES);
  const db = openDatabase(join(own.directory, "quartermaster.db"), { reserve: own.reserve });
  const add = (bytes: number) => () =>
    db.write((tx) => void tx.run(sql`INSERT INTO t VALUES (${"b".repeat(bytes)})`));
  const addGrouped = () => db.writeGrouped((tx) => void tx.run(sql`INSERT INTO t VALUES (1)`));
  const full = expect.objectContaining({ reason: "storage.full" });
  await db.write((tx) => void tx.run(sql`CREATE TABLE t (bytes)`));
  await db.write((tx) => void tx.get(sql`PRAGMA max_page_count = 2`));
  await addGrouped();
  expect(await add(200_000)().catch((error) => error)).toEqual(full);
  expect([own.reserve.bytes, own.seen.uses]).toEqual([0, 1]);
  expect(await addGrouped().catch((error) => error)).toEqual(full);
  await add(1)();
  await db.write((tx) => void tx.get(sql`PRAGMA max_page_count = 1000000`));
  await own.reserve.fill();
  await addGrouped();
  expect(db.read.all(sql`SELECT count(*) AS rows FROM t`)).toEqual([{ rows: 3 }]);
  await db.close();
});

test("frequent writes release nothing", async () => {
  using own = createReserve(RELEASED_BYTES);
  const db = openDatabase(join(own.directory, "quartermaster.db"), { reserve: own.reserve });
  await db.write((tx) => void tx.run(sql`CREATE TABLE t (bytes)`));
  await db.write((tx) => void tx.get(sql`PRAGMA max_page_count = 2`));
  for (const write of [db.writeGrouped.bind(db), db.writeInBackground.bind(db)])
    expect(
      await write((tx) => void tx.run(sql`INSERT INTO t VALUES (${"b".repeat(200_000)})`)).catch(
        (error) => error,
      ),
    ).toMatchObject({ reason: "storage.full" });
  expect([own.reserve.bytes, own.reserve.isInUse]).toEqual([RELEASED_BYTES, false]);
  await db.close();
});
