// CON-98: the confirmation for all matching rows refuses unknown parameters, like the API, because ignoring a mistyped
// filter would select every row.
import { afterAll, describe, expect, test } from "bun:test";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";

const site = await createGatewayServer();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
await site.signedIn("member", { email: "bob@example.com" });

const UNKNOWN = /The list of (?:users|keys|workstations) has no filter/;
const VIEW = "sort=-at&columns=a&per_page=50&filters=all&page=2&cursor=x&known=9&select=page";

describe.each([
  ["users", "suspend", "rol"],
  ["gateway/keys", "revoke", "stat"],
  ["clients", "revoke", "user_id"],
])("CON-98 the question about many %s", (list, act, mistyped) => {
  const action = `/console/${list}/action`;
  const ask = (filter: string) =>
    browser.visit(`${action}?act=${act}&all=1&filter=${encodeURIComponent(filter)}`);

  test("refuses a mistyped filter, and so does its form", async () => {
    for (const filter of [`?${mistyped}=member`, `${mistyped}=`, `?q=a&${mistyped}=x`]) {
      const { status, html, forms } = await ask(filter);
      expect([filter, status, UNKNOWN.test(html)]).toEqual([filter, 400, true]);
      expect(html).toContain(`has no filter &quot;${mistyped}&quot;.`);
      expect(forms.map((form) => form.action)).not.toContain(action);
    }
    const { forms } = await browser.visit("/console/me");
    const fields = forms.find((form) => "csrf" in form.fields)?.fields ?? {};
    const sent = { act, all: "1", filter: `${mistyped}=member`, expected: "3", typed: "3" };
    const { status, html } = await browser.submit({ action, fields, buttons: [] }, sent);
    expect([status, UNKNOWN.test(html)]).toEqual([400, true]);
    expect(site.domain.identity.users.find(admin.actor.organizationId, "bob@example.com").status).toBe(
      "active",
    );
  });

  test("refuses a second value of a filter, of which only one would count", async () => {
    const { status, html, forms } = await ask("q=a&q=b");
    expect([status, forms.map((form) => form.action).includes(action)]).toEqual([400, false]);
    expect(html).toContain("The filter &quot;q&quot; has more than one value.");
    expect((await ask("q=&q=example")).html).not.toContain("more than one value");
  });

  test("accepts every filter of the list, and parameters of its view", async () => {
    const { html } = await browser.visit(`/console/${list}?filters=all`);
    const names = [...html.matchAll(/ id="filter-(\w+)"/g)].map(([, name = ""]) => name);
    expect(names.length).toBeGreaterThan(4);
    const { html: answer } = await ask(`?${VIEW}&${names.map((name) => `${name}=x`).join("&")}`);
    expect(answer).not.toMatch(UNKNOWN);
  });
});
