// The page of one user in the console, and the operations of administrators there.
import { afterAll, describe, expect, spyOn, test } from "bun:test";
import { CORE_USER } from "../../../src/domain/scim/wire.ts";
import { CHANGES_NAMED_MAX } from "../../../src/server/console/people/changed-user.tsx";
import { createTestServer, SCIM_TOKEN } from "../../support/server.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const auditor = await site.signedIn("admin", { email: "auditor@example.com" });
const { users } = site.domain.identity;
const { organizationId } = site.world;

const read = async (path: string, cookie = admin.cookie) => {
  const answer = await site.request("GET", `/console/users/${path}`, { cookie });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
};
const hidden = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";
/** Opens the confirmation page and sends its form. */
const act = async (path: string, fields: Record<string, string> = {}) => {
  const { html } = await read(path);
  const form = { csrf: hidden(html, "csrf"), version: hidden(html, "version"), ...fields };
  const answer = await site.request("POST", `/console/users/${path}`, {
    cookie: admin.cookie,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });
  return { status: answer.status, headers: answer.headers, html: await answer.text() };
};
const member = async (email: string) => (await site.signedIn("member", { email })).user;
const actionsOf = (target: string) =>
  site.domain.auditLog.list(organizationId, { target }).items.map(({ action }) => action);

describe("CON-71 the page of a user", () => {
  test("shows facts, logins, packages, and the audit log about the user", async () => {
    const ana = await member("ana@example.com");
    const { status, html } = await read(ana.id);
    expect(status).toBe(200);
    for (const text of ["ana@example.com", "In use", "Browser", "user.create", "quartermaster users show"])
      expect(html).toContain(text);
    expect(html).toContain(`href="/console/users/${ana.id}/suspend" data-dialog`);
    const [, explain = ""] = /href="(\/console\/policy\/explain\?[^"]*)"/.exec(html) ?? [];
    expect(explain).toBe("/console/policy/explain?user=ana%40example.com");
  });

  test("offers auditors no action", async () => {
    const { html } = await read(admin.user.id, auditor.cookie);
    expect(html).not.toContain("<h2>Actions</h2>");
  });

  test.each([
    ["suspend", (status: string) => status === "suspended", "user.update"],
    ["make-administrator", (_: string, role: string) => role === "admin", "user.update"],
    ["end-logins", (status: string) => status === "active", "user.revoke_logins"],
  ])("%p changes the user after the confirmation", async (action, holds, entry) => {
    const { id } = await member(`${action}@example.com`);
    const { status, headers } = await act(`${id}/${action}`);
    const { status: state, role } = users.show(organizationId, id);
    expect([status, headers.get("location"), holds(state, role)]).toEqual([
      303,
      `/console/users/${id}`,
      true,
    ]);
    expect(actionsOf(id)).toContain(entry);
  });

  test("CON-98 removal requires the address, and lists the kept data", async () => {
    const { id, email } = await member("gone@example.com");
    expect((await read(`${id}/remove`)).html).toContain("Their history, workstations and sessions stay.");
    const wrong = await act(`${id}/remove`, { typed: "GONE" });
    expect([wrong.status, wrong.html.includes("Type the address exactly")]).toEqual([400, true]);
    expect(users.show(organizationId, id).status).toBe("active");
    expect((await act(`${id}/remove`, { typed: email })).status).toBe(303);
    expect(users.show(organizationId, id).status).toBe("removed");
    expect((await read(id)).html).not.toContain("data-dialog");
  });

  test("CON-145 a password link is only in the response, which is never stored", async () => {
    const { id } = await member("link@example.com");
    const { status, headers, html } = await act(`${id}/password-link`);
    expect([status, headers.get("cache-control")]).toEqual([200, "no-store"]);
    const token = /set-password\?token=([\w-]{43})/.exec(html)?.[1] ?? "";
    expect(token).not.toBe("");
    expect((await read(id)).html).not.toContain(token);
    expect(JSON.stringify([site.logged, site.domain.auditLog.list(organizationId, {}).items])).not.toContain(
      token,
    );
  });

  test("CON-121 a form sent again shows the same link to set a password", async () => {
    const { id } = await member("again@example.com");
    const once = hidden((await read(`${id}/password-link`)).html, "once");
    const pages = [];
    for (let time = 0; time < 2; time++) pages.push((await act(`${id}/password-link`, { once })).html);
    const [first, second] = pages.map((html) => /set-password\?token=([\w-]{43})/.exec(html)?.[1]);
    expect(first).toBeString();
    expect(second).toBe(first ?? "");
    expect(actionsOf(id).filter((action) => action === "user.password_link")).toHaveLength(1);
  });

  test("CON-145 a form sent again does not show a link that another one replaced", async () => {
    const { id } = await member("replaced@example.com");
    const once = hidden((await read(`${id}/password-link`)).html, "once");
    const first = await act(`${id}/password-link`, { once });
    await act(`${id}/password-link`);
    const again = await act(`${id}/password-link`, { once });
    expect([first.status, again.status]).toEqual([200, 409]);
    expect(again.html).not.toContain("set-password?token=");
    expect(again.html).toContain("that link no longer works");
  });

  test("CON-118 a change by somebody else in the meantime is not overwritten, and is shown with its author and both values", async () => {
    const { id } = await member("raced@example.com");
    const { html } = await read(`${id}/make-administrator`);
    site.world.clock.advance(1_000);
    await users.setStatus(site.world.system, id, "suspended");
    const answer = await act(`${id}/make-administrator`, { version: hidden(html, "version") });
    expect([answer.status, users.show(organizationId, id).role]).toEqual([409, "member"]);
    const at = new Date(site.world.clock.nowMs()).toISOString().slice(0, 16);
    const { label } = site.world.system;
    for (const text of [
      label,
      at,
      "status: active → suspended",
      "a member now, and suspended",
      "Make administrator",
    ])
      expect(answer.html).toContain(text);
    expect(answer.html.split("<time")).toHaveLength(2);
    const again = await act(`${id}/make-administrator`, { version: hidden(answer.html, "version") });
    expect([again.status, users.show(organizationId, id)]).toMatchObject([
      303,
      { role: "admin", status: "suspended" },
    ]);
  });
});

