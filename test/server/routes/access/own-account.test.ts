// Operations of users on their own logins, password and records through the API, and of administrators on everybody's logins.
// test/domain/access/logins/own-logins.test.ts tests the domain.
import { expect, test } from "bun:test";
import { LOGINS_PER_PAGE_MAX } from "../../../../src/domain/access/model.ts";
import { reportWith } from "../../../domain/clients/policies.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { publishFirst, publishPackages } from "../../../support/content/policy.ts";
import { type Caller, createTestServer, PASSWORD, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const NEXT = "an entirely new password";
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

/** @returns the response, with its body if it has one */
async function ask(
  { request }: TestServer,
  route: string,
  sent: Parameters<TestServer["request"]>[2] = {},
): Promise<{ status: number; body: Record<string, unknown>; cookies: string[] }> {
  const [method = "", path = ""] = route.split(" ");
  const response = await request(method, path, sent);
  const text = await response.text();
  return {
    status: response.status,
    body: text && JSON.parse(text),
    cookies: response.headers.getSetCookie(),
  };
}

const itemsOf = ({ body }: { body: Record<string, unknown> }): Record<string, unknown>[] =>
  Array.isArray(body.items) ? body.items : [];
const idsOf = (response: { body: Record<string, unknown> }) => itemsOf(response).map(({ id }) => id);

const changePassword = (
  server: TestServer,
  { cookie }: Pick<Caller, "cookie">,
  current = PASSWORD,
  next = NEXT,
) => ask(server, "POST /me/password", { cookie, body: { current_password: current, new_password: next } });

test("changing the password returns new cookies and invalidates the old one", async () => {
  const server = await sameServer();
  const ana = await server.signedIn("member");
  const other = await server.signInAgain(ana.user);
  const { status, body, cookies } = await changePassword(server, ana);
  expect([status, body]).toEqual([200, { login_sessions_ended: 1 }]);
  expect(cookies).toEqual([
    expect.stringMatching(
      /^__Secure-better-auth\.session_token=[\w-]{43}; Path=\/; Max-Age=43200; Secure; HttpOnly; SameSite=Lax$/,
    ),
    expect.stringMatching(/^__Host-quartermaster_device=/),
  ]);
  const [cookie = ""] = cookies[0]?.split(";") ?? [];
  const statusOf = async (sent: object) => (await ask(server, "GET /auth/me", sent)).status;
  expect(await statusOf({ cookie })).toBe(200);
  expect(await statusOf({ cookie: ana.cookie })).toBe(401);
  expect(await statusOf({ cookie: other.cookie })).toBe(401);
  expect(await statusOf({ token: other.accessToken })).toBe(200);
});

test("a refused password change states the reason and ends no login", async () => {
  const server = await sameServer();
  const ana = await server.signedIn("member");
  const outcome = async (current?: string, next?: string) => {
    const { status, body, cookies } = await changePassword(server, ana, current, next);
    expect(cookies).toEqual([]);
    return [status, body.reason];
  };
  expect(await outcome("a wrong password")).toEqual([403, "access.password_wrong"]);
  expect(await outcome(PASSWORD, "too short")).toEqual([400, "identity.invalid"]);
  expect(await outcome(PASSWORD, PASSWORD)).toEqual([400, "identity.invalid"]);
  for (let guess = 1; guess < 10; guess += 1) await outcome("a wrong password");
  expect(await outcome()).toEqual([429, "access.too_many_attempts"]);
  expect((await ask(server, "GET /auth/me", { cookie: ana.cookie })).status).toBe(200);
  expect(JSON.stringify(server.logged)).not.toContain(NEXT);
});

test("the list of logins marks the current one and contains no other user's", async () => {
  const server = await sameServer();
  const ana = await server.signedIn("member");
  await server.signedIn("member");
  const byBrowser = await ask(server, "GET /me/logins", { cookie: ana.cookie });
  const marked = itemsOf(byBrowser).map(({ kind, current, user }) => ({ kind, current, user }));
  const user = { id: ana.user.id, email: ana.user.email };
  expect(marked).toEqual([
    { kind: "grant", current: false, user },
    { kind: "login_session", current: true, user },
  ]);
  const byToken = await ask(server, "GET /me/logins", { token: ana.accessToken });
  expect(itemsOf(byToken).map(({ current }) => current)).toEqual([true, false]);
});

test("lists of logins are paginated", async () => {
  const server = await sameServer();
  const ana = await server.signedIn("admin");
  await server.signInAgain(ana.user);
  for (const path of ["/me/logins", "/admin/logins"]) {
    const all = idsOf(await ask(server, `GET ${path}`, { cookie: ana.cookie }));
    const read: unknown[] = [];
    let cursor = "";
    for (let pages = 0; pages < 4; pages += 1) {
      const page = await ask(server, `GET ${path}?limit=1${cursor}`, { cookie: ana.cookie });
      read.push(...idsOf(page));
      expect(page.body.next_cursor === null).toBe(pages === 3);
      cursor = `&cursor=${page.body.next_cursor}`;
    }
    expect(read).toEqual(all);
    const kinds = itemsOf(await ask(server, `GET ${path}?kind=grant`, { cookie: ana.cookie }));
    expect(kinds.map(({ kind }) => kind)).toEqual(["grant", "grant"]);
  }
});

test.each([
  ["limit=1", 200],
  [`limit=${LOGINS_PER_PAGE_MAX}`, 200],
  ["limit=0", 400],
  [`limit=${LOGINS_PER_PAGE_MAX + 1}`, 400],
  ["limit=1e1", 400],
  ["cursor=x", 400],
  ["kind=anything", 400],
])("a list requested with %s answers %d", async (query, status) => {
  const server = await sameServer();
  const { cookie } = await server.signedIn("admin");
  for (const path of ["/me/logins", "/admin/logins"])
    expect((await ask(server, `GET ${path}?${query}`, { cookie })).status).toBe(status);
});

test("a list of logins reports all invalid parameters together", async () => {
  const server = await sameServer();
  const { cookie } = await server.signedIn("admin");
  const query = "kind=x&show=x&user_id=x&cursor=x&limit=x";
  const { body } = await ask(server, `GET /admin/logins?${query}`, { cookie });
  expect(body).toMatchObject({ reason: "logins.invalid" });
  expect(JSON.stringify(body.errors)).toMatch(/kind.*show.*user_id.*cursor.*limit/);
});

test("ending the current login clears its cookie and ends its event stream", async () => {
  const server = await sameServer();
  await publishFirst(server);
  const ana = await server.signedIn("member");
  const stream = await server.request("GET", "/governance-config/events", { cookie: ana.cookie });
  expect(stream.status).toBe(200);
  const ended = await ask(server, `DELETE /me/logins/${ana.loginSessionId.toUpperCase()}`, {
    cookie: ana.cookie,
  });
  expect(ended.status).toBe(204);
  expect(ended.cookies).toEqual([
    expect.stringMatching(/^__Secure-better-auth\.session_token=; .*Max-Age=0/),
  ]);
  expect((await ask(server, "GET /auth/me", { cookie: ana.cookie })).status).toBe(401);
  await stream.text(); // it ends
});

test("CON-34 a browser ends all other logins of its user, and a token cannot", async () => {
  const server = await sameServer();
  const ana = await server.signedIn("member");
  const other = await server.signInAgain(ana.user);
  const bob = await server.signedIn("member");
  expect((await ask(server, "POST /me/logins/revoke-others", { token: ana.accessToken })).status).toBe(401);
  const { status, body } = await ask(server, "POST /me/logins/revoke-others", { cookie: ana.cookie });
  expect([status, body]).toEqual([
    200,
    { login_sessions: 1, grants: 2, device_logins: 0, password_links: 0 },
  ]);
  const me = (cookie: string) => ask(server, "GET /auth/me", { cookie });
  expect([(await me(ana.cookie)).status, (await me(other.cookie)).status]).toEqual([200, 401]);
  expect((await me(bob.cookie)).status).toBe(200);
});

test("changing the password ends the event streams of the other browsers", async () => {
  const server = await sameServer();
  await publishFirst(server);
  const ana = await server.signedIn("member");
  const other = await server.signInAgain(ana.user);
  const stream = await server.request("GET", "/governance-config/events", { cookie: other.cookie });
  expect((await changePassword(server, ana)).status).toBe(200);
  await stream.text(); // it ends
});

test("another user's login cannot be ended and is answered like an unknown one", async () => {
  const server = await sameServer();
  const [ana, eve] = [await server.signedIn("member"), await server.signedIn("admin")];
  for (const id of [ana.loginSessionId, UNKNOWN_ID]) {
    const { status, body } = await ask(server, `DELETE /me/logins/${id}`, { cookie: eve.cookie });
    expect([status, body.reason]).toEqual([404, "login.not_found"]);
  }
  expect((await ask(server, "GET /auth/me", { cookie: ana.cookie })).status).toBe(200);
  expect((await ask(server, "DELETE /me/logins/x", { cookie: eve.cookie })).status).toBe(400);
});

test("an administrator lists logins by user and ends one, those of a user, or all", async () => {
  const server = await sameServer();
  const [ana, bob, admin] = [
    await server.signedIn("member"),
    await server.signedIn("member"),
    await server.signedIn("admin"),
  ];
  const { cookie } = admin;
  const list = () => ask(server, `GET /admin/logins?user_id=${ana.user.id}`, { cookie });
  expect(idsOf(await list())).toHaveLength(2);
  const [grantId] = idsOf(await list());
  expect((await ask(server, `POST /admin/logins/${grantId}/revoke`, { cookie })).status).toBe(204);
  expect((await ask(server, "GET /auth/me", { token: ana.accessToken })).status).toBe(401);
  expect(idsOf(await list())).toEqual([ana.loginSessionId]);
  const all = await ask(server, `GET /admin/logins?user_id=${ana.user.id}&show=all&kind=grant`, { cookie });
  expect(itemsOf(all)).toEqual([expect.objectContaining({ state: "revoked" })]);
  expect((await ask(server, `POST /admin/logins/${UNKNOWN_ID}/revoke`, { cookie })).status).toBe(404);

  const revoke = (body: object) => ask(server, "POST /admin/logins/revoke", { cookie, body });
  expect((await revoke({ user_id: ana.user.id })).status).toBe(204);
  expect((await ask(server, "GET /auth/me", { cookie: ana.cookie })).status).toBe(401);
  expect((await ask(server, "GET /auth/me", { cookie: bob.cookie })).status).toBe(200);
  expect((await revoke({})).body.reason).toBe("logins.invalid");
  expect((await revoke({ user_id: bob.user.id, all: true })).body.reason).toBe("logins.invalid");
  expect((await revoke({ user_id: UNKNOWN_ID })).status).toBe(404);
  expect((await revoke({ all: true })).status).toBe(204);
  expect((await ask(server, "GET /auth/me", { cookie: bob.cookie })).status).toBe(401);
  expect((await ask(server, "GET /auth/me", { cookie })).status).toBe(401);
});

test("a user lists only their own workstations, in pages", async () => {
  const server = await sameServer();
  const [ana, eve] = [await server.signedIn("member"), await server.signedIn("member")];
  for (const { accessToken: token } of [ana, eve])
    await server.request("POST", "/client-status", { token, body: reportWith() });
  const { status, body } = await ask(server, "GET /me/clients?per_page=1", { cookie: ana.cookie });
  expect([status, body.total, body.per_page]).toEqual([200, 1, 1]);
  expect(itemsOf({ body })).toEqual([expect.objectContaining({ user_email: ana.user.email })]);
  expect((await ask(server, "GET /me/clients?per_page=101", { cookie: ana.cookie })).status).toBe(400);
});

test("a user's policy explanation omits packages of other audiences", async () => {
  const server = await sameServer();
  const [ana, eve] = [await server.signedIn("member"), await server.signedIn("member")];
  const path = "/me/policy/explain?harness=codex";
  expect((await ask(server, `GET ${path}`, { cookie: ana.cookie })).status).toBe(404);
  await publishFirst(server);
  await publishPackages(server, {
    packages: [packageOf("for-all"), packageOf("for-eve")],
    audiences: { "for-eve": [eve.user.id] },
  });
  const seen = async ({ cookie }: Caller) => {
    const { body } = await ask(server, `GET ${path}`, { cookie });
    const packages = Array.isArray(body.packages) ? body.packages : [];
    return packages.map(({ id, line }: { id: string; line: number }) => [id, line > 0]);
  };
  expect(await seen(ana)).toEqual([["for-all", true]]);
  expect(await seen(eve)).toEqual([
    ["for-all", true],
    ["for-eve", true],
  ]);
  const refusal = async (query: string) =>
    (await ask(server, `GET /me/policy/explain?${query}`, { cookie: ana.cookie })).body.reason;
  expect(await refusal("")).toBe("request.invalid");
  expect(await refusal("harness=codex&installed=x")).toBe("governance.bad_version");
});
