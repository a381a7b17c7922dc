// The executable without a network: every task (journey.ts, airgap-journeys.ts) in a network namespace with nothing but loopback
// (AIR-2). Root is not needed, because the namespace comes with a user namespace.
import { test } from "bun:test";
import { join } from "node:path";
import { builtExecutable, SHORT_LIVED } from "../support/cli/executable.ts";

const ROOT = join(import.meta.dir, "../..");
const JOURNEYS = ["./test/binary/airgap-journeys.ts", "./test/binary/journey.ts"];
const INSIDE = ["unshare", "--map-root-user", "--net"];
const TEST = [
  process.execPath,
  "test",
  "--timeout",
  "60000",
  "--preload",
  "./test/support/network/loopback.ts",
];

const child = Bun.spawn([...INSIDE, ...TEST, ...JOURNEYS], {
  cwd: ROOT,
  env: { ...SHORT_LIVED, PATH: process.env.PATH, QUARTERMASTER_TEST_EXECUTABLE: builtExecutable() },
  stdin: "ignore",
  stdout: "pipe",
  stderr: "pipe",
});
const said = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
const exitCode = await child.exited;

test("AIR-2 CLI-19 the executable does all its work in a network namespace with only loopback", () => {
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}\n${said.join("")}`);
});

// The summary of a run names failed tests only by their titles, so the titles are descriptive.
for (const [, title] of said.join("\n").matchAll(/^\(fail\) (.+) \[.+\]$/gm)) {
  test(`inside the namespace: ${title}`, () => {
    throw new Error("the output of the run is in the failure above");
  });
}