test("CON-118 an action on a user who was removed in the meantime is not offered again, and the page names who removed the user", async () => {
  for (const action of ["make-administrator", "end-logins", "password-link", "remove"]) {
    const { id, email } = await member(`gone-${action}@example.com`);
    const { html } = await read(`${id}/${action}`);
    await users.remove(site.world.system, id);
    const version = hidden(html, "version");
    const answer = await act(`${id}/${action}`, { version, typed: email });
    expect([action, answer.status, users.show(organizationId, id).status]).toEqual([action, 409, "removed"]);
    expect(answer.html.replaceAll(/<[^>]+>/g, "")).toContain(`${site.world.system.label} removed ${email}`);
    expect(answer.html).not.toContain(`action="/console/users/${id}`);
    expect((await read(`${id}/${action}`)).status).toBe(409);
  }
});

test("CON-118 a change before the page was opened is not shown, even if its audit entry is later than the user's last change", async () => {
  const { id } = await member("entered-later@example.com");
  const { clock } = site.world;
  const nowMs = clock.nowMs.bind(clock);
  using ticking = spyOn(clock, "nowMs").mockImplementation(() => {
    clock.advance(5);
    return nowMs();
  });
  await users.setStatus(site.world.system, id, "suspended");
  ticking.mockRestore();
  const { html } = await read(`${id}/make-administrator`);
  clock.advance(2_000);
  await users.setStatus(site.world.system, id, "active");
  const answer = await act(`${id}/make-administrator`, { version: hidden(html, "version") });
  expect([answer.status, answer.html.split("<time").length - 1]).toEqual([409, 1]);
  expect(answer.html).toContain("status: suspended → active");
});

test.each([CHANGES_NAMED_MAX - 1, CHANGES_NAMED_MAX, CHANGES_NAMED_MAX + 1])(
  "CON-118 names the newest CHANGES_NAMED_MAX of %d changes",
  async (count) => {
    const { id } = await member(`changed${count}@example.com`);
    const { html } = await read(`${id}/remove`);
    for (let at = 0; at < count; at += 1) {
      site.world.clock.advance(1_000);
      await users.setStatus(site.world.system, id, at % 2 === 0 ? "suspended" : "active");
    }
    const fields = { version: hidden(html, "version"), typed: users.show(organizationId, id).email };
    const { status, html: refused } = await act(`${id}/remove`, fields);
    expect([status, refused.split("<time").length - 1]).toEqual([409, Math.min(count, CHANGES_NAMED_MAX)]);
  },
);

describe("CON-72 obstacles are shown before an action", () => {
  test("shows the obstacles for the own account", async () => {
    const { html } = await read(admin.user.id);
    expect(html).toContain("This is your own account; ask another administrator.");
    expect(html).toContain('disabled aria-describedby="reason-0"');
    expect((await act(`${admin.user.id}/suspend`)).status).toBe(409);
  });

  test("shows the obstacles for a user of an identity provider, whose logins can still be ended", async () => {
    await site.request("POST", "/scim/v2/Users", {
      token: SCIM_TOKEN,
      body: JSON.stringify({ schemas: [CORE_USER], userName: "managed@example.com" }),
      headers: { "content-type": "application/scim+json" },
    });
    const { id } = users.find(organizationId, "managed@example.com");
    const { html } = await read(id);
    expect(html).toContain("This user is managed by the identity provider (SCIM); change it there.");
    expect(html).toContain(`href="/console/users/${id}/end-logins" data-dialog`);
    expect(html).not.toContain(`/${id}/suspend`);
  });

  test("refuses an action that no longer applies and shows the current state", async () => {
    const { id } = await member("fits@example.com");
    const { status, html } = await read(`${id}/resume`);
    expect([status, html.includes("This user is not suspended.")]).toEqual([409, true]);
    expect([(await read(`${id}/nonsense`)).status, (await read("x/suspend")).status]).toEqual([404, 404]);
  });
});
