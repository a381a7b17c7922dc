// The browser session for programs, and the decision on a device login with JSON: statuses, cookies, and who is accepted.
import { describe, expect, test } from "bun:test";
import { budgets, deviceLogins } from "../../../../src/domain/access/tables.ts";
import type { TestServerOptions } from "../../../support/server.ts";
import { BASE_URL, createTestServer, PASSWORD, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const SIGN_IN = "/api/auth/sign-in/email";
const FOREIGN = { origin: "https://evil.example" };
const SESSION = "__Secure-better-auth.session_token";
const HTTP: TestServerOptions = { access: { baseUrl: () => "http://127.0.0.1:8080" } };

const signIn = (server: TestServer, credential: object, headers: Record<string, string> = {}) =>
  server.request("POST", SIGN_IN, { body: credential, headers });

async function addUser(server: TestServer, email = "ada@example.com") {
  const { user } = await server.signedIn("member", { email });
  return { user, credential: { email, password: PASSWORD } };
}

/** @returns name, value and attributes of the one cookie that a response sets */
function cookieOf(response: Response): Record<string, string | true> {
  const [text = "", ...more] = response.headers.getSetCookie();
  expect(more).toEqual([]);
  const [pair = "", ...attributes] = text.split("; ");
  const at = pair.indexOf("=");
  return {
    name: pair.slice(0, at),
    value: pair.slice(at + 1),
    ...Object.fromEntries(
      attributes.map((attribute) => attribute.split("=")).map(([k = "", v]) => [k, v ?? true]),
    ),
  };
}

describe("signing in with JSON", () => {
  test("returns the session's token and the user and sets the cookie", async () => {
    const server = await sameServer();
    const { user, credential } = await addUser(server);
    const response = await signIn(
      server,
      { ...credential, rememberMe: true, callbackURL: "/x" },
      { origin: BASE_URL },
    );
    expect(response.status).toBe(200);
    expect(response.headers.get("cache-control")).toBe("no-store");
    const body = await response.json();
    expect(body).toEqual({
      redirect: false,
      token: expect.stringMatching(/^[\w-]{43}$/),
      user: {
        id: user.id,
        email: user.email,
        name: user.email,
        emailVerified: true,
        organizationId: user.organizationId,
        governanceRole: "member",
        createdAt: expect.any(String),
        updatedAt: expect.any(String),
      },
    });
    expect(cookieOf(response)).toEqual({
      name: SESSION,
      value: body.token,
      Path: "/",
      "Max-Age": "43200",
      HttpOnly: true,
      SameSite: "Lax",
      Secure: true,
    });
  });

  test("sets the cookie under its plain name and without Secure on http", async () => {
    await using server = await createTestServer(HTTP);
    const { credential } = await addUser(server);
    const response = await signIn(server, credential);
    expect(cookieOf(response)).toEqual({
      name: "better-auth.session_token",
      value: expect.stringMatching(/^[\w-]{43}$/),
      Path: "/",
      "Max-Age": "43200",
      HttpOnly: true,
      SameSite: "Lax",
    });
  });

  test("does not reveal accounts: unknown, wrong password, suspended and without password are answered alike", async () => {
    const server = await sameServer();
    const { world, domain } = server;
    const { credential } = await addUser(server);
    const suspended = await addUser(server, "sue@example.com");
    await domain.identity.users.update(world.system, suspended.user.id, { status: "suspended" });
    const attempts = [
      { ...credential, password: "a wrong password" },
      { email: "nobody@example.com", password: PASSWORD },
      { email: "no address at all", password: PASSWORD },
      suspended.credential,
    ];
    const responses = [];
    for (const attempt of attempts) {
      const response = await signIn(server, attempt);
      const { request_id, ...body } = await response.json();
      expect(request_id).toBe(response.headers.get("x-request-id"));
      response.headers.delete("x-request-id");
      responses.push({ status: response.status, headers: [...response.headers], body });
    }
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({
      status: 401,
      body: { reason: "access.sign_in_failed", code: "access.sign_in_failed", message: expect.any(String) },
    });
  });

  test("limits guesses alike for an account that exists and one that does not", async () => {
    await using server = await createTestServer({ limits: { passwordGuessesPerAccountAndAddress: 2 } });
    await addUser(server);
    const statuses = async (email: string) => {
      const seen = [];
      for (let guess = 0; guess < 3; guess += 1) {
        seen.push((await signIn(server, { email, password: "a wrong password" })).status);
      }
      return seen;
    };
    expect(await statuses("ada@example.com")).toEqual([401, 401, 429]);
    expect(await statuses("nobody@example.com")).toEqual([401, 401, 429]);
  });

  test("is refused to everyone except the protected administrator while an identity provider is configured", async () => {
    await using server = await createTestServer({ access: { identityMode: "oidc" } });
    const { credential } = await addUser(server);
    const response = await signIn(server, credential);
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({
      reason: "access.password_sign_in_off",
      error: expect.any(String),
    });
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test("refuses a page of another site, with and without a cookie", async () => {
    const server = await sameServer();
    const { credential } = await addUser(server);
    expect((await signIn(server, credential, FOREIGN)).status).toBe(403);
    expect((await signIn(server, credential, { "sec-fetch-site": "cross-site" })).status).toBe(403);
    expect((await signIn(server, credential)).status).toBe(200);
  });

  test("reports all problems of a body together", async () => {
    const server = await sameServer();
    const response = await signIn(server, { email: 1, rememberMe: "yes", more: true });
    expect(response.status).toBe(422);
    const { errors } = await response.json();
    expect(errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual([
      "/email",
      "/password",
      "/rememberMe",
    ]);
  });
});

describe("reading the session", () => {
  test("returns null without a session, and for an unknown or expired cookie", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    const ask = async (sent: object) => {
      const response = await server.request("GET", "/api/auth/get-session", sent);
      expect(response.status).toBe(200);
      return await response.json();
    };
    expect(await ask({})).toBeNull();
    expect(await ask({ cookie: `${SESSION}=unknown` })).toBeNull();
    server.world.clock.advance(43_200_000);
    expect(await ask({ cookie })).toBeNull();
  });

  test.each<[string, string, TestServerOptions, string, string]>([
    ["https", "with the prefix", {}, SESSION, "better-auth.session_token"],
    ["http", "without a prefix", HTTP, "better-auth.session_token", SESSION],
  ])("reads the cookie on %s only under its name %s", async (_scheme, _spelling, options, name, other) => {
    await using server = await createTestServer(options);
    const { sessionToken } = await server.signedIn("member");
    const outcomes = async (cookie: string) => {
      const [session, me, page] = await Promise.all(
        ["/api/auth/get-session", "/auth/me", "/console/me"].map((path) =>
          server.request("GET", path, { cookie }),
        ),
      );
      return [(await session?.json()) !== null, me?.status, page?.status];
    };
    expect(await outcomes(`${name}=${sessionToken}`)).toEqual([true, 200, 200]);
    expect(await outcomes(`${other}=${sessionToken}`)).toEqual([false, 401, 303]);
    expect(await outcomes(`${other}=unknown; ${name}=${sessionToken}`)).toEqual([true, 200, 200]);
  });

  test("returns the session and its user", async () => {
    const server = await sameServer();
    const { cookie, user, loginSessionId, sessionToken } = await server.signedIn("admin");
    const response = await server.request("GET", "/api/auth/get-session", { cookie });
    expect(response.headers.getSetCookie()).toEqual([]);
    expect(await response.json()).toEqual({
      session: {
        id: loginSessionId,
        userId: user.id,
        token: sessionToken,
        expiresAt: "2026-01-01T12:00:00.000Z",
        createdAt: "2026-01-01T00:00:00.000Z",
        updatedAt: "2026-01-01T00:00:00.000Z",
      },
      user: expect.objectContaining({ id: user.id, email: user.email, governanceRole: "admin" }),
    });
  });

  test.each(["/api/auth/get-session", "/auth/me", "/device", "/admin/package-catalog"])(
    "renews the cookie to its full lifetime after an hour of use, also at %s",
    async (path) => {
      const server = await sameServer();
      const { cookie, sessionToken } = await server.signedIn("admin");
      const ask = () => server.request("GET", path, { cookie });
      server.world.clock.advance(3_599_999);
      expect((await ask()).headers.getSetCookie()).toEqual([]);
      server.world.clock.advance(1);
      expect(cookieOf(await ask())).toMatchObject({ name: SESSION, value: sessionToken, "Max-Age": "43200" });
      await server.world.db.write(() => undefined);
      expect((await ask()).headers.getSetCookie()).toEqual([]);
    },
  );
});

describe("signing out with JSON", () => {
  test("ends the session, clears the cookie, and leaves the workstation signed in", async () => {
    const server = await sameServer();
    const { cookie, accessToken } = await server.signedIn("member");
    const response = await server.request("POST", "/api/auth/sign-out", {
      cookie,
      body: {},
      headers: { origin: BASE_URL },
    });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ success: true });
    expect(cookieOf(response)).toMatchObject({ name: SESSION, value: "", "Max-Age": "0" });
    expect((await server.request("GET", "/auth/me", { cookie })).status).toBe(401);
    expect((await server.request("GET", "/auth/me", { token: accessToken })).status).toBe(200);
  });

  test("clears the cookie even when its renewal is due", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    server.world.clock.advance(3_600_000);
    const response = await server.request("POST", "/api/auth/sign-out", { cookie });
    expect(cookieOf(response)).toMatchObject({ value: "", "Max-Age": "0" });
  });

  test("succeeds without a session, and refuses a page of another site", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    const leave = (sent: object) => server.request("POST", "/api/auth/sign-out", sent);
    expect((await leave({})).status).toBe(200);
    expect((await leave({ cookie, headers: FOREIGN })).status).toBe(403);
    expect((await server.request("GET", "/auth/me", { cookie })).status).toBe(200);
  });
});

