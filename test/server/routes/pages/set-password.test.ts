// The pages of a password link in a browser without scripts.
import { expect, test } from "bun:test";
import { FormBrowser, formTo } from "../../../support/browser/form-browser.ts";
import { ADDRESS, createTestServer, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(() => createTestServer({ hasConsole: false }));
const PASSWORD = "a password from the link";
const ADA = { email: "ada@example.com", password: PASSWORD };

const browse = ({ server }: TestServer) =>
  new FormBrowser("http://localhost", (request) => server.handle(request, () => ADDRESS));

/** Ada is provisioned. @returns the path of a link for her */
async function linked({ domain, world }: TestServer) {
  const actor = { ...world.system, kind: "scim", label: "scim:okta" } as const;
  const known = domain.identity.findUserByEmail(world.db.read, world.organizationId, ADA.email);
  if (!known) await domain.scim.users.create({ actor, profile: "standard" }, { userName: ADA.email }, {});
  const { id } = domain.identity.users.find(world.organizationId, ADA.email);
  const operator = { ...world.system, kind: "operator" } as const;
  const { token } = await domain.identity.passwordLinks.create(operator, id);
  return { id, token, path: `/set-password?token=${token.reveal()}` };
}

test("lets a provisioned user set a password once and sign in with it", async () => {
  const site = await sameServer();
  const browser = browse(site);
  const { id, path, token } = await linked(site);
  const page = await browser.visit(`${path}&utm_source=mail`);
  expect(page.heading).toBe("Set a password");
  expect(page.html).toContain(ADA.email);
  const done = await browser.submit(formTo(page, "/set-password"), { password: PASSWORD });
  expect([done.path, done.heading]).toEqual(["/set-password/done", "Your password is set"]);
  expect((await browser.signIn(await browser.visit("/login"), ADA)).heading).toBe("Your account");
  expect((await browser.visit(path)).status).toBe(404);
  expect((await browser.submit(formTo(page, "/set-password"), { password: PASSWORD })).status).toBe(404);
  expect(JSON.stringify(site.logged)).not.toContain(token.reveal());
  const { organizationId } = site.world;
  const [entry] = site.domain.auditLog.list(organizationId, { action: "user.password_set" }).items;
  expect(entry).toMatchObject({ actorId: id, target: id, address: ADDRESS });
});

test("signs the user out everywhere else", async () => {
  await using site = await createTestServer({ hasConsole: false });
  const { path } = await linked(site);
  const browser = browse(site);
  await browser.submit(formTo(await browser.visit(path), "/set-password"), { password: PASSWORD });
  await browser.signIn(await browser.visit("/login"), ADA);
  const another = await linked(site);
  await browser.submit(formTo(await browser.visit(another.path), "/set-password"), {
    password: `${PASSWORD}!`,
  });
  expect((await browser.visit("/")).heading).toBe("Sign in");
});

test("lets in a user whom wrong passwords locked out", async () => {
  await using site = await createTestServer({
    hasConsole: false,
    limits: { passwordGuessesPerAccountAndAddress: 1 },
  });
  const { path } = await linked(site);
  const browser = browse(site);
  const wrong = { ...ADA, password: "a wrong password" };
  await browser.signIn(await browser.visit("/login"), wrong);
  expect((await browser.signIn(await browser.visit("/login"), wrong)).status).toBe(429);
  await browser.submit(formTo(await browser.visit(path), "/set-password"), { password: PASSWORD });
  expect((await browser.signIn(await browser.visit("/login"), ADA)).heading).toBe("Your account");
});

test("asks again for a password that is too short", async () => {
  const site = await sameServer();
  const browser = browse(site);
  const { path } = await linked(site);
  const again = await browser.submit(formTo(await browser.visit(path), "/set-password"), {
    password: "short",
  });
  expect(again.status).toBe(400);
  expect(again.html).toContain("12 to 256 characters");
  const done = await browser.submit(formTo(again, "/set-password"), { password: PASSWORD });
  expect(done.heading).toBe("Your password is set");
});

test("requires the form token of the browser that opened the link", async () => {
  const site = await sameServer();
  const browser = browse(site);
  const { path, token } = await linked(site);
  const form = formTo(await browser.visit(path), "/set-password");
  const forged = { ...form, fields: { ...form.fields, csrf: "x" } };
  expect((await browser.submit(forged, { password: PASSWORD })).status).toBe(403);
  browser.cookies.clear();
  expect((await browser.submit(form, { password: PASSWORD })).status).toBe(403);
  expect(site.domain.identity.passwordLinks.getUser(token).email).toBe(ADA.email);
});

test("shows the same text for an expired, replaced, void, unknown and missing link", async () => {
  const site = await sameServer();
  const { domain, world } = site;
  const replaced = await linked(site);
  const voided = await linked(site);
  await domain.identity.users.revokeLogins(world.system, voided.id);
  const expired = await linked(site);
  world.clock.advance(24 * 3_600_000);
  const browser = browse(site);
  const pages = new Set<string>();
  for (const path of [replaced.path, voided.path, expired.path, "/set-password?token=x", "/set-password"]) {
    const { status, html } = await browser.visit(path);
    expect(status).toBe(404);
    pages.add(html);
  }
  expect(pages.size).toBe(1);
  expect([...pages][0]).toContain("This link is unavailable");
});

test("is neither stored nor revealed to other sites", async () => {
  const site = await sameServer();
  const { path } = await linked(site);
  const browser = browse(site);
  for (const visited of [path, "/set-password", "/set-password/done"]) {
    const { headers } = await browser.visit(visited);
    expect(headers.get("cache-control")).toBe("no-store");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  }
});
