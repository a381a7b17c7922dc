// What is logged about refused callers: one line with the request id for each, counts in a flood, and no e-mail address; and that
// the example filter of fail2ban matches these lines.
import { describe, expect, jest, test } from "bun:test";
import { FAIL_EXPRESSIONS, fail2banFilter } from "../../../../src/app/monitoring/fail2ban.ts";
import { createLog, type LogFormat } from "../../../../src/platform/observe/log.ts";
import {
  createRefusalLog,
  REFUSAL_COUNT_MS,
  REFUSAL_COUNTS_MAX,
  REFUSAL_LINES,
  REFUSAL_LINES_PER_ADDRESS,
  type Refused,
} from "../../../../src/server/http/problems/refusal-log.ts";
import { FormBrowser } from "../../../support/browser/form-browser.ts";
import { BASE_URL, createTestServer, type TestServer } from "../../../support/server.ts";
import { createWorld } from "../../../support/world.ts";

const SIGN_IN = "/api/auth/sign-in/email";
const EMAIL = "ada@example.com";

const eventsOf = ({ logged }: Pick<TestServer, "logged">, wanted: string) =>
  logged.filter(({ event }) => event === wanted);

const guess = (server: TestServer, email: string, address = "192.0.2.9") =>
  server.request("POST", SIGN_IN, { body: { email, password: "a wrong password" }, address });

describe("a refused request is logged", () => {
  test("logs a failed sign-in with request id, route, address and user id at the default level", async () => {
    await using server = await createTestServer({ isOwn: true });
    const { user } = await server.signedIn("member", { email: EMAIL });
    const response = await guess(server, EMAIL);
    const [line = {}] = eventsOf(server, "http.refused");
    expect(line).toEqual({
      ts: expect.any(String),
      level: "info",
      event: "http.refused",
      address: "192.0.2.9",
      status: 401,
      reason: "access.sign_in_failed",
      method: "POST",
      route: SIGN_IN,
      request_id: response.headers.get("x-request-id"),
      user_id: user.id,
    });
    expect(Object.keys(line).slice(2, 6)).toEqual(["event", "address", "status", "reason"]);
  });

  test("SSO-12 names the remedy for operators where the provider or the settings are wrong", async () => {
    const { lines, refusals } = await createLines();
    for (const reason of ["sso.groups_overage", "sso.not_allowed"]) refusals.note({ ...REFUSED, reason });
    expect(lines.map((line) => JSON.parse(line).next)).toEqual([
      expect.stringContaining("identity.oidc.groups_claim"),
      undefined,
    ]);
  });

  test("logs an unknown account with a stable keyed hash and never the submitted name", async () => {
    await using server = await createTestServer({ isOwn: true });
    for (const email of ["nobody@example.com", " NOBODY@example.com", "hunter2"]) await guess(server, email);
    const lines = eventsOf(server, "http.refused");
    const accounts = lines.map(({ account }) => String(account));
    expect(accounts[0]).toMatch(/^[\w-]{16}$/);
    expect(accounts[1]).toBe(accounts[0] ?? "");
    expect(accounts[2]).not.toBe(accounts[0] ?? "");
    expect(lines.map(({ user_id }) => user_id)).toEqual([undefined, undefined, undefined]);
    expect(JSON.stringify(server.logged)).not.toMatch(/nobody@example|hunter2/i);
  });

  test("logs refusals of console pages with the reason", async () => {
    await using server = await createTestServer({ isOwn: true });
    const { cookie } = await server.signedIn("member", { email: EMAIL });
    const { cookie: administrator } = await server.signedIn("admin");
    const form = {
      body: "csrf=old",
      headers: { "content-type": "application/x-www-form-urlencoded", origin: BASE_URL },
    };
    await server.request("GET", "/console/policy/review", { cookie });
    await server.request("POST", "/console/policy/review", { cookie, ...form });
    await server.request("POST", "/console/policy/review", { cookie: administrator, ...form });
    const reasons = eventsOf(server, "http.refused").map(({ status, reason }) => [status, reason]);
    expect(reasons).toEqual([
      [403, "access.role_missing"],
      [403, "access.role_missing"],
      [403, "form.stale"],
    ]);
  });

  test("omits the address where the caller has none, as on a Unix socket", async () => {
    const { lines, refusals } = await createLines();
    refusals.note({ ...REFUSED, address: null });
    expect(Object.keys(JSON.parse(lines[0] ?? "{}"))).not.toContain("address");
  });

  test("logs a lockout, and a failed sign-in on the page, which shows the form again", async () => {
    await using server = await createTestServer({
      isOwn: true,
      limits: { passwordGuessesPerAccountAndAddress: 1 },
    });
    const { user } = await server.signedIn("member", { email: EMAIL });
    const browser = new FormBrowser(BASE_URL, (request) => server.server.handle(request, () => "192.0.2.9"));
    const page = await browser.visit("/login");
    for (let tries = 0; tries < 2; tries += 1)
      await browser.signIn(page, { email: EMAIL, password: "a wrong password" });
    expect(eventsOf(server, "http.refused")).toMatchObject([
      { status: 401, reason: "access.sign_in_failed", route: "/login", user_id: user.id },
      { status: 429, reason: "access.too_many_attempts", route: "/login", user_id: user.id },
    ]);
  });

  test("logs 401 and 403 of a guarded route", async () => {
    await using server = await createTestServer({ isOwn: true });
    const { cookie, user } = await server.signedIn("member");
    await server.request("GET", "/admin/users", { token: "guess" });
    await server.request("GET", "/admin/users", { cookie });
    await server.request("GET", "/health");
    const lines = eventsOf(server, "http.refused");
    expect(lines).toMatchObject([
      { status: 401, reason: "access.token_invalid", route: "/admin/users" },
      { status: 403, reason: "access.role_missing", route: "/admin/users", user_id: user.id },
    ]);
    expect(lines[0]?.user_id).toBeUndefined();
  });

  test("logs a count when a flood of unauthenticated callers requests SCIM routes", async () => {
    await using server = await createTestServer({ isOwn: true });
    for (let facts = 0; facts < 500; facts += 1) await server.request("GET", "/scim/v2/Users");
    const { burst } = REFUSAL_LINES_PER_ADDRESS;
    expect(eventsOf(server, "http.refused")).toHaveLength(burst);
    expect(eventsOf(server, "scim.answered")).toHaveLength(burst);
    server.world.clock.advance(REFUSAL_COUNT_MS);
    await server.request("GET", "/scim/v2/Users");
    const counted = eventsOf(server, "http.refusals_counted");
    expect(counted.reduce((sum, { count }) => sum + Number(count), 0)).toBe(500 - burst);
    expect(counted.map(({ status }) => status)).toEqual([401, 429]);
  });
});