test("the login method is the same for every address", async () => {
  const server = await sameServer();
  await addUser(server);
  for (const email of ["ada@example.com", "nobody@example.com", ""]) {
    const response = await server.request("POST", "/api/login-method", { body: { email } });
    expect([response.status, await response.json()]).toEqual([200, { method: "password" }]);
  }
});

test.each([
  "sign-up/email",
  "organization/invite-member",
  "organization/cancel-invitation",
  "organization/remove-member",
  "organization/update-member-role",
  "admin/set-role",
])("%s is disabled, also for an administrator", async (path) => {
  const server = await sameServer();
  const { cookie, accessToken } = await server.signedIn("admin");
  for (const caller of [{}, { cookie }, { token: accessToken }]) {
    const response = await server.request("POST", `/api/auth/${path}`, { ...caller, body: {} });
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ reason: "access.closed", error: expect.any(String) });
  }
});

interface Login {
  link: string;
  userCode: string;
}

async function begin(server: TestServer): Promise<Login> {
  const request = { clientId: "blue-cli", address: null };
  const { linkToken, userCode } = await server.domain.access.deviceLogins.request(request);
  return { link: `/api/device/${linkToken}`, userCode };
}

describe("deciding a device login by its link", () => {
  test("shows the code, accepts one decision, and is then used up", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    const { link, userCode } = await begin(server);
    const shown = await server.request("GET", link, { cookie });
    expect(shown.status).toBe(200);
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect(shown.headers.get("pragma")).toBe("no-cache");
    expect(await shown.json()).toEqual({ user_code: userCode, status: "pending" });
    const approve = () => server.request("POST", link, { cookie, body: { action: "approve" } });
    const first = await approve();
    expect([first.status, await first.json()]).toEqual([200, { success: true }]);
    const second = await approve();
    expect(second.status).toBe(400);
    expect(await second.json()).toMatchObject({
      reason: "device_login.unavailable",
      error: expect.any(String),
    });
    expect((await server.request("GET", link, { cookie })).status).toBe(400);
  });

  test("needs a browser session: a missing credential and a workstation's token are refused before the link is read", async () => {
    const server = await sameServer();
    const { accessToken } = await server.signedIn("admin");
    const { link } = await begin(server);
    for (const path of [link, "/api/device/bad"]) {
      for (const caller of [{}, { token: accessToken }, { cookie: `${SESSION}=unknown` }]) {
        expect((await server.request("GET", path, caller)).status).toBe(401);
        expect((await server.request("POST", path, { ...caller, body: { action: "approve" } })).status).toBe(
          401,
        );
      }
    }
  });

  test("is refused for an unknown action, an invalid link, an unopened login, and another account's login", async () => {
    const server = await sameServer();
    const [one, other] = [await server.signedIn("member"), await server.signedIn("member")];
    const { link } = await begin(server);
    const decide = async (path: string, cookie: string, action = "approve") => {
      const response = await server.request("POST", path, { cookie, body: { action } });
      return [response.status, (await response.json()).reason];
    };
    expect(await decide(link, one.cookie, "maybe")).toEqual([400, "device_login.decision"]);
    expect(await decide("/api/device/bad", one.cookie)).toEqual([400, "device_login.unavailable"]);
    expect(await decide(link, one.cookie)).toEqual([400, "device_login.unclaimed"]);
    await server.request("GET", link, { cookie: one.cookie });
    expect(await decide(link, other.cookie)).toEqual([400, "device_login.claimed"]);
    expect((await server.request("GET", link, { cookie: other.cookie })).status).toBe(400);
    expect(await decide(link, one.cookie, "deny")).toEqual([200, undefined]);
  });

  test("accepts a missing origin and refuses a foreign one", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    const { link } = await begin(server);
    await server.request("GET", link, { cookie });
    const approve = async (headers: Record<string, string>) =>
      (await server.request("POST", link, { cookie, body: { action: "approve" }, headers })).status;
    expect(await approve(FOREIGN)).toBe(403);
    expect(await approve({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await approve({})).toBe(200);
  });
});

