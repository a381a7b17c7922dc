// Servers that the tests of a file use one after another, because creating one takes longer than most tests.
import { Database } from "bun:sqlite";
import { readdirSync } from "node:fs";
import { inspect } from "node:util";
import type { TestServer } from "../server.ts";
import { atEndOfFiles } from "./end-of-files.ts";
import { type KeptRows, keepRows } from "./kept-rows.ts";

interface Kept {
  server: TestServer;
  rows: KeptRows;
  /** names of all files at the start */
  names: string;
}

/** by the options that they were created with */
const idle = new Map<string, Kept[]>();
/** the test file that used them */
let leftBy = Bun.main;

async function endIdle(): Promise<void> {
  const kept = [...idle.values()].flat();
  idle.clear();
  for (const each of kept) await end(each);
}

atEndOfFiles(endIdle);

const { prepare } = Database.prototype;

/**
 * @returns whether servers with these options are interchangeable: no option is a function or an object with state, and
 * no test records compiled statements
 */
export const areAlike = (options: object): boolean =>
  Object.values(options).every(isPlain) && Database.prototype.prepare === prepare;

function isPlain(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return typeof value !== "function";
  return Object.getPrototypeOf(value) === Object.prototype && Object.values(value).every(isPlain);
}

/**
 * @param options areAlike
 * @returns a server with the rows, files, clock and empty log of a new one; its memory may have entries of earlier tests of this
 *   file. Disposing makes it available to the next test
 */
export async function lend(options: object, make: () => Promise<TestServer>): Promise<TestServer> {
  if (leftBy !== Bun.main) await endIdle();
  leftBy = Bun.main;
  const key = inspect(options, { depth: Number.POSITIVE_INFINITY });
  const kept = idle.get(key)?.pop() ?? keep(await make());
  let isBack = false;
  return {
    ...kept.server,
    async [Symbol.asyncDispose]() {
      if (isBack) return;
      isBack = true;
      if (!(await isLikeNew(kept))) return await end(kept);
      idle.set(key, [...(idle.get(key) ?? []), kept]);
    },
  };
}

const keep = (server: TestServer): Kept => ({
  server,
  rows: keepRows(server.world),
  names: namesIn(server.world.directory),
});

/** Restores everything. @returns whether that succeeded */
async function isLikeNew({ server, rows, names }: Kept): Promise<boolean> {
  const { domain, world, logged, provisionerCalls } = server;
  await domain.usage.flush();
  if (!(await rows.putBack()) || namesIn(world.directory) !== names) return false;
  logged.length = 0;
  provisionerCalls.length = 0;
  return true;
}

async function end({ server, rows }: Kept): Promise<void> {
  rows.forget();
  await server[Symbol.asyncDispose]();
}

const namesIn = (directory: string): string =>
  readdirSync(directory, { recursive: true, encoding: "utf8" }).sort().join("\n");