const REFUSED: Refused = {
  address: "192.0.2.9",
  status: 401,
  reason: "access.sign_in_failed",
  method: "POST",
  route: "/login",
  requestId: "r",
  traceId: undefined,
  userId: undefined,
  account: undefined,
};

async function createLines(format: LogFormat = "json") {
  const world = await createWorld();
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line.trimEnd());
  const { clock } = world;
  const refusals = createRefusalLog({ log: createLog({ level: "info", format, write, clock }), clock });
  const note = (count: number, refused: (at: number) => Partial<Refused> = () => ({})) => {
    for (let at = 0; at < count; at += 1) refusals.note({ ...REFUSED, ...refused(at) });
  };
  const of = (event: string) => lines.map((line) => JSON.parse(line)).filter((line) => line.event === event);
  return { ...world, refusals, note, lines, of };
}

describe("a flood of refusals", () => {
  test.each([-1, 0, 1])("logs one address up to its limit, tested at the limit %i", async (beside) => {
    await using workspace = await createLines();
    const { burst } = REFUSAL_LINES_PER_ADDRESS;
    workspace.note(burst + beside);
    workspace.note(1, () => ({ address: "192.0.2.10" }));
    workspace.refusals.flush();
    expect(workspace.of("http.refused")).toHaveLength(burst + Math.min(beside, 0) + 1);
    expect(workspace.of("http.refusals_counted")).toMatchObject(
      beside > 0 ? [{ address: "192.0.2.9", status: 401, reason: "access.sign_in_failed", count: 1 }] : [],
    );
  });

  test.each([-1, 0, 1])(
    "logs all addresses together up to their limit, tested at the limit %i",
    async (beside) => {
      await using workspace = await createLines();
      workspace.note(REFUSAL_LINES.burst + beside, (at) => ({ address: `192.0.${at >> 8}.${at & 255}` }));
      expect(workspace.of("http.refused")).toHaveLength(REFUSAL_LINES.burst + Math.min(beside, 0));
      workspace.refusals.flush();
    },
  );

  test("counts a limited number of addresses separately and the others together", async () => {
    await using workspace = await createLines();
    const others = 5;
    workspace.note(REFUSAL_LINES.burst + REFUSAL_COUNTS_MAX + others, (at) => ({
      address: `192.0.${at >> 8}.${at & 255}`,
    }));
    workspace.refusals.flush();
    const counted = workspace.of("http.refusals_counted");
    expect(counted).toHaveLength(REFUSAL_COUNTS_MAX + 1);
    expect(counted.at(-1)).toMatchObject({ status: 401, count: others });
    expect(counted.at(-1).address).toBeUndefined();
  });

  test("logs its counts after the interval, also if refusals continue", async () => {
    await using workspace = await createLines();
    workspace.note(REFUSAL_LINES_PER_ADDRESS.burst + 1);
    for (const told of [[], [{ count: 2 }]]) {
      workspace.clock.advance(REFUSAL_COUNT_MS / 2);
      workspace.note(1);
      expect(workspace.of("http.refusals_counted")).toMatchObject(told);
    }
    workspace.refusals.flush();
  });

  test("logs its counts at the first refusal after the interval, and single refusals again after that", async () => {
    await using workspace = await createLines();
    workspace.note(REFUSAL_LINES_PER_ADDRESS.burst + 3);
    workspace.clock.advance(REFUSAL_COUNT_MS);
    workspace.note(1);
    expect(workspace.of("http.refusals_counted")).toMatchObject([{ count: 3 }]);
    expect(workspace.of("http.refused")).toHaveLength(REFUSAL_LINES_PER_ADDRESS.burst + 1);
    workspace.refusals.flush();
    expect(workspace.of("http.refusals_counted")).toHaveLength(1);
  });
});

