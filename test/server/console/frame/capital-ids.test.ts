// UUIDs are case-insensitive (RFC 9562 section 4), so addresses with ids in capitals open the same pages and records.
import { afterAll, expect, test } from "bun:test";
import { createClientsWorld } from "../../../domain/clients/clients-world.ts";
import { reportWith } from "../../../domain/clients/policies.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
const { domain, world, organizationId } = site;
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const ana = await site.signedIn("member", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
await publishFirst(site);
await site.request("POST", "/client-status", {
  token: ana.accessToken,
  body: reportWith({ instance_id: "lab-1", hostname: "lab-1" }),
});
const client = domain.clients.inventory.find(organizationId, "lab-1").id;
const revision = domain.governance.revisions.inForce(organizationId).id;
const { invitation } = await domain.identity.invitations.create(world.system, {
  email: "new@example.com",
  role: "member",
});
const { view: token } = await domain.scim.tokens.create(world.system, { label: "entra", profile: "entra" });
const saved = await site.request("POST", "/me/console/views", {
  token: admin.accessToken,
  body: { name: "one", path: "/console/users", query: "role=admin", shared: false },
});
const view: string = (await saved.json()).views[0].id;

test.each([
  [`/console/users/${ana.user.id}`],
  [`/console/users/${ana.user.id}/suspend`],
  [`/console/clients/${client}`],
  [`/console/clients?revision=${revision}`],
  [`/console/policy/history/${revision}`],
  [`/console/policy/rollout/${revision}`],
  [`/console/policy/diff?from=${revision}&to=${revision}`],
  [`/console/policy/explain?user=ana%40example.com&harness=codex&revision=${revision}`],
  [`/console/invitations/${invitation.id}/cancel`],
  [`/console/identity/tokens/${token.id}/revoke`],
  [`/console/logins/${ana.loginSessionId}`],
  [`/console/logins?user_id=${ana.user.id}`],
  [`/console/me/views/${view}/remove`],
])("%s opens with its id in capitals", async (address) => {
  const capitals = address.replace(/[0-9a-f-]{36}/g, (id) => id.toUpperCase());
  expect(capitals).not.toBe(address);
  const [one, other] = [await browser.visit(address), await browser.visit(capitals)];
  expect([one.status, other.status, other.heading]).toEqual([200, 200, one.heading]);
});

test.each([
  ["GET", `/admin/users/${ana.user.id}`],
  ["GET", `/admin/invitations/${invitation.id}`],
  ["GET", `/admin/governance-config/revisions/${revision}`],
  ["GET", `/admin/client-status/${client}`],
  ["POST", `/admin/users/${ana.user.id}/sessions/revoke`],
  ["POST", `/admin/users/${ana.user.id}/password-link`],
  ["POST", `/admin/invitations/${invitation.id}/resend`],
  ["DELETE", `/admin/invitations/${invitation.id}`],
  ["DELETE", `/admin/users/${ana.user.id}`],
])("%s %s is found by its id in capitals", async (method, path) => {
  const capitals = path.replace(/[0-9a-f-]{36}/, (id) => id.toUpperCase());
  const { status } = await site.request(method, capitals, { token: admin.accessToken });
  expect(Math.floor(status / 100)).toBe(2);
});

test("a form under an id in capitals changes the object, and the audit log has the stored id", async () => {
  const { user } = await site.signedIn("member", { email: "bob@example.com" });
  const path = `/console/users/${user.id.toUpperCase()}/suspend`;
  const page = await browser.visit(path);
  const [form] = page.forms.filter(({ action }) => action?.endsWith("/suspend"));
  const done = await browser.submit(formTo(page, form?.action ?? path), {});
  expect([done.path, done.status]).toEqual([`/console/users/${user.id}`, 200]);
  expect(domain.identity.users.show(organizationId, user.id).status).toBe("suspended");
  expect(domain.auditLog.list(organizationId, { target: user.id }).items[0]?.action).toBe("user.update");
});
