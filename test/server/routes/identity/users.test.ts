// Tests user management over HTTP: statuses, bodies against the documented schemas, limits, and the order of the guards.
import { describe, expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import {
  AdminUser,
  AdminUserPage,
  ChangedAdminUser,
  SELECTED_USERS_MAX,
} from "../../../../src/domain/identity/model.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { organizations, users } from "../../../../src/domain/identity/tables.ts";
import { PER_PAGE_MAX, SEARCH_LENGTH_MAX } from "../../../../src/domain/shared/page.ts";
import { createOutbound } from "../../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { CLIENT_SECRET, createLyingProvider } from "../../../support/provider/lying-provider.ts";
import {
  BASE_URL,
  type Caller,
  createTestServer,
  PASSWORD,
  type Sent,
  type TestServer,
} from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

/** A server and an administrator who calls it. */
async function createAdministration() {
  const server = await sameServer();
  const admin = await server.signedIn("admin", { email: "admin@example.com" });
  const send = (method: string, path: string, body?: unknown) =>
    server.request(method, path, { token: admin.accessToken, ...(body !== undefined && { body }) });
  const add = async (email: string, row: Partial<typeof users.$inferInsert> = {}) => {
    const account = { email, role: "member", password: new Secret(PASSWORD) };
    const { user } = await server.domain.identity.users.create(server.world.system, account);
    await change(server, user, row);
    return user;
  };
  return { ...server, admin, send, add };
}

async function change({ world }: TestServer, user: User, row: Partial<typeof users.$inferInsert>) {
  if (Object.keys(row).length === 0) return;
  await world.db.write((tx) => void tx.update(users).set(row).where(eq(users.id, user.id)).run(), "access");
}

const reasonOf = async (response: Response): Promise<string> =>
  `${response.status} ${(await response.json()).reason}`;

const isIn = async ({ request }: TestServer, sent: Sent): Promise<boolean> =>
  (await request("GET", "/auth/me", sent)).status === 200;

const credentialsOf = ({ accessToken, cookie }: Caller): Sent[] => [{ token: accessToken }, { cookie }];

describe("the list", () => {
  test("shows users by address, in pages and in the documented shape", async () => {
    const server = await createAdministration();
    for (const email of ["Zoe@example.com", "ben@example.com"]) await server.add(email);
    const response = await server.send("GET", "/admin/users?per_page=2");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(response.headers.get("cache-control")).toBe("no-store");
    const page = await response.json();
    expect([...Value.Errors(AdminUserPage, page)]).toEqual([]);
    const { items, ...envelope } = page;
    expect(envelope).toEqual({ page: 1, per_page: 2, total: 3, total_pages: 2 });
    expect(items.map(({ email }: { email: string }) => email)).toEqual([
      "admin@example.com",
      "ben@example.com",
    ]);
    const next = await (await server.send("GET", "/admin/users?per_page=2&page=2")).json();
    expect(next.items).toHaveLength(1);
    expect((await (await server.send("GET", "/admin/users?page=9")).json()).items).toEqual([]);
  });

  test.each([
    ["", 4],
    ["?q=EXAMPLE.com", 4],
    ["?q=%20ben%20", 1],
    ["?q=%25", 0],
    ["?q=%20", 4],
    ["?role=admin", 1],
    ["?status=removed", 1],
    ["?status=active", 2],
    ["?provisioning_source=scim", 1],
    ["?role=member&status=suspended", 1],
  ])("filtered by %p has %d users", async (query, total) => {
    const server = await createAdministration();
    await server.add("ben@example.com", { status: "suspended" });
    await server.add("eva@example.com", { status: "removed" });
    await server.add("kim@example.com", { provisioningSource: "scim" });
    expect(await (await server.send("GET", `/admin/users${query}`)).json()).toMatchObject({ total });
  });

  const LONGEST = "q".repeat(SEARCH_LENGTH_MAX);
  test.each([
    ["page=0", 400],
    ["page=1", 200],
    ["page=-1", 400],
    ["page=1.5", 400],
    ["page=1e1", 400],
    ["page=", 400],
    ["page=x", 400],
    ["page=90071992547409", 200],
    ["page=90071992547410", 400],
    ["page=99999999999999999999", 400],
    ["per_page=0", 400],
    ["per_page=1", 200],
    [`per_page=${PER_PAGE_MAX - 1}`, 200],
    [`per_page=${PER_PAGE_MAX}`, 200],
    [`per_page=${PER_PAGE_MAX + 1}`, 400],
    [`q=${LONGEST.slice(1)}`, 200],
    [`q=${LONGEST}`, 200],
    [`q=%20${LONGEST}%20`, 200],
    [`q=${LONGEST}q`, 400],
    ["role=owner", 400],
    ["status=Active", 400],
    ["provisioning_source=ldap", 400],
    ["rolle=admin", 400],
  ])("requested with %s is answered %d", async (query, status) => {
    const server = await createAdministration();
    expect((await server.send("GET", `/admin/users?${query}`)).status).toBe(status);
  });
});

describe("the options", () => {
  test("lists all users that are not removed", async () => {
    const server = await createAdministration();
    await server.add("ben@example.com", { status: "suspended" });
    await server.add("eva@example.com", { status: "removed" });
    const options = await (await server.send("GET", "/admin/users/options")).json();
    expect(options.map(({ email }: { email: string }) => email)).toEqual([
      "admin@example.com",
      "ben@example.com",
    ]);
    for (const option of options) expect(Value.Check(AdminUser, option)).toBe(true);
  });

  test("include the selected users first and then the matching active ones", async () => {
    const server = await createAdministration();
    const ben = await server.add("ben@example.com", { status: "suspended" });
    await server.add("kim@example.com");
    const search = async (body: unknown) =>
      (await (await server.send("POST", "/admin/users/options", body)).json()).map(
        ({ email }: { email: string }) => email,
      );
    expect(await search({})).toEqual(["admin@example.com", "kim@example.com"]);
    expect(await search({ q: " KIM", selected_user_ids: [ben.id] })).toEqual([
      "ben@example.com",
      "kim@example.com",
    ]);
  });

  const ids = (count: number) => Array.from({ length: count }, () => UNKNOWN_ID);
  const CASES: [body: unknown, status: number][] = [
    [{ q: "q".repeat(SEARCH_LENGTH_MAX) }, 200],
    [{ q: "q".repeat(SEARCH_LENGTH_MAX + 1) }, 400],
    [{ selected_user_ids: ids(SELECTED_USERS_MAX - 1) }, 200],
    [{ selected_user_ids: ids(SELECTED_USERS_MAX) }, 200],
    [{ selected_user_ids: ids(SELECTED_USERS_MAX + 1) }, 400],
    [{ selected_user_ids: [`urn:uuid:${UNKNOWN_ID}`] }, 422],
    [{ selected_user_ids: null }, 422],
    [{ q: null }, 422],
    [{ query: "x" }, 422],
  ];
  test.each(CASES)("limits the options, case %#", async (body, status) => {
    const server = await createAdministration();
    expect((await server.send("POST", "/admin/users/options", body)).status).toBe(status);
  });
});

describe("one user", () => {
  test("is shown in the documented shape", async () => {
    const server = await createAdministration();
    const ben = await server.add("ben@example.com");
    const response = await server.send("GET", `/admin/users/${ben.id}`);
    const user = await response.json();
    expect([...Value.Errors(AdminUser, user)]).toEqual([]);
    expect(user).toMatchObject({ id: ben.id, email: "ben@example.com", active: true, managed: false });
    expect(Object.keys(user).sort()).toEqual(Object.keys(AdminUser.properties).sort());
  });

  const WAYS: [method: string, suffix: string, body: unknown][] = [
    ["GET", "", undefined],
    ["PATCH", "", { role: "admin" }],
    ["DELETE", "", undefined],
    ["POST", "/sessions/revoke", undefined],
  ];
  test.each(WAYS)("refuses an unknown or malformed id: %s %s", async (method, suffix, body) => {
    const server = await createAdministration();
    const send = (id: string) => server.send(method, `/admin/users/${id}${suffix}`, body);
    expect(await reasonOf(await send(UNKNOWN_ID))).toBe("404 user.not_found");
    expect(await reasonOf(await send("x"))).toBe("400 request.invalid");
    expect(await reasonOf(await send(`${UNKNOWN_ID}0`))).toBe("400 request.invalid");
  });

  test("answers 404 for a user of another organization", async () => {
    const server = await createAdministration();
    const ben = await server.add("ben@example.com");
    await server.world.db.write((tx) => {
      tx.insert(organizations).values({ id: "other", name: "Other", createdAtMs: 0 }).run();
    });
    await change(server, ben, { organizationId: "other" });
    expect((await server.send("GET", `/admin/users/${ben.id}`)).status).toBe(404);
    expect((await server.send("DELETE", `/admin/users/${ben.id}`)).status).toBe(404);
  });
});

describe("a change", () => {
  test("returns the changed role and ends every login of the user", async () => {
    const server = await createAdministration();
    const ben = await server.signedIn("member");
    for (const sent of credentialsOf(ben)) expect(await isIn(server, sent)).toBe(true);
    const response = await server.send("PATCH", `/admin/users/${ben.user.id}`, { role: "admin" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ id: ben.user.id, role: "admin", status: "active" });
    for (const sent of credentialsOf(ben)) expect(await isIn(server, sent)).toBe(false);
  });

  test("ends every login, also after a change to the same values", async () => {
    const server = await createAdministration();
    const ben = await server.signedIn("member");
    await server.send("PATCH", `/admin/users/${ben.user.id}`, { role: "member" });
    for (const sent of credentialsOf(ben)) expect(await isIn(server, sent)).toBe(false);
  });

  test.each([
    ["canceled_invitations", { role: "member" }, 1],
    ["canceled_invitations", { status: "suspended" }, 1],
    ["no count", { role: "admin" }, undefined],
  ])("answers the change of an administrator with %s for %j", async (_member, body, canceled) => {
    const server = await createAdministration();
    const ben = await server.signedIn("admin");
    const invitation = { email: "eve@example.com", role: "admin" };
    const sent = await server.request("POST", "/admin/invitations", {
      token: ben.accessToken,
      body: invitation,
    });
    const answer = await (await server.send("PATCH", `/admin/users/${ben.user.id}`, body)).json();
    expect(Value.Check(ChangedAdminUser, answer)).toBe(true);
    expect(answer.canceled_invitations).toBe(canceled);
    const { id } = await sent.json();
    const shown = await (await server.send("GET", `/admin/invitations/${id}`)).json();
    expect(shown.status).toBe(canceled === undefined ? "pending" : "canceled");
  });

  test("suspends and resumes, and earlier logins stay ended", async () => {
    const server = await createAdministration();
    const ben = await server.signedIn("member");
    const patch = async (status: string) =>
      await (await server.send("PATCH", `/admin/users/${ben.user.id}`, { status })).json();
    expect(await patch("suspended")).toMatchObject({ active: false, status: "suspended" });
    expect(await patch("active")).toMatchObject({ active: true, status: "active" });
    for (const sent of credentialsOf(ben)) expect(await isIn(server, sent)).toBe(false);
    expect(await isIn(server, { token: (await server.signInAgain(ben.user)).accessToken })).toBe(true);
  });

  const WRONG: [body: unknown, outcome: string][] = [
    [{}, "400 identity.invalid"],
    [{ role: "owner" }, "400 identity.invalid"],
    [{ status: "removed" }, "400 identity.invalid"],
    [{ role: "admin", status: "gone" }, "400 identity.invalid"],
    [{ role: null }, "422 request.invalid"],
    [{ role: "admin", email: "x@example.com" }, "422 request.invalid"],
    [[], "422 request.invalid"],
  ];
  test.each(WRONG)("refuses a change to %j: %s", async (body, outcome) => {
    const server = await createAdministration();
    const ben = await server.add("ben@example.com");
    expect(await reasonOf(await server.send("PATCH", `/admin/users/${ben.id}`, body))).toBe(outcome);
  });
});

describe("the guards in order of precedence", () => {
  type Row = Partial<typeof users.$inferInsert>;
  const GUARDS: [name: string, row: Row, outcomes: Record<string, string>][] = [
    [
      "a removed user",
      { status: "removed", protected: true, provisioningSource: "scim" },
      { PATCH: "409 user.removed", DELETE: "204", POST: "409 user.removed" },
    ],
    [
      "the protected administrator",
      { role: "admin", protected: true, provisioningSource: "scim" },
      { PATCH: "409 user.protected", DELETE: "409 user.protected", POST: "204" },
    ],
    [
      "a user of the identity provider",
      { provisioningSource: "scim" },
      { PATCH: "409 user.managed", DELETE: "409 user.managed", POST: "204" },
    ],
    ["any other member", {}, { PATCH: "200", DELETE: "204", POST: "204" }],
  ];

  async function outcomesOf(
    server: Awaited<ReturnType<typeof createAdministration>>,
    id: string,
  ): Promise<Record<string, string>> {
    const patch = await server.send("PATCH", `/admin/users/${id}`, { role: "member" });
    const revoke = await server.send("POST", `/admin/users/${id}/sessions/revoke`);
    const remove = await server.send("DELETE", `/admin/users/${id}`);
    const outcome = async (response: Response) =>
      response.status < 300 ? String(response.status) : await reasonOf(response);
    return { PATCH: await outcome(patch), POST: await outcome(revoke), DELETE: await outcome(remove) };
  }

  test.each(GUARDS)("apply to %s", async (_name, row, outcomes) => {
    const server = await createAdministration();
    const user = await server.add("ben@example.com", row);
    expect(await outcomesOf(server, user.id)).toEqual(outcomes);
  });

  test("refuse changes to the caller's own account before its protection, and let it end its own logins", async () => {
    const server = await createAdministration();
    const { user } = server.admin;
    await change(server, user, { protected: true });
    const path = `/admin/users/${user.id}`;
    expect(await reasonOf(await server.send("PATCH", path, { role: "member" }))).toBe("409 user.own_account");
    expect(await reasonOf(await server.send("DELETE", path))).toBe("409 user.own_account");
    expect((await server.send("POST", `${path}/sessions/revoke`)).status).toBe(204);
    expect((await server.send("GET", path)).status).toBe(401);
  });

  test("validate the body before they load the user", async () => {
    const server = await createAdministration();
    const outcome = await reasonOf(await server.send("PATCH", `/admin/users/${UNKNOWN_ID}`, {}));
    expect(outcome).toBe("400 identity.invalid");
  });
});

describe("a removal", () => {
  test("revokes access, keeps the record, and can be repeated", async () => {
    const server = await createAdministration();
    const ben = await server.signedIn("member");
    for (const _again of [1, 2]) {
      const response = await server.send("DELETE", `/admin/users/${ben.user.id}`);
      expect(response.status).toBe(204);
      expect(await response.text()).toBe("");
    }
    for (const sent of credentialsOf(ben)) expect(await isIn(server, sent)).toBe(false);
    const user = await (await server.send("GET", `/admin/users/${ben.user.id}`)).json();
    expect(user).toMatchObject({ status: "removed", active: false, email: ben.user.email });
  });
});

test("ending every login leaves the account unchanged", async () => {
  const server = await createAdministration();
  const ben = await server.signedIn("member");
  expect((await server.send("POST", `/admin/users/${ben.user.id}/sessions/revoke`)).status).toBe(204);
  for (const sent of credentialsOf(ben)) expect(await isIn(server, sent)).toBe(false);
  const user = await (await server.send("GET", `/admin/users/${ben.user.id}`)).json();
  expect(user).toMatchObject({ status: "active", role: "member" });
});

test("SSO-1 the identity status shows the provider, why its last sign-in failed, and no secret", async () => {
  const gone = "http://127.0.0.1:9"; // the discard port, on which nothing listens
  await using idp = await createLyingProvider();
  const settings = idp.settings({ issuer: gone, providerId: "corp" });
  await using server = await createTestServer({
    sso: () => settings,
    outbound: createOutbound({ allowed: [{ name: "identity-provider", origin: gone, why: "sign-in" }] }),
  });
  const { accessToken: token } = await server.signedIn("admin");
  const status = async () =>
    (await (await server.request("GET", "/admin/identity/status", { token })).json()).oidc;
  const configured = {
    configured: true,
    issuer: gone,
    provider_id: "corp",
    provider_name: "Example ID",
    provisioning: "invited",
    redirect_uri: `${BASE_URL}/api/auth/callback/corp`,
    last_success_at: null,
  };
  expect(await status()).toEqual({ ...configured, last_error_reason: null });
  await server.domain.sso.provider.begin({ redirectUri: "https://control.example.com/" }).catch(() => {});
  expect(await status()).toEqual({ ...configured, last_error_reason: "sso.provider_unreachable" });
  expect(JSON.stringify(await status())).not.toContain(CLIENT_SECRET);
});

test("the identity status shows the sign-in method and no secret", async () => {
  await using server = await createTestServer({
    identity: { mode: "oidc", groupRoleMappings: { Platform: "admin" } },
  });
  const { accessToken: token } = await server.signedIn("admin");
  const response = await server.request("GET", "/admin/identity/status", { token });
  expect(await response.json()).toEqual({
    auth_mode: "oidc",
    scim: { configured: true, group_role_mappings: { Platform: "admin" } },
    oidc: {
      configured: false,
      issuer: null,
      provider_id: null,
      provider_name: null,
      provisioning: null,
      redirect_uri: null,
      last_error_reason: null,
      last_success_at: null,
    },
  });
});
