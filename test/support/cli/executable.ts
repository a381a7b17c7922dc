// The compiled executable, which tests start wherever they need a process: built once per test run, however many files and workers
// need it. It starts three times as fast as the sources, and it is what people run.
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../../src/app/release/build.ts";

/** The test run is the parent process of the workers, or the only process: another run must not share the folder. */
const RUN = process.env.BUN_TEST_WORKER_ID === undefined ? process.pid : process.ppid;
const PREFIX = "quartermaster-executable-";
const directory = join(tmpdir(), `${PREFIX}${RUN}`);
const executable = join(directory, "quartermaster");
const BUILD_LIMIT_MS = 120_000;
const CHECK_EVERY_MS = 50;

/**
 * Variables for child processes that end within a second. The optimizing compiler would use a third of their processor
 * time for code that is finished too late to run. Processes whose speed is tested need that compiler: OPTIMIZED. The
 * test script turns off the slowest compiler for the same reason, but only in the test runner.
 */
export const SHORT_LIVED = { BUN_JSC_useDFGJIT: "0" } as const;
export const OPTIMIZED = { BUN_JSC_useDFGJIT: "1" } as const;

/** Set for a test run inside a test, which cannot detect that it belongs to the outer run: airgap.test.ts. */
const GIVEN = process.env.QUARTERMASTER_TEST_EXECUTABLE;

/** @returns the path of the executable; the first call builds it, which takes some seconds */
export function builtExecutable(): string {
  if (GIVEN !== undefined) return GIVEN;
  if (existsSync(executable)) return executable;
  removeLeftovers();
  const deadline = performance.now() + BUILD_LIMIT_MS;
  while (!existsSync(executable)) {
    if (isFirst()) buildOrLeave();
    else if (performance.now() > deadline) throw new Error("the build of another worker did not end");
    else Bun.sleepSync(CHECK_EVERY_MS); // no code of this worker can run in the meantime, as during a build
  }
  return executable;
}

/** A failed or timed-out build leaves no folder, so the next test builds again. */
function buildOrLeave(): void {
  try {
    build({ directory });
  } catch (error) {
    rmSync(directory, { recursive: true });
    throw error;
  }
}

/** @returns the product as a command */
export const productCommand = (): readonly string[] => [builtExecutable()];

function isFirst(): boolean {
  try {
    mkdirSync(directory);
    return true;
  } catch {
    return false;
  }
}

/** Test runs have no end event, so the next run removes the files of the last one. */
function removeLeftovers(): void {
  for (const name of readdirSync(tmpdir())) {
    if (name.startsWith(PREFIX) && !isRunning(Number(name.slice(PREFIX.length))))
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isRunning(processId: number): boolean {
  try {
    return process.kill(processId, 0);
  } catch {
    return false;
  }
}
