// CON-119: a form that is sent after the session ended leads to a page that signs in and sends it on: with a password, a second factor,
// another account, a page of another site, and forms near their limits.
import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { Secret } from "../../../../src/platform/secret.ts";
import { FORM_FIELDS_MAX } from "../../../../src/server/http/bodies/body.ts";
import { managedText } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { type FormBrowser, formTo, type Page } from "../../../support/browser/form-browser.ts";
import { appCode } from "../../../support/second-factor/authenticator-app.ts";
import { giveApp } from "../../../support/second-factor/given-factors.ts";
import { type Caller, createTestServer, PASSWORD, type TestServer } from "../../../support/server.ts";

const EDIT = "/console/policy/edit";
const HEADING = "Sign in again";

const site = await createTestServer({ access: { secondFactor: "optional" } });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const { drafts } = site.domain.governance;
const draftOf = ({ actor }: Caller) => drafts.own(actor);
afterEach(async () => {
  const draft = draftOf(admin);
  if (draft) await drafts.discard(admin.actor, draft.id);
});

/** Fills in the form of the policy, and sends it after the session ended. */
async function sendLate(
  browser: FormBrowser,
  fields: Record<string, string> = {},
  headers?: Record<string, string>,
): Promise<Page> {
  const form = formTo(await browser.visit(EDIT), EDIT);
  browser.cookies.clear();
  return await browser.submit(form, { text: managedText({ ttl_seconds: 71 }), ...fields }, headers);
}

const signIn = (browser: FormBrowser, page: Page, email: string, password = PASSWORD): Promise<Page> =>
  browser.submit(formTo(page, EDIT), {
    sign_in: "password",
    sign_in_email: email,
    sign_in_password: password,
  });

describe("CON-119 the page of a form whose session has ended", () => {
  test("signs in and carries out the form immediately", async () => {
    const browser = consoleBrowser(site, admin);
    const question = await sendLate(browser);
    expect([question.status, question.heading, draftOf(admin)]).toEqual([401, HEADING, undefined]);
    const done = await signIn(browser, question, "ana@example.com");
    expect([done.status, done.heading]).toEqual([200, "Review your draft"]);
    expect(done.html).not.toContain(PASSWORD);
    expect(JSON.stringify(draftOf(admin))).toContain("71");
    expect((await browser.visit("/console/users")).heading).toBe("Users");
  });

  test("sends every harness of an MCP server on", async () => {
    const browser = consoleBrowser(site, admin);
    const path = "/console/mcp/new";
    const form = formTo(await browser.visit(path), path);
    browser.cookies.clear();
    const entered = { act: "save", kind: "local", name: "git", command: "npx", enabled: "yes" };
    const question = await browser.submit(form, {
      ...entered,
      harness_codex: "yes",
      harness_opencode: "yes",
    });
    const given = { sign_in: "password", sign_in_email: "ana@example.com", sign_in_password: PASSWORD };
    expect((await browser.submit(formTo(question, path), given)).heading).toBe("Review your draft");
    const { harnesses } = drafts.existing(admin.actor).document;
    for (const key of ["codex", "opencode"] as const)
      expect(harnesses[key]?.mcp).toMatchObject([{ name: "git" }]);
  });

  test("explains that it does not keep possible secrets", async () => {
    const browser = consoleBrowser(site, admin);
    const form = formTo(await browser.visit("/console/mcp/new"), "/console/mcp/new");
    browser.cookies.clear();
    const entered = { act: "save", name: "git", command: "npx" };
    const plain = await browser.submit(form, entered);
    const secret = await browser.submit(form, { ...entered, env_name0: "KEY", env_value0: "ab-cd" });
    const sentence = ", except for values that may be secrets.";
    expect([plain, secret].map(({ html }) => html.includes(sentence))).toEqual([false, true]);
    expect(secret.html).not.toContain("ab-cd");
  });

  test("keeps the entered values after a wrong password, and shows no password", async () => {
    const browser = consoleBrowser(site, admin);
    const wrong = await signIn(browser, await sendLate(browser), "ana@example.com", "wrong-password");
    expect([wrong.status, wrong.heading, draftOf(admin)]).toEqual([401, HEADING, undefined]);
    expect(formTo(wrong, EDIT).fields).toMatchObject({ sign_in_email: "ana@example.com" });
    expect(wrong.html).not.toContain("wrong-password");
    const done = await signIn(browser, wrong, "ana@example.com");
    expect(done.heading).toBe("Review your draft");
  });

  test("gives another person who signs in neither the values nor the action", async () => {
    const other = await site.signedIn("admin", { email: "bea@example.com" });
    const browser = consoleBrowser(site, admin);
    const answer = await signIn(browser, await sendLate(browser), "bea@example.com");
    expect([answer.status, answer.heading]).toEqual([403, "This form belongs to another account"]);
    expect(answer.html).toMatch(/Another account opened it, not <bdi>bea@example\.com/);
    expect(answer.html).not.toContain("ttl_seconds");
    expect([draftOf(other), draftOf(admin)]).toEqual([undefined, undefined]);
    expect((await browser.visit("/console/me/account")).html).toContain("bea@example.com");
  });

  test("does not trust a user name that another site could know", async () => {
    const browser = consoleBrowser(site, admin);
    for (const by of [admin.user.id, "", "a.b"]) {
      const answer = await signIn(browser, await sendLate(browser, { by }), "ana@example.com");
      const heading = `This form ${by === "" ? "is out of date" : "belongs to another account"}`;
      expect([by, answer.heading, draftOf(admin)]).toEqual([by, heading, undefined]);
    }
  });

  test("needs the token of its form", async () => {
    const browser = consoleBrowser(site, admin);
    const question = await sendLate(browser);
    const form = formTo(question, EDIT);
    const stale = { ...form, fields: { ...form.fields, csrf: "00" } };
    const answer = await signIn(browser, { ...question, forms: [stale] }, "ana@example.com");
    expect([answer.status, answer.heading, draftOf(admin)]).toEqual([401, HEADING, undefined]);
  });

  test("keeps no values from a page of another site", async () => {
    for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }]) {
      const answer = await sendLate(consoleBrowser(site, admin), {}, headers);
      expect([answer.status, answer.html.includes("ttl_seconds")]).toEqual([403, false]);
    }
  });

  test("is the same for a form without parts", async () => {
    const browser = consoleBrowser(site, admin);
    const form = formTo(await browser.visit("/console/policy"), "/console/theme");
    browser.cookies.clear();
    const question = await browser.submit(form, { theme: "dark" });
    const fields = { sign_in: "password", sign_in_email: "ana@example.com", sign_in_password: PASSWORD };
    const done = await browser.submit(formTo(question, "/console/theme"), fields);
    expect([done.status, done.path]).toEqual([200, "/console/policy"]);
    expect(done.html).toContain('data-theme="dark"');
  });

  test("offers only a sign-in in another tab if the form would exceed its limits", async () => {
    const offers = async (fields: object, headers?: Record<string, string>) => {
      const body = new URLSearchParams({ ...fields }).toString();
      const type = { "content-type": "application/x-www-form-urlencoded" };
      const answer = await site.request("POST", "/console/theme", { body, headers: { ...type, ...headers } });
      const html = await answer.text();
      return [html.includes("sign_in_password"), html.includes(">Continue<")];
    };
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, "x"]));
    expect(await offers(many(FORM_FIELDS_MAX - 8))).toEqual([true, true]);
    expect(await offers(many(FORM_FIELDS_MAX - 7))).toEqual([false, true]);
    const long = (characters: number) => ({ f: "x".repeat(characters - 2) });
    expect(await offers(long(60 * 1024), { "content-length": String(60 * 1024) })).toEqual([true, true]);
    expect(await offers(long(60 * 1024 + 1), { "content-length": String(60 * 1024 + 1) })).toEqual([
      false,
      true,
    ]);
  });
});

