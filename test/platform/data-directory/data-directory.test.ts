// The data directory: which user may use it, and that only one server does.
import { expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, relative } from "node:path";
import {
  isServerRunning,
  lockForServer,
  openDataDirectory,
} from "../../../src/platform/data-directory/data-directory.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { isRoot, NOBODY, startChild } from "../../support/cli/child.ts";
import { heldClock, temporaryDirectory } from "../../support/world.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** A temporary directory that `using` removes; other users may traverse it. */
function scratch(): { path: string } & Disposable {
  const path = temporaryDirectory();
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

const ended = async (verb: string, path: string, userId?: number): Promise<string[]> =>
  (await startChild(verb, [path], userId === undefined ? {} : { userId }).ended()).lines;

function reasonOf(action: () => unknown): string {
  try {
    action();
  } catch (error) {
    if (error instanceof DomainError) return error.reason;
    throw error;
  }
  return "no error";
}

test("creates a missing directory with its parents, for its owner only with any umask", () => {
  using folder = scratch();
  const path = join(folder.path, "var", "lib", "quartermaster");
  const before = process.umask(0);
  try {
    openDataDirectory(path);
  } finally {
    process.umask(before);
  }
  expect(modeOf(path)).toBe(0o700);
});

test("all paths are inside the directory, and a relative path becomes absolute", () => {
  using folder = scratch();
  const { path, ...inside } = openDataDirectory(relative(process.cwd(), join(folder.path, "data")));
  expect(path).toBe(join(folder.path, "data"));
  for (const place of Object.values(inside)) expect(place).toStartWith(`${path}/`);
});

test("an existing directory keeps its files and its permissions", () => {
  using folder = scratch();
  chmodSync(folder.path, 0o750);
  writeFileSync(join(folder.path, "quartermaster.db"), "precious");
  const { database } = openDataDirectory(folder.path);
  expect(readFileSync(database, "utf8")).toBe("precious");
  expect(modeOf(folder.path)).toBe(0o750);
});

test("refuses a file in place of the directory or of its parent", () => {
  using folder = scratch();
  const file = join(folder.path, "file");
  writeFileSync(file, "");
  expect(reasonOf(() => openDataDirectory(file))).toBe("data_dir.not_a_directory");
  expect(reasonOf(() => openDataDirectory(join(file, "data")))).toBe("data_dir.not_a_directory");
});

test("refuses a directory that its owner may not write to", async () => {
  using folder = scratch();
  const path = join(folder.path, "data");
  mkdirSync(path, { mode: 0o500 });
  if (isRoot) chownSync(path, NOBODY, NOBODY);
  const [line] = await ended("open-directory", path, NOBODY);
  expect(line).toStartWith("data_dir.not_writable: ");
});

test("refuses a directory that cannot be created", async () => {
  using folder = scratch();
  chmodSync(folder.path, 0o555);
  const [line] = await ended("open-directory", join(folder.path, "data"), NOBODY);
  expect(line).toStartWith("data_dir.not_writable: ");
});

test("refuses another user's directory and names its owner", async () => {
  const [line] = await ended("open-directory", "/", NOBODY);
  expect(line).toStartWith("data_dir.foreign_owner: the data directory / belongs to root (user id 0)");
});

test("root switches to the owner of the directory, with its group, before it writes anything", async () => {
  using folder = scratch();
  const owner = isRoot
    ? { uid: NOBODY, gid: NOBODY - 1 }
    : { uid: process.getuid?.(), gid: process.getgid?.() };
  if (isRoot) chownSync(folder.path, NOBODY, NOBODY - 1);
  const [line] = await ended("open-directory", folder.path);
  expect(line).toStartWith(`${owner.uid} ${owner.gid} `);
  expect(await ended("serve", folder.path)).toEqual(["serving", "stopped"]);
  expect(statSync(join(folder.path, "server.lock"))).toMatchObject(owner);
});

test("root keeps none of its groups after it switched to the owner", async () => {
  using folder = scratch();
  if (isRoot) chownSync(folder.path, NOBODY, NOBODY - 1);
  const [line = ""] = await ended("open-directory", folder.path);
  const groups = isRoot ? String(NOBODY - 1) : (process.getgroups?.().join(",") ?? "");
  expect(line.split(" ")[2]).toBe(groups);
});

test.if(isRoot)("root of a container that may not change its user is refused", async () => {
  using folder = scratch();
  chownSync(folder.path, NOBODY, NOBODY);
  const wrapper = ["unshare", "--map-root-user"];
  const { lines } = await startChild("open-directory", [folder.path], { wrapper }).ended();
  expect(lines[0]).toStartWith("data_dir.not_writable: ");
});

test("a server that cannot write its record releases the lock", () => {
  using folder = scratch();
  const directory = openDataDirectory(folder.path);
  const obstacle = `${directory.lock}.holder`;
  mkdirSync(obstacle);
  expect(() => lockForServer(directory, heldClock())).toThrow("EISDIR");
  rmSync(obstacle, { recursive: true });
  lockForServer(directory, heldClock()).release();
});

test("refuses a second server and names the first one", async () => {
  using folder = scratch();
  const first = startChild("serve", [folder.path]);
  expect(await first.line()).toBe("serving");
  const [line] = await ended("serve", folder.path);
  expect(line).toStartWith("data_dir.in_use: ");
  expect(line).toContain(`process ${first.pid}, since 20`);
  first.goOn();
  expect(await first.line()).toBe("stopped");
  expect(await ended("serve", folder.path)).toEqual(["serving", "stopped"]);
});

test("exactly one of two servers that start together serves", async () => {
  using folder = scratch();
  const both = [startChild("serve", [folder.path]), startChild("serve", [folder.path])];
  const lines = await Promise.all(both.map((child) => child.line()));
  expect(lines.filter((line) => line === "serving")).toHaveLength(1);
  expect(lines.filter((line) => line?.startsWith("data_dir.in_use"))).toHaveLength(1);
  for (const child of both) child.goOn();
  await Promise.all(both.map((child) => child.ended()));
});

test("a killed server leaves no lock behind", async () => {
  using folder = scratch();
  const first = startChild("serve", [folder.path]);
  expect(await first.line()).toBe("serving");
  first.kill();
  await first.ended();
  const directory = openDataDirectory(folder.path);
  expect(isServerRunning(directory)).toBe(false);
  lockForServer(directory, heldClock()).release();
});

test("other processes see whether a server runs, and checking does not prevent a start", async () => {
  using folder = scratch();
  const directory = openDataDirectory(folder.path);
  expect(isServerRunning(directory)).toBe(false);
  expect(existsSync(directory.lock)).toBe(false);
  const server = startChild("serve", [folder.path]);
  expect(await server.line()).toBe("serving");
  expect(isServerRunning(directory)).toBe(true);
  expect(await ended("is-server-running", folder.path)).toEqual(["true"]);
  server.goOn();
  await server.ended();
  expect(isServerRunning(directory)).toBe(false);
});

test("the lock file and the record of its holder are readable by their owner only", () => {
  using folder = scratch();
  const directory = openDataDirectory(folder.path);
  const lock = lockForServer(directory, heldClock());
  expect([modeOf(directory.lock), modeOf(`${directory.lock}.holder`)]).toEqual([0o600, 0o600]);
  lock.release();
  expect(existsSync(`${directory.lock}.holder`)).toBe(false);
});
