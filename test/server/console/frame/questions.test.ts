// CON-72: a reader who may not change anything sees the page about the required role instead of a confirmation.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { publishFirst } from "../../../support/content/policy.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const AUDITOR = "auditor@example.com";
const site = await createGatewayServer({ consoleAuditors: () => [AUDITOR] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const member = await site.signedIn("member", { email: "bob@example.com" });
const carl = await site.signedIn("member", { email: "carl@example.com" });
const browser = consoleBrowser(site, admin);
const auditors = [
  consoleBrowser(site, await site.signedIn("member", { email: AUDITOR })),
  consoleBrowser(site, member),
] as const;

const QUESTION = 'class="confirmation"';
const MANY = `id=${member.user.id}&id=${carl.user.id}`;

beforeAll(async () => {
  await publishFirst(site, {});
  const { governance } = site.domain;
  const { id: baseRevision } = governance.revisions.inForce(site.world.organizationId);
  await governance.publishing.publishExtensions(admin.actor, {
    baseRevision,
    packages: [packageOf("guide")],
  });
  for (const { user } of [member, carl]) {
    const path = `/console/gateway/keys/${user.id}/ensure`;
    await browser.submit(formTo(await browser.visit(path), path), {});
  }
});

const QUESTIONS = [
  "users/action?act=suspend&all=1&filter=%3F",
  `users/action?act=suspend&${MANY}`,
  ...["suspend", "make-administrator", "end-logins", "remove"].map(
    (action) => `users/${member.user.id}/${action}`,
  ),
  "logins/end-all",
  `logins/${member.loginSessionId}/end`,
  "gateway/keys/action?act=rotate&all=1&filter=",
  `gateway/keys/action?act=rotate&${MANY}`,
  `gateway/keys/${member.user.id}/rotate`,
  "gateway/keys/reconcile",
  "packages/guide/remove",
  "system/keys/access_tokens/rotate",
];

test("CON-72 an auditor and a member get no confirmation of a change, for any address", async () => {
  const [auditor, nobody] = auditors;
  for (const path of QUESTIONS) {
    const asked = await browser.visit(`/console/${path}`);
    expect([path, asked.status, asked.html.includes(QUESTION)]).toEqual([path, 200, true]);
    for (const [reader, role] of [
      [auditor, "you are an auditor of this installation"],
      [nobody, "This page is for administrators."],
    ] as const) {
      const { status, html } = await reader.visit(`/console/${path}`);
      expect([path, status, html.includes(role)]).toEqual([path, 403, true]);
      expect([path, html.includes(QUESTION), html.includes("button danger")]).toEqual([path, false, false]);
    }
  }
});

test("CON-72 an auditor gets the same confirmations as everybody for the own logins and views", async () => {
  const [auditor] = auditors;
  const { status, html } = await auditor.visit("/console/me/logins/end-others");
  expect([status, html.includes(QUESTION)]).toEqual([200, true]);
});

test("CON-72 the page about an ended login shows that, and has no button", async () => {
  const { loginSessionId: id } = await site.signInAgain(member.user);
  await site.domain.access.logins.revoke(admin.actor, id);
  const { status, html, forms } = await browser.visit(`/console/logins/${id}/end`);
  expect([status, html.includes("This login has ended already")]).toEqual([409, true]);
  expect([html.includes("button danger"), forms.some(({ action }) => action.endsWith("/end"))]).toEqual([
    false,
    false,
  ]);
});
