// The compiled executable for the tests in test/binary: built once per test process, however many files ask for it.
import { existsSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../src/platform/build.ts";

// Named after the process: test files do not share modules, and another test run must not share the folder.
const PREFIX = "quartermaster-executable-";
const directory = join(tmpdir(), `${PREFIX}${process.pid}`);

/** @returns the path of the executable: of the one that a test handed to its child, else the first call builds it in some seconds */
export function builtExecutable(): string {
  const { QUARTERMASTER_TEST_EXECUTABLE: given } = process.env;
  if (given) return given;
  const executable = join(directory, "quartermaster");
  if (existsSync(executable)) return executable;
  removeLeftovers();
  build({ directory });
  return executable;
}

/** The test runner tells nobody when it ends, so the next run removes what the last one left. */
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
