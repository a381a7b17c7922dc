// The executable where no network is: every journey (journey.ts, airgap-journeys.ts) in a network namespace with nothing but
// loopback (AIR-2). No root is needed: the namespace comes with a user namespace.
import { test } from "bun:test";
import { join } from "node:path";
import { builtExecutable } from "../support/cli/executable.ts";

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

test("AIR-2 CLI-19 the executable does all its work in a network namespace with only loopback", async () => {
  const child = Bun.spawn([...INSIDE, ...TEST, ...JOURNEYS], {
    cwd: ROOT,
    env: { PATH: process.env.PATH, QUARTERMASTER_TEST_EXECUTABLE: builtExecutable() },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = await Promise.all([child.stdout, child.stderr].map((stream) => new Response(stream).text()));
  const exitCode = await child.exited;
  if (exitCode !== 0) throw new Error(`exit code ${exitCode}\n${said.join("")}`);
});
