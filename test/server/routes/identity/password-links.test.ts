// Password links over HTTP: the link that is shown once, statuses, the documented shape, the limit.
import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import { eq } from "drizzle-orm";
import { PASSWORD_LINK_TTL_MS, toAdminUser } from "../../../../src/domain/identity/model.ts";
import { PasswordLinkDocument } from "../../../../src/domain/identity/password-links/password-links.ts";
import { users } from "../../../../src/domain/identity/tables.ts";
import { toRfc3339 } from "../../../../src/platform/clock.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { BASE_URL, createTestServer, type TestServerOptions } from "../../../support/server.ts";

const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";
const LINK = new RegExp(`^${BASE_URL}/set-password\\?token=([\\w-]{43})$`);

type Row = Partial<typeof users.$inferInsert>;

/** A server, an administrator who calls it, and Ben, who needs a password. */
async function createSite(options?: TestServerOptions) {
  const site = await createTestServer(options);
  const admin = await site.signedIn("admin", { email: "admin@example.com" });
  const ben = await site.signedIn("member", { email: "ben@example.com" });
  const give = (id = ben.user.id) =>
    site.request("POST", `/admin/users/${id}/password-link`, { cookie: admin.cookie });
  const setBen = (row: Row) =>
    site.world.db.write(
      (tx) => void tx.update(users).set(row).where(eq(users.id, ben.user.id)).run(),
      "access",
    );
  return { ...site, admin, ben, give, setBen };
}

const outcomeOf = async (response: Response): Promise<string> =>
  response.ok ? String(response.status) : `${response.status} ${(await response.json()).reason}`;

test("a link is returned once, with the user and its expiry, and is in no log", async () => {
  await using site = await createSite();
  const { world, domain, ben } = site;
  const response = await site.give();
  expect(response.status).toBe(201);
  expect(response.headers.get("cache-control")).toBe("no-store");
  const { password_url: url, ...document } = await response.json();
  expect([...Value.Errors(PasswordLinkDocument, document)]).toEqual([]);
  expect(document).toEqual({
    expires_at: toRfc3339(world.clock.nowMs() + PASSWORD_LINK_TTL_MS),
    user: toAdminUser(domain.identity.users.show(world.organizationId, ben.user.id)),
  });
  const [, secret = ""] = LINK.exec(url) ?? [];
  expect(domain.identity.passwordLinks.getUser(new Secret(secret))).toMatchObject({ id: ben.user.id });
  expect(JSON.stringify(site.logged)).not.toContain(secret);
  const [entry] = domain.auditLog.list(world.organizationId, { action: "user.password_link" }).items;
  expect(entry).toMatchObject({ actorId: site.admin.user.id, target: ben.user.id });
  expect(JSON.stringify(entry)).not.toContain(secret);
});

test("the refusals of a link have their statuses and reasons", async () => {
  await using site = await createSite();
  expect(await outcomeOf(await site.give("x"))).toBe("400 request.invalid");
  expect(await outcomeOf(await site.give(UNKNOWN_ID))).toBe("404 user.not_found");
  expect(await outcomeOf(await site.give(site.admin.user.id))).toBe("409 user.own_account");
  const cases: [row: Row, outcome: string][] = [
    [{ provisioningSource: "scim", passwordHash: null }, "201"],
    [{ status: "suspended" }, "409 user.suspended"],
    [{ protected: true }, "409 user.protected"],
    [{ status: "removed" }, "409 user.removed"],
  ];
  for (const [row, outcome] of cases) {
    await site.setBen(row);
    expect(await outcomeOf(await site.give())).toBe(outcome);
  }
});

test("a link is refused where users sign in at the identity provider", async () => {
  await using site = await createSite({ identity: { mode: "oidc" } });
  const response = await site.give();
  expect(response.status).toBe(409);
  expect(await response.json()).toMatchObject({
    reason: "user.password_unused",
    detail: expect.stringMatching(/identity\.mode is oidc.*quartermaster sso verify --claims/),
  });
});

test("an administrator may give a limited number of links, in addition to invitations", async () => {
  await using site = await createSite({ limits: { invitationsPerActor: 1 } });
  const invitation = { email: "eve@example.com", role: "member" };
  const sent = { cookie: site.admin.cookie, body: invitation };
  expect((await site.request("POST", "/admin/invitations", sent)).status).toBe(201);
  expect(await outcomeOf(await site.give())).toBe("201");
  const third = await site.give();
  expect(third.headers.get("retry-after")).toMatch(/^\d+$/);
  expect(await outcomeOf(third)).toBe("429 access.too_many_attempts");
});

test.each([
  ["of the user", ({ ben }: Awaited<ReturnType<typeof createSite>>) => ({ user_id: ben.user.id })],
  ["of everybody", () => ({ all: true })],
])("ending the logins %s voids the link", async (_, whose) => {
  await using site = await createSite();
  const { password_url: url } = await (await site.give()).json();
  const { pathname, search } = new URL(url);
  const status = async () => (await site.request("GET", pathname + search)).status;
  expect(await status()).toBe(200);
  const { cookie } = site.admin;
  const answer = await site.request("POST", "/admin/logins/revoke", { cookie, body: whose(site) });
  expect(answer.status).toBe(204);
  expect(await status()).not.toBe(200);
});
