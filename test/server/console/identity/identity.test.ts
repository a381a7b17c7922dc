// CON-80 CON-81: sign-in and provisioning in the console, and the tokens of identity providers.
import { afterAll, describe, expect, test } from "bun:test";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const TOKENS = "/console/identity/tokens";
const NEW = `${TOKENS}/new`;
const HOSTILE = `<script>alert(1)</script> "quoted" \u202e${"\u0301".repeat(100)}`;

const site = await createTestServer({
  consoleAuditors: () => ["auditor@example.com"],
  scim: { groupRoleMappings: { Operators: "admin", [HOSTILE]: "member" } },
});
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "root@example.com" });
const browser = consoleBrowser(site, admin);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));

const create = async (fields: Record<string, string>) =>
  browser.submit(formTo(await browser.visit(NEW), NEW), fields);
const tokenIn = (html: string) => /<pre>(qms_[\w-]+)<\/pre>/.exec(html)?.[1] ?? "";
const ask = async (token: string) => (await site.request("GET", "/scim/v2/Users", { token })).status;

describe("CON-80 the page about sign-in and provisioning", () => {
  test("shows the mode, the addresses for the provider, the mappings and their problems", async () => {
    const { status, html } = await browser.visit("/console/identity");
    expect(status).toBe(200);
    for (const text of [
      "With a password",
      "/scim/v2</bdi>",
      "scim.group_role_mappings",
      "identity.oidc.issuer",
    ])
      expect(html).toContain(text);
    expect(html).toContain(
      "A role is mapped to the group &quot;Operators&quot;, but no group has that name.",
    );
    expect(html).not.toContain("<script>alert");
  });

  test("counts users by source, and shows refused requests with token and reason as text", async () => {
    const { refusals } = site.domain.scim;
    const shown = { status: 400, scimType: "invalidValue", method: "POST", route: "/scim/v2/Users" };
    refusals.keep(admin.actor.organizationId, {
      ...shown,
      requestId: "req-1",
      actor: "scim:entra",
      detail: `userName ${HOSTILE} is not an address`,
    });
    await site.world.db.write(() => undefined);
    const { html } = await browser.visit("/console/identity");
    expect(html).toContain("<bdi>entra</bdi>");
    expect(html).toContain("is not an address");
    expect(html).toContain('href="/console/users?provisioning_source=local">Local</a>');
    expect(html).not.toContain("<script>alert");
  });
});

