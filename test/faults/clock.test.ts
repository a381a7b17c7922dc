// A clock that jumps by a day, forward and back, while the service runs: at every time all operations of people, workstations and
// identity providers work, and failures at another time lock nobody out for longer than their own window.
// platform/scheduler.test.ts tests jobs with a jumping clock, properties/gateway-keys.test.ts gateway keys.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { DAY_MS, SECOND_MS } from "../../src/platform/clock.ts";
import { publishFirst } from "../support/content/policy.ts";
import { createTestServer, PASSWORD, SCIM_TOKEN, type Sent, type TestServer } from "../support/server.ts";
import { START_MS } from "../support/world.ts";

const CLIENT = "client_id=blue-cli";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const EMAIL = "ana@example.com";
const WINDOW_SECONDS = 900;
const INTERVAL_SECONDS = 5;

interface Tokens {
  access_token: string;
  refresh_token: string;
}

let server: TestServer;
/** of a workstation that signed in before the first jump and stays signed in through all of them */
let lasting: Tokens;
let names = 0;

beforeAll(async () => {
  server = await createTestServer();
  await publishFirst(server);
  await server.signedIn("admin", { email: EMAIL });
  lasting = await logIn((await signIn()).cookie);
});
afterAll(() => server[Symbol.asyncDispose]());

/** Sends a request, and expects the status. */
async function ask(method: string, path: string, { status = 200, ...sent }: Sent & { status?: number }) {
  const response = await server.request(method, path, sent);
  const text = await response.text();
  expect([method, path, response.status, text]).toEqual([method, path, status, text]);
  return { headers: response.headers, text, json: () => JSON.parse(text) };
}

const form = (text: string): Sent => ({ body: text, headers: FORM });

async function signIn(): Promise<{ cookie: string }> {
  const body = { email: EMAIL, password: PASSWORD };
  const { headers } = await ask("POST", "/api/auth/sign-in/email", { body });
  return { cookie: headers.get("set-cookie")?.split(";")[0] ?? "" };
}

/** Runs a device login with a workstation and a browser. */
async function logIn(cookie: string): Promise<Tokens> {
  const scope = "scope=governance:read%20client-status:write%20offline_access";
  const login = (await ask("POST", "/api/auth/device/code", form(`${CLIENT}&${scope}`))).json();
  const poll = form(`${CLIENT}&grant_type=${DEVICE_GRANT}&device_code=${login.device_code}`);
  const pending = await ask("POST", "/api/auth/oauth2/token", { ...poll, status: 400 });
  expect(pending.json().error).toBe("authorization_pending");
  const link = `/api/device/${login.verification_uri_complete.split("/").at(-1)}`;
  await ask("GET", link, { cookie });
  await ask("POST", link, { cookie, body: { action: "approve" } });
  server.world.clock.advance(INTERVAL_SECONDS * SECOND_MS);
  return (await ask("POST", "/api/auth/oauth2/token", poll)).json();
}

async function refresh({ refresh_token }: Tokens): Promise<Tokens> {
  const fields = `${CLIENT}&grant_type=refresh_token&refresh_token=${refresh_token}`;
  return (await ask("POST", "/api/auth/oauth2/token", form(fields))).json();
}

/** Fetches the policy and reports; the inventory shows this report, and not an older or newer one. */
async function work({ access_token: token }: Tokens, cookie: string): Promise<void> {
  await ask("GET", "/governance-config", { token });
  const hostname = `lab-${names++}`;
  const report = {
    instance_id: "one",
    client_version: "1",
    platform: "linux",
    applied: true,
    files_ok: true,
  };
  await ask("POST", "/client-status", { token, body: { ...report, hostname }, status: 204 });
  expect((await ask("GET", "/admin/client-status", { cookie })).text).toContain(`"${hostname}"`);
}

/** The requests of an identity provider for one user. */
async function provision(): Promise<void> {
  const headers = { "content-type": "application/scim+json" };
  const userName = `worker-${names++}@example.com`;
  const schemas = ["urn:ietf:params:scim:schemas:core:2.0:User"];
  const sent = { token: SCIM_TOKEN, headers };
  const user = await ask("POST", "/scim/v2/Users", { ...sent, body: { schemas, userName }, status: 201 });
  const path = `/scim/v2/Users/${user.json().id}`;
  const change = {
    schemas: ["urn:ietf:params:scim:api:messages:2.0:PatchOp"],
    Operations: [{ op: "replace", path: "active", value: false }],
  };
  await ask("PATCH", path, { ...sent, body: change });
  expect((await ask("GET", path, sent)).json()).toMatchObject({ userName, active: false });
}

/** A login from before the jump either continues or says that it has ended, and is renewed without a person. */
async function goOn(cookie: string): Promise<void> {
  const response = await server.request("GET", "/governance-config", { token: lasting.access_token });
  expect([200, 401]).toContain(response.status);
  lasting = await refresh(lasting);
  await work(lasting, cookie);
}

describe.each([
  ["a day forward", DAY_MS],
  ["back to the right time", 0],
  ["a day back", -DAY_MS],
  ["forward to the right time", 0],
])("after the clock jumped %s", (_, offsetMs) => {
  let cookie: string;
  beforeAll(async () => {
    server.world.clock.set(START_MS + offsetMs);
    ({ cookie } = await signIn());
  });

  test("a workstation signs in, fetches its policy, reports and refreshes", async () => {
    const tokens = await logIn(cookie);
    await work(tokens, cookie);
    await work(await refresh(tokens), cookie);
  });

  test("a workstation that was signed in before the jump continues without user interaction", () =>
    goOn(cookie));

  test("an identity provider provisions", provision);

  test("administrators send invitations", async () => {
    const body = { email: `new-${names++}@example.com`, role: "member" };
    await ask("POST", "/admin/invitations", { cookie, body, status: 201 });
  });

  test("wrong guesses lock an account for one window, no matter how wrong the clock is", async () => {
    const guess = (password: string) =>
      server.request("POST", "/api/auth/sign-in/email", { body: { email: EMAIL, password } });
    while ((await guess("wrong")).status !== 429);
    const seconds = Number((await guess(PASSWORD)).headers.get("retry-after"));
    expect(seconds).toBeGreaterThan(0);
    expect(seconds).toBeLessThanOrEqual(WINDOW_SECONDS);
  });

  test("the cleanup job removes only expired rows", async () => {
    await server.domain.access.sweep(new AbortController().signal);
    await goOn((await signInAfterWindow()).cookie);
  });

  async function signInAfterWindow(): Promise<{ cookie: string }> {
    server.world.clock.advance(WINDOW_SECONDS * SECOND_MS);
    return await signIn();
  }
});

test("the audit log stays intact, and no internal error is logged", async () => {
  expect(await server.domain.auditLog.verify()).toMatchObject({ broken: undefined });
  expect(server.logged.filter(({ level }) => level === "error")).toEqual([]);
});