describe("CON-119 an account with a second factor", () => {
  const withApp = async (server: TestServer, email: string) => {
    const caller = await server.signedIn("admin", { email });
    return { caller, app: await giveApp(server, caller) };
  };

  test("enters its code on the next page, which sends the form on", async () => {
    const { caller, app } = await withApp(site, "cleo@example.com");
    const browser = consoleBrowser(site, caller);
    const factor = await signIn(browser, await sendLate(browser), "cleo@example.com");
    expect([factor.status, factor.heading]).toEqual([401, "Confirm that it is you"]);
    const wrong = await browser.submit(formTo(factor, EDIT), { code: "000000" });
    expect([wrong.status, wrong.heading, draftOf(caller)]).toEqual([
      403,
      "Confirm that it is you",
      undefined,
    ]);
    const code = app.recoveryCodes[0] ?? "";
    const done = await browser.submit(formTo(wrong, EDIT), { code });
    expect([done.status, done.heading]).toEqual([200, "Review your draft"]);
    expect(done.html).not.toContain(code);
    expect(JSON.stringify(draftOf(caller))).toContain("71");
  });

  test("starts again with the entered values after the time limit", async () => {
    const { caller, app } = await withApp(site, "dora@example.com");
    const browser = consoleBrowser(site, caller);
    const factor = await signIn(browser, await sendLate(browser), "dora@example.com");
    site.world.clock.advance(60 * 60_000);
    const code = appCode(app.secret, site.world.clock.nowMs());
    const again = await browser.submit(formTo(factor, EDIT), { code });
    expect([again.status, again.heading]).toEqual([401, HEADING]);
    expect(again.html).toContain("ttl_seconds");
  });
});

test("CON-119 people that the identity provider signs in have no password to enter", async () => {
  await using company = await createTestServer({ access: { identityMode: "oidc" } });
  const question = await sendLate(consoleBrowser(company, await company.signedIn("admin")));
  expect(question.heading).toBe(HEADING);
  expect(question.html).not.toContain("sign_in_password");
  expect(formTo(question, EDIT).fields.text ?? question.html).toContain("ttl_seconds");
});

test("CON-119 an account that must set up a second factor does so in another tab", async () => {
  await using strict = await createTestServer({ access: { secondFactor: "everyone" } });
  const { user } = await strict.domain.identity.users.create(strict.world.system, {
    email: "eve@example.com",
    role: "admin",
    password: new Secret(PASSWORD),
  });
  const late = { text: managedText({ ttl_seconds: 71 }), by: strict.domain.access.formOwners.mark(user.id) };
  const browser = consoleBrowser(strict, { cookie: "none=none" });
  const sent = await browser.submit({ action: EDIT, fields: late, buttons: [] }, {});
  const question = await signIn(browser, sent, "eve@example.com");
  expect([question.status, question.heading]).toEqual([401, HEADING]);
  expect(question.html).toContain("must set up a second factor first");
  expect(question.html).toContain("ttl_seconds");
});
