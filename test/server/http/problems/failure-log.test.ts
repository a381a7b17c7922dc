// What is logged about requests that failed with a server error, and that nobody can fill the log by overloading the service.
import { expect, test } from "bun:test";
import { createLog } from "../../../../src/platform/observe/log.ts";
import {
  createFailureLog,
  FAILURE_COUNT_MS,
  FAILURE_LINES,
} from "../../../../src/server/http/problems/failure-log.ts";
import { createTestServer } from "../../../support/server.ts";
import { createWorld } from "../../../support/world.ts";

const BUSY = { route: "/login", reason: "passwords.busy" };

/** @returns a failure log, and the event, the reason and the count of each line it wrote */
async function createFailures() {
  const world = await createWorld();
  const lines: unknown[][] = [];
  const log = createLog({
    format: "json",
    level: "info",
    clock: world.clock,
    write(line) {
      const { level, event, reason, count } = JSON.parse(line);
      lines.push([level, event, reason, count]);
    },
  });
  return { world, lines, failures: createFailureLog({ log, clock: world.clock }) };
}

test.each(["sso.callback_error", "sso.callback_issuer"])(
  "what only a browser reported is no error, because anybody can invent it: %s",
  async (reason) => {
    const { world, lines, failures } = await createFailures();
    await using _ = world;
    const reports = FAILURE_LINES.burst + 2;
    for (let at = 0; at < reports; at += 1) failures.note({ route: "/callback", reason }, { reason });
    failures.flush();
    expect(new Set(lines.slice(0, -1).map((line) => line.join(" ")))).toEqual(
      new Set([`warning http.failure_reported ${reason} `]),
    );
    expect(lines.at(-1)).toEqual(["warning", "http.reports_counted", reason, 2]);
  },
);

test.each([
  [FAILURE_LINES.burst - 1, 0],
  [FAILURE_LINES.burst, 0],
  [FAILURE_LINES.burst + 1, 1],
])("logs %i failures of one kind at once and only counts %i", async (failed, counted) => {
  const { world, lines, failures } = await createFailures();
  await using _ = world;
  for (let at = 0; at < failed; at += 1) failures.note(BUSY, { reason: BUSY.reason });
  failures.flush();
  const written = Array(failed - counted).fill(["error", "http.failed", BUSY.reason, undefined]);
  const count = ["error", "http.failures_counted", BUSY.reason, counted];
  expect(lines).toEqual(counted === 0 ? written : [...written, count]);
});

test("a flood of one kind does not suppress other kinds, and its counts are logged on time", async () => {
  const { world, lines, failures } = await createFailures();
  await using _ = world;
  for (let at = 0; at < FAILURE_LINES.burst + 500; at += 1) failures.note(BUSY, {});
  failures.note({ ...BUSY, reason: undefined }, {});
  expect(lines).toHaveLength(FAILURE_LINES.burst + 1);
  world.clock.advance(FAILURE_COUNT_MS);
  failures.note(BUSY, {});
  expect(lines.slice(FAILURE_LINES.burst + 1)).toEqual([
    ["error", "http.failures_counted", BUSY.reason, 500],
    ["error", "http.failed", undefined, undefined],
  ]);
});

test("sign-ins refused by a busy service do not flood the log", async () => {
  await using server = await createTestServer();
  const guesses = Array.from({ length: 300 }, (_, at) =>
    server.request("POST", "/api/auth/sign-in/email", {
      body: { email: `user-${at}@example.com`, password: "a wrong password" },
      address: `10.${at >> 8}.${at & 255}.7`,
    }),
  );
  const busy = (await Promise.all(guesses)).filter(({ status }) => status === 503);
  expect(busy.length).toBeGreaterThan(FAILURE_LINES.burst + 10);
  const lines = server.logged.filter(({ event }) => event === "http.failed");
  expect(lines.length).toBeLessThan(busy.length);
});
