// Approval of a device login when administrators need a second factor. The resulting token needs no factor later.
import { expect, test } from "bun:test";
import { CONFIRMATION_TTL_MS } from "../../../../src/domain/access/second-factor/model.ts";
import { OAUTH_CLIENT_ID } from "../../../../src/domain/access/wire.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { appCode } from "../../../support/second-factor/authenticator-app.ts";
import { giveApp } from "../../../support/second-factor/given-factors.ts";
import { ADDRESS, createTestServer, PASSWORD, type TestServer } from "../../../support/server.ts";

const CONFIRM = "/account/second-factor/confirm";
const APP = "/account/second-factor/authenticator-app";

const createSite = () => createTestServer({ access: { secondFactor: "administrators" } });

/** @returns the page of a new device login */
async function requested({ domain }: TestServer): Promise<{ token: string; path: string }> {
  const { linkToken: token } = await domain.access.deviceLogins.request({
    clientId: OAUTH_CLIENT_ID,
    address: ADDRESS,
  });
  return { token, path: `/device/${token}` };
}

test("SSO-31 an administrator without a required factor first sets one up, and returns to the approval", async () => {
  await using site = await createSite();
  const caller = await site.signedIn("admin");
  const browser = consoleBrowser(site, caller);
  site.world.clock.advance(CONFIRMATION_TTL_MS);
  const { token, path } = await requested(site);
  const approve = async () =>
    await browser.submit(formTo(await browser.visit(path), path), { decision: "approve" });
  const next = `?next=${encodeURIComponent(path)}`;
  const factors = await approve();
  expect(factors.path).toBe(`/account/second-factor${next}`);
  const { cookie } = caller;
  const response = await site.request("POST", `/api/device/${token}`, {
    cookie,
    body: { action: "approve" },
  });
  expect([response.status, (await response.json()).reason]).toEqual([
    403,
    "access.second_factor_enrollment_needed",
  ]);
  expect(factors.html).toContain(`href="${APP}${next}"`);
  const question = await browser.visit(`${APP}${next}`);
  const setup = await browser.submit(formTo(question, CONFIRM), { password: PASSWORD });
  expect(setup.path).toBe(`${APP}${next}`);
  const [, secret = ""] = /<code>([A-Z2-7 ]+)<\/code>/.exec(setup.html) ?? [];
  const codes = await browser.submit(formTo(setup, APP), {
    code: appCode(secret, site.world.clock.nowMs()),
  });
  expect(codes.html).toContain(`href="${path}"`);
  expect((await approve()).path).toBe("/device/approved");
});

test("SSO-31 an administrator with a factor confirms the approval, unless a confirmation is less than ten minutes old", async () => {
  await using site = await createSite();
  const caller = await site.signedIn("admin");
  const app = await giveApp(site, caller);
  const browser = consoleBrowser(site, caller);
  const recent = await requested(site);
  const approve = async (path: string) =>
    await browser.submit(formTo(await browser.visit(path), path), { decision: "approve" });
  expect((await approve(recent.path)).path).toBe("/device/approved");
  site.world.clock.advance(CONFIRMATION_TTL_MS);
  const { path } = await requested(site);
  const question = await approve(path);
  expect(question.path).toBe(`${CONFIRM}?next=${encodeURIComponent(path)}`);
  const code = appCode(app.secret, site.world.clock.nowMs());
  const back = await browser.submit(formTo(question, CONFIRM), { code });
  expect(back.path).toBe(path);
  expect((await approve(path)).path).toBe("/device/approved");
});

test("SSO-31 a denial needs neither a factor nor a confirmation, and a member approves with the session alone", async () => {
  await using site = await createSite();
  const decide = async (role: "admin" | "member", decision: string) => {
    const browser = consoleBrowser(site, await site.signedIn(role));
    const { path } = await requested(site);
    site.world.clock.advance(CONFIRMATION_TTL_MS / 2);
    const page = await browser.visit(path);
    expect(page.html.includes("Administer the service")).toBe(role === "admin");
    return (await browser.submit(formTo(page, path), { decision })).path;
  };
  expect(await decide("admin", "deny")).toBe("/device/denied");
  expect(await decide("member", "approve")).toBe("/device/approved");
});

test("SSO-31 an administrator without a factor confirms by password, unless a confirmation is less than ten minutes old", async () => {
  await using site = await createTestServer({ access: { secondFactor: "optional" } });
  const caller = await site.signedIn("admin");
  const { cookie } = caller;
  site.world.clock.advance(CONFIRMATION_TTL_MS);
  const { token, path } = await requested(site);
  const browser = consoleBrowser(site, caller);
  await browser.visit(path);
  const approve = () => site.request("POST", `/api/device/${token}`, { cookie, body: { action: "approve" } });
  const refused = await approve();
  expect([refused.status, (await refused.json()).reason]).toEqual([403, "access.confirmation_needed"]);
  await browser.submit(formTo(await browser.visit(CONFIRM), CONFIRM), { password: PASSWORD });
  expect((await approve()).status).toBe(200);
});
