// A first start that kills itself: `bun first-start-child.ts <data directory> <step>`. Each time it asks for an id, random bytes
// or the time counts as a step, which reaches every part of the start.

import { systemClock } from "../../src/platform/clock.ts";
import { loadConfig } from "../../src/platform/config/config.ts";
import { systemIds } from "../../src/platform/ids.ts";
import { setUp } from "../../src/setup.ts";

const [, , dataDir = "", last = ""] = process.argv;
let steps = 0;

function step<T>(answer: T): T {
  steps += 1;
  if (steps === Number(last)) process.kill(process.pid, "SIGKILL");
  return answer;
}

const flags = { dataDir, bootstrapAdminPassword: "correct horse battery" };
await setUp({
  config: loadConfig({ flags, env: {}, cwd: dataDir }),
  clock: { nowMs: () => step(systemClock.nowMs()) },
  ids: { uuid: () => step(systemIds.uuid()), bytes: (length) => step(systemIds.bytes(length)) },
  baseUrl: () => "",
  onBootstrap: () => step(undefined),
});
process.stdout.write(`${steps}\n`);