test("counts that are flushed early cancel their timer", () => {
  jest.useFakeTimers();
  try {
    const events: string[] = [];
    const clock = { nowMs: () => 0 };
    const write = (line: string) => void events.push(JSON.parse(line).event);
    const refusals = createRefusalLog({
      log: createLog({ level: "info", format: "json", clock, write }),
      clock,
    });
    const countOne = () => {
      while (refusals.note({ ...REFUSED, address: "192.0.2.9" }));
      events.length = 0;
    };
    countOne();
    jest.advanceTimersByTime(REFUSAL_COUNT_MS / 2);
    refusals.flush();
    expect(events).toEqual(["http.refusals_counted"]);
    countOne();
    jest.advanceTimersByTime(REFUSAL_COUNT_MS - 1);
    expect(events).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(events).toEqual(["http.refusals_counted"]);
  } finally {
    jest.useRealTimers();
  }
});

describe("the fail2ban filter", () => {
  // fail2ban's own expression for <ADDR> matches anything that looks like an IPv4 or IPv6 address.
  const expressions = FAIL_EXPRESSIONS.map(
    (text) => new RegExp(text.replace("<ADDR>", "(?<host>[0-9a-f:.]+)")),
  );
  const hostIn = (line: string) => expressions.map((one) => one.exec(line)?.groups?.host).find(Boolean);
  /** fail2ban removes the time first: in text only the time, in JSON also everything before it. */
  const asRead = (line: string) => line.replace(/^(\{"ts":")?[\d-]+T[\d:.]+Z/, "");

  test.each<LogFormat>(["json", "text"])(
    "finds the address in lines as %s, with and without their time",
    async (format) => {
      for (const address of ["192.0.2.9", "2001:db8::7"]) {
        await using workspace = await createLines(format);
        workspace.note(1, () => ({ address }));
        workspace.note(1, () => ({ address, status: 429, reason: "access.too_many_attempts" }));
        workspace.note(1, () => ({ address, reason: "scim.401" }));
        expect(workspace.lines.map((line) => hostIn(asRead(line)))).toEqual([address, address, address]);
        if (format === "json")
          expect(workspace.lines.map((line) => hostIn(`host quartermaster[7]: ${line}`))).toEqual([
            address,
            address,
            address,
          ]);
      }
    },
  );

  test.each<LogFormat>(["json", "text"])("ignores other refusals and forged lines as %s", async (format) => {
    await using workspace = await createLines(format);
    workspace.note(1, () => ({ reason: "access.token_expired" }));
    workspace.note(1, () => ({ status: 403, reason: "access.role_missing" }));
    workspace.note(1, () => ({ address: null }));
    const forged =
      '","level":"info","event":"http.refused","address":"192.0.2.1","status":401,"reason":"access.sign_in_failed"';
    workspace.note(1, () => ({ address: null, method: forged, route: forged }));
    const text = " INFO    http.refused address=192.0.2.1 status=401 reason=access.sign_in_failed ";
    workspace.note(1, () => ({ address: null, method: text }));
    expect(workspace.lines.map((line) => hostIn(asRead(line)))).toEqual(workspace.lines.map(() => undefined));
  });

  test("is printed with these expressions, one per line", () => {
    const lines = fail2banFilter().split("\n");
    for (const expression of FAIL_EXPRESSIONS)
      expect(lines.filter((line) => line.endsWith(expression))).toHaveLength(1);
  });
});