describe("CON-81 a token", () => {
  test("CON-144 CON-145 is on the response to the form only, which is never stored", async () => {
    const made = await create({ label: "entra", profile: "entra", expires: "30" });
    const token = tokenIn(made.html);
    expect([made.status, made.path, made.headers.get("cache-control")]).toEqual([200, NEW, "no-store"]);
    expect(await ask(token)).toBe(200);
    const { html } = await browser.visit(TOKENS);
    expect(html).toContain("<bdi>entra</bdi>");
    expect(html).not.toContain(token);
    const { after } = site.domain.auditLog.listByKey(admin.actor.organizationId, {
      action: "scim_token.create",
      limit: 1,
    }).items[0] ?? { after: "" };
    expect(after).not.toContain(token);
    const again = await create({ label: "entra", profile: "entra", expires: "30" });
    expect([again.status, tokenIn(again.html)]).toEqual([409, ""]);
    expect(again.html).toContain("the SCIM token entra already exists");
  });

  test("CON-121 is created once by a form that is sent twice, and shown again", async () => {
    const opened = formTo(await browser.visit(NEW), NEW);
    const entered = { label: "twice", profile: "standard", expires: "30" };
    const first = await browser.submit(opened, entered);
    site.world.clock.advance(60_000);
    const second = await browser.submit(opened, entered);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(tokenIn(first.html)).not.toBe("");
    expect(tokenIn(second.html)).toBe(tokenIn(first.html));
    const other = await browser.submit(opened, { ...entered, label: "thrice" });
    expect([other.status, tokenIn(other.html)]).toEqual([409, ""]);
    expect(other.html).toContain("has already created a token with other values");
    const made = await browser.submit(formTo(other, NEW), { ...entered, label: "thrice" });
    expect([made.status, tokenIn(made.html)]).toEqual([200, expect.stringMatching(/^qms_/)]);
  });

  test("CON-145 is not shown by a form that is sent again after the token was revoked", async () => {
    const entered = { label: "gone", profile: "standard", expires: "" };
    const opened = formTo(await browser.visit(NEW), NEW);
    const first = await browser.submit(opened, entered);
    expect(first.html).toContain("No other page shows it. An encrypted copy is kept for 24 hours");
    await site.domain.scim.tokens.revoke(admin.actor, "gone");
    const again = await browser.submit(opened, entered);
    expect([again.status, again.html.includes(tokenIn(first.html))]).toEqual([409, false]);
    expect(again.html).toContain("was revoked");
    expect(again.html).toContain(`<a href="${NEW}">Create another token</a>`);
  });

  test("CON-122 a damaged form is shown again with the entered values", async () => {
    const damaged = await create({ label: "whole", once: "two words" });
    expect([damaged.status, tokenIn(damaged.html)]).toEqual([400, ""]);
    expect(damaged.html).toContain("the form arrived damaged. Check the values below and send it again.");
    const made = await browser.submit(formTo(damaged, NEW), { profile: "standard" });
    expect([made.status, made.heading]).toEqual([200, "Token whole"]);
  });

  test("is refused with every problem beside its field, and the entered values stay", async () => {
    const { status, html } = await create({ label: "<b>", profile: "other", expires: "0.5" });
    expect(status).toBe(400);
    for (const name of ["label", "profile", "expires_at"]) {
      expect(html).toContain(`href="#${name}"`);
      expect(html).toContain(`id="${name}-error"`);
    }
    expect(html).toContain('value="&lt;b>"');
  });

  test("the form appears again with the entered values after the reader confirmed the sign-in", async () => {
    const { html } = await browser.visit(`${NEW}?label=okta&expires=90`);
    expect(html).toContain('value="okta"');
    expect(html).toContain('value="90"');
  });

  test("is revoked after a confirmation that explains the effects", async () => {
    const { token, view } = await site.domain.scim.tokens.create(site.world.system, {
      label: "okta",
      profile: "standard",
    });
    const path = `${TOKENS}/${view.id}/revoke`;
    const question = await browser.visit(path);
    expect(question.heading).toBe("Revoke token okta?");
    expect(question.html).toContain("Users and groups stay");
    const done = await browser.submit(formTo(question, path), {});
    expect([done.path, done.html.includes("Revoked okta.")]).toEqual([TOKENS, true]);
    expect(await ask(token.reveal())).toBe(401);
    expect(done.html).not.toContain("<bdi>okta</bdi>");
    expect((await browser.visit(`${TOKENS}?show=all`)).html).toContain("<bdi>okta</bdi>");
  });

  test("lists a token of the configuration without an action", async () => {
    const { html } = await browser.visit(TOKENS);
    expect(html).toContain("Part of the configuration");
    expect((await browser.visit(`${TOKENS}/configured/revoke`)).status).toBe(409);
    expect((await browser.visit(`${TOKENS}/%00/revoke`)).status).toBe(404);
  });

  test("CON-22 names bad values of the address beside their filters", async () => {
    const { status, html } = await browser.visit(`${TOKENS}?show=x&per_page=7000&page=x`);
    expect([status, html.includes("<tr><td")]).toEqual([400, false]);
    for (const name of ["show", "per_page"]) expect(html).toContain(`href="#filter-${name}"`);
  });

  test("is neither made nor revoked by an auditor", async () => {
    const { html } = await auditor.visit(TOKENS);
    expect((await auditor.visit(NEW)).forms.map(({ action }) => action)).not.toContain(NEW);
    for (const action of ["/revoke", NEW]) expect(html).not.toContain(action);
  });
});
