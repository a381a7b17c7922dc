// Files of the data directory: read, copied and opened as they are, and never through a symbolic link, even one created after the
// directory was checked.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openBlobs } from "../../../src/platform/blobs/blobs.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { openSealing } from "../../../src/platform/crypto/sealing.ts";
import {
  lockForServer,
  openDataDirectory,
  placesIn,
} from "../../../src/platform/data-directory/data-directory.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import {
  copyOwnFile,
  openOwnFile,
  readOwnFile,
  readOwnPieces,
} from "../../../src/platform/files/data-files.ts";
import { systemIds as ids } from "../../../src/platform/ids.ts";
import { temporaryDirectory } from "../../support/world.ts";

let folder: string;
let made = 0;
beforeAll(() => {
  folder = temporaryDirectory();
});
afterAll(() => rmSync(folder, { recursive: true }));

const free = (): string => join(folder, String(made++));

/** @returns a link to a file with some text */
function link(): { path: string; target: string } {
  const [path, target] = [free(), free()];
  writeFileSync(target, "of somebody else", { mode: 0o600 });
  symlinkSync(target, path);
  return { path, target };
}

async function reasonOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
  return "no error";
}

const textOf = async (path: string): Promise<string> =>
  Buffer.concat(await Array.fromAsync(readOwnPieces(path))).toString();

test("reads a file as a whole or in pieces, with its mode", async () => {
  const path = free();
  writeFileSync(path, "ours", { mode: 0o640 });
  expect(readOwnFile(path)).toEqual({ text: "ours", mode: statSync(path).mode });
  expect(await textOf(path)).toBe("ours");
});

test("copies a file larger than one piece to a new file, readable by its owner only", () => {
  const [from, to] = [free(), free()];
  writeFileSync(from, Buffer.alloc(2_500_000, "0123456789"));
  copyOwnFile(from, to);
  expect(readFileSync(to).equals(readFileSync(from))).toBe(true);
  expect(statSync(to).mode & 0o777).toBe(0o600);
  expect(() => copyOwnFile(from, to)).toThrow("EEXIST");
});

test.each<[string, (path: string) => unknown]>([
  ["opened", openOwnFile],
  ["read whole", readOwnFile],
  ["read piece by piece", textOf],
  ["copied", (path) => copyOwnFile(path, free())],
])("a link is not %s", async (_, work) => {
  expect(await reasonOf(() => work(link().path))).toBe("data_dir.link");
});

test("refuses a named pipe without waiting", async () => {
  const path = free();
  expect(Bun.spawnSync(["mkfifo", path]).exitCode).toBe(0);
  expect(await reasonOf(() => openOwnFile(path))).toBe("data_dir.not_regular");
});

describe("a database", () => {
  const opened = (path: string): void => openConnection(path, { create: true }).close();

  test("refuses a database that is a link for reading and for writing, and creates nothing at the target", async () => {
    const { path, target } = link();
    for (const options of [
      { create: true },
      { readonly: true },
      { readonly: true, untouched: true },
    ] as const)
      expect(await reasonOf(() => openConnection(path, options).close())).toBe("storage.link");
    expect(readFileSync(target, "utf8")).toBe("of somebody else");
    rmSync(target);
    expect(await reasonOf(() => opened(path))).toBe("storage.link");
    expect(existsSync(target)).toBe(false);
  });

  test.each(["-wal", "-shm"])("refuses a database whose %s is a link", async (end) => {
    const [path, { path: sidecar, target }] = [free(), link()];
    opened(path);
    symlinkSync(sidecar, `${path}${end}`);
    expect(await reasonOf(() => opened(path))).toBe("storage.failed");
    expect(readFileSync(target, "utf8")).toBe("of somebody else");
  });

  test("may be in a folder behind a link", async () => {
    const [real, linked] = [free(), free()];
    mkdirSync(real);
    symlinkSync(real, linked);
    opened(join(linked, "quartermaster.db"));
    expect(existsSync(join(real, "quartermaster.db"))).toBe(true);
    for (const untouched of [undefined, true as const])
      openConnection(join(linked, "quartermaster.db"), {
        readonly: true,
        ...(untouched && { untouched }),
      }).close();
  });
});

test.each([
  ...["quartermaster.db", "quartermaster.db-wal", "quartermaster.db-shm", "quartermaster.db-journal"],
  ...["installation.json", "server.lock", "server.lock.holder", "run/service.json"],
])("refuses a data directory whose %s is a link", async (name) => {
  const [path, { target }] = [free(), link()];
  mkdirSync(join(path, "run"), { recursive: true, mode: 0o700 });
  symlinkSync(target, join(path, name));
  expect(await reasonOf(() => openDataDirectory(path))).toBe("data_dir.link");
});

test("does not take the lock through a link that was created after the check", async () => {
  const path = free();
  const directory = openDataDirectory(path);
  symlinkSync(link().target, placesIn(path).lock);
  expect(await reasonOf(() => lockForServer(directory, systemClock))).toBe("storage.link");
});

test("refuses a sealing key that is a link", async () => {
  const [keys, other] = [free(), free()];
  openSealing({ directory: keys, ids });
  openSealing({ directory: other, ids });
  rmSync(join(keys, "0001.sealing-key"));
  symlinkSync(join(other, "0001.sealing-key"), join(keys, "0001.sealing-key"));
  expect(await reasonOf(() => openSealing({ directory: keys, ids }))).toBe("data_dir.link");
});

test("an artifact that is a link counts as missing, and storing it again replaces the link", async () => {
  const blobs = await openBlobs(free());
  const bytes = async function* () {
    yield Buffer.from("archive");
  };
  const { digest } = await blobs.put(bytes(), { maxBytes: 100 });
  const path = blobs.path(digest);
  rmSync(path);
  symlinkSync(link().target, path);
  expect([await blobs.has(digest), await blobs.verify(digest)]).toEqual([false, "missing"]);
  expect(await reasonOf(() => Array.fromAsync(blobs.read(digest)))).toBe("data_dir.link");
  expect((await blobs.put(bytes(), { maxBytes: 100 })).isNew).toBe(true);
  expect(await blobs.verify(digest)).toBe("intact");
});
