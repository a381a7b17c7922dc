// Creating the archive of a commit in a process: the same bytes and refusals as in this process, the time limit, and
// the error about a killed process.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createRepackProcesses } from "../../../src/app/installation/connections/mirroring.ts";
import { REPACK_ARGUMENT } from "../../../src/app/sources/repack-argument.ts";
import {
  hostFileIn,
  mirrorFileIn,
  type RunRepack,
  repack,
} from "../../../src/domain/catalog/mirroring/repack.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { processesIn } from "../../../src/platform/process-liveness.ts";
import { productCommand, SHORT_LIVED } from "../../support/cli/executable.ts";
import { tarEntry, tarFile, tarGzOf } from "../../support/content/tar.ts";
import { temporaryDirectory } from "../../support/world.ts";

let directory: string;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => rmSync(directory, { recursive: true }));

const inProcess = createRepackProcesses();
const signal = () => AbortSignal.timeout(60_000);

async function made(name: string, run: RunRepack, archive: Uint8Array, limit = signal()) {
  const folder = join(directory, name);
  mkdirSync(folder);
  writeFileSync(hostFileIn(folder), archive);
  const repacked = await run({ folder, path: "", skipLinks: false }, { signal: limit });
  return { repacked, bytes: readFileSync(mirrorFileIn(folder)) };
}

const reasonOf = (attempt: Promise<unknown>) =>
  attempt.then(
    () => "made",
    (error: unknown) => (error instanceof DomainError ? [error.reason, error.problems.length] : error),
  );

test("a process makes the same archive", async () => {
  const archive = tarGzOf(tarFile("a/skills/SKILL.md", "text".repeat(50_000)), tarFile("a/run", "x"));
  expect(await made("process", inProcess, archive)).toEqual(await made("here", repack, archive));
});

test("a process refuses the same entries", async () => {
  const archive = tarGzOf(tarFile("a/b"), tarEntry({ name: "a/link", type: "2", linkName: "b" }));
  expect(await reasonOf(made("link", inProcess, archive))).toEqual(["archive.link", 1]);
});

test("a process is ended at its time limit", async () => {
  const archive = tarGzOf(tarFile("a/b"));
  const [reason] = [await reasonOf(made("late", inProcess, archive, AbortSignal.abort()))].flat();
  expect(reason).toBe("source.unfinished");
});

test.each(["", "null", "{}", '{"folder":"/"}', JSON.stringify({ folder: "/absent" })])(
  "a process that is started by hand with %p makes nothing, and names the command",
  (input) => {
    const started = Bun.spawnSync([...productCommand(), REPACK_ARGUMENT], {
      cwd: directory,
      env: SHORT_LIVED,
      stdin: Buffer.from(input),
    });
    expect([started.exitCode, started.stdout.toString()]).toEqual([2, ""]);
    expect(started.stderr.toString()).toEndWith("quartermaster artifacts create --help\n");
    expect(readdirSync(directory)).toEqual([]);
  },
);

test("a killed process counts as an interruption, and the next one works", async () => {
  const archive = tarGzOf(tarFile("a/b"));
  const attempt = reasonOf(made("killed", inProcess, archive));
  let [pid] = processesIn(join(directory, "killed"));
  while (pid === undefined) {
    await Bun.sleep(1);
    [pid] = processesIn(join(directory, "killed"));
  }
  process.kill(pid, "SIGKILL");
  expect(await attempt).toEqual(["source.interrupted", 0]);
  expect(await reasonOf(made("next", inProcess, archive))).toBe("made");
});
