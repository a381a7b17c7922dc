// The limits of a running service, read from a real process.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { checkOf } from "../../../src/app/doctor/finding.ts";
import { formerFindings, limitFindings } from "../../../src/app/doctor/inference.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { SLOTS_VARIABLE, slotsIn } from "../../../src/platform/outbound/request-slots.ts";
import { factsOf, type ProcessFacts } from "../../../src/platform/programs/process-facts.ts";

let child: Bun.Subprocess;
beforeAll(() => {
  child = Bun.spawn(["sh", "-c", "ulimit -n 100; read -r _"], {
    env: { [SLOTS_VARIABLE]: "266" },
    stdin: "pipe",
  });
});
afterAll(async () => {
  child.kill();
  await child.exited;
});

const config = loadConfig({ flags: { gatewayProxyMaxInFlight: "10" }, env: {}, cwd: import.meta.dir });
const found = (facts: ProcessFacts | undefined) =>
  limitFindings(checkOf("inference"), facts, config).map(({ result, remedy }) => [result, remedy]);

test("INF-61 doctor reports a service whose limits of requests or open files are too low for its settings", () => {
  const enough = { environment: { [SLOTS_VARIABLE]: "266" }, openFilesMax: 1044 };
  expect(found(enough)).toEqual([["ok", null]]);
  expect(found({ environment: {}, openFilesMax: 1043 })).toEqual([
    ["failed", expect.stringContaining(`${SLOTS_VARIABLE}=266`)],
    ["failed", expect.stringContaining("LimitNOFILE=1044")],
  ]);
  expect(found({ ...enough, environment: { [SLOTS_VARIABLE]: "265" } })[0]?.[0]).toBe("failed");
  expect(found(undefined)).toEqual([["skipped", null]]);
});

test("variables of another proxy are named with the settings that replace them", () => {
  const env = { HARNESS_PROXY_MAX_IN_FLIGHT: "7500" };
  const here = loadConfig({ flags: {}, env, cwd: import.meta.dir });
  const facts = { environment: { HARNESS_PROXY_CACHE_CAPACITY: "1" }, openFilesMax: 1 };
  expect(formerFindings(checkOf("inference"), facts, here)).toEqual([
    {
      check: "inference",
      result: "warning",
      detail: "HARNESS_PROXY_MAX_IN_FLIGHT has no effect here",
      remedy: "use gateway.proxy.max_in_flight instead",
    },
    expect.objectContaining({ remedy: "remove it; no setting replaces it" }),
  ]);
  expect(formerFindings(checkOf("inference"), undefined, config)).toEqual([]);
});

test("reads the facts of a running process, but not of an ended one", async () => {
  while (factsOf(child.pid)?.openFilesMax !== 100) await Bun.sleep(1); // until the shell has set its limit
  expect(slotsIn(factsOf(child.pid)?.environment ?? {})).toBe(266);
  const gone = Bun.spawn(["true"]);
  await gone.exited;
  expect(factsOf(gone.pid)).toBeUndefined();
});