describe("deciding a device login by its user code", () => {
  const routes = [["approve"], ["deny"]] as const;

  test.each(routes)(
    "%s accepts the code once in any spelling, and then refuses it in OAuth format",
    async (action) => {
      const server = await sameServer();
      const { cookie } = await server.signedIn("member");
      const { userCode } = await begin(server);
      const typed = `${userCode.slice(0, 4)}-${userCode.slice(4)}`.toLowerCase();
      const shown = await server.request("GET", `/api/auth/device?user_code=${typed}`, { cookie });
      expect([shown.status, await shown.json()]).toEqual([200, { user_code: userCode, status: "pending" }]);
      const decide = () =>
        server.request("POST", `/api/auth/device/${action}`, { cookie, body: { userCode: typed } });
      const first = await decide();
      expect([first.status, await first.json()]).toEqual([200, { success: true }]);
      const second = await decide();
      expect(second.status).toBe(400);
      expect(await second.json()).toMatchObject({ error: "invalid_request" });
    },
  );

  test("gives the same response for an unknown, an expired, a decided and another user's code", async () => {
    const server = await sameServer();
    const [one, other] = [await server.signedIn("member"), await server.signedIn("member")];
    const { access } = server.domain;
    const expired = await begin(server);
    server.world.clock.advance(600_000);
    const [taken, decided] = [await begin(server), await begin(server)];
    await access.deviceLogins.claimByUserCode(other.actor, taken.userCode);
    const decision = { decision: "refuse", loginSessionId: one.loginSessionId } as const;
    await access.deviceLogins.decideByUserCode(one.actor, { ...decision, userCode: decided.userCode });
    const responses = [];
    for (const code of ["ABCDEFGH", "nonsense", expired.userCode, taken.userCode, decided.userCode]) {
      const response = await server.request("GET", `/api/auth/device?user_code=${code}`, {
        cookie: one.cookie,
      });
      responses.push({ status: response.status, body: await response.json() });
    }
    expect(new Set(responses.map((response) => JSON.stringify(response))).size).toBe(1);
    expect(responses[0]).toMatchObject({ status: 400, body: { error: "invalid_request" } });
  });

  test("does not count as a guess when a page of another site sends the request", async () => {
    const server = await sameServer();
    const { cookie } = await server.signedIn("member");
    const { userCode, link } = await begin(server);
    const budgetsBefore = server.world.db.read.select().from(budgets).all();
    for (const path of [`/api/auth/device?user_code=${userCode}`, link]) {
      const refused = await server.request("GET", path, {
        cookie,
        headers: { "sec-fetch-site": "cross-site" },
      });
      expect(refused.status).toBe(403);
    }
    expect(server.world.db.read.select().from(budgets).all()).toEqual(budgetsBefore);
    expect(server.world.db.read.select().from(deviceLogins).all()).toMatchObject([
      {},
      { userId: null, state: "pending" },
    ]);
  });

  test("needs a browser session and a code", async () => {
    const server = await sameServer();
    const { cookie, accessToken } = await server.signedIn("member");
    const ask = async (sent: object, query = "?user_code=ABCDEFGH") =>
      (await server.request("GET", `/api/auth/device${query}`, sent)).status;
    expect(await ask({})).toBe(401);
    expect(await ask({ token: accessToken })).toBe(401);
    expect(await ask({ cookie }, "")).toBe(400);
  });
});
