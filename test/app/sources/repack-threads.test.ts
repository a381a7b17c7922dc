// Creating the archive of a commit in a thread: the same bytes and the same refusals as without a thread, and an end at the time
// limit.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRepackThreads } from "../../../src/app/sources/repack-threads.ts";
import {
  hostFileIn,
  mirrorFileIn,
  type RunRepack,
  repack,
} from "../../../src/domain/catalog/mirroring/repack.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { tarEntry, tarFile, tarGzOf } from "../../support/content/tar.ts";
import { temporaryDirectory } from "../../support/world.ts";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

const inThread = createRepackThreads();
const signal = () => AbortSignal.timeout(60_000);

async function made(name: string, run: RunRepack, archive: Uint8Array, limit = signal()) {
  const folder = join(directory, name);
  mkdirSync(folder);
  writeFileSync(hostFileIn(folder), archive);
  const { facts, skipped } = await run({ folder, path: "", skipLinks: false }, { signal: limit });
  return { facts, skipped, bytes: readFileSync(mirrorFileIn(folder)) };
}

const reasonOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "made",
    (error: unknown) => (error instanceof DomainError ? [error.reason, error.problems.length] : error),
  );

test("a thread makes the same archive", async () => {
  const archive = tarGzOf(tarFile("a/skills/SKILL.md", "text".repeat(50_000)), tarFile("a/run", "x"));
  expect(await made("thread", inThread, archive)).toEqual(await made("here", repack, archive));
});

test("a thread refuses the same entries", async () => {
  const archive = tarGzOf(tarFile("a/b"), tarEntry({ name: "a/link", type: "2", linkName: "b" }));
  expect(await reasonOf(made("link", inThread, archive))).toEqual(["archive.link", 1]);
});

test("a thread whose time is over is ended", async () => {
  const archive = tarGzOf(tarFile("a/b"));
  const [reason] = [await reasonOf(made("late", inThread, archive, AbortSignal.abort()))].flat();
  expect(reason).toBe("source.too_slow");
});
