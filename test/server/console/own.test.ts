// The pages about the reader: their content, its owner, and the effects of their forms.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ROWS_SHOWN } from "../../../src/server/routes/console/own/own-login-pages.ts";
import { reportWith } from "../../domain/clients/policies.ts";
import { FormBrowser, formTo, type Page } from "../../support/browser/form-browser.ts";
import { publishFirst, publishPackages } from "../../support/content/policy.ts";
import { createGatewayServer } from "../../support/gateway/gateway-server.ts";
import { ADDRESS, type Caller, createTestServer, PASSWORD, type TestServer } from "../../support/server.ts";

const HOSTILE = `<script>alert("1")</script>\u0000\u202e'"${"e\u0301\u0301".repeat(20)}`;
const NEXT = "an entirely new password";
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";

let site: TestServer;
let ada: Caller;
let eve: Caller;
beforeAll(async () => {
  site = await createGatewayServer();
  ada = await site.signedIn("member", { email: "ada@example.com" });
  eve = await site.signedIn("member", { email: "eve@example.com" });
});
afterAll(() => site[Symbol.asyncDispose]());

async function browserOf(email = "ada@example.com", password = PASSWORD): Promise<FormBrowser> {
  const browser = new FormBrowser("http://localhost", (request) => {
    request.headers.set(
      "user-agent",
      "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0",
    );
    return site.server.handle(request, () => ADDRESS);
  });
  await browser.signIn(await browser.visit("/login"), { email, password });
  return browser;
}

/** Sends the only form of a confirmation page. */
async function confirm(browser: FormBrowser, path: string): Promise<Page> {
  return browser.submit(formTo(await browser.visit(path), path), {});
}

describe("CON-3 links to the own pages", () => {
  test("leads from the start page, the console and the former account page", async () => {
    const browser = await browserOf();
    for (const path of ["/", "/console", "/account", "/account?done=key"])
      expect([path, (await browser.visit(path)).path]).toEqual([path, "/console/me"]);
  });

  test("uses the plain pages without a console", async () => {
    await using plain = await createTestServer({ hasConsole: false });
    const { cookie } = await plain.signedIn("member");
    for (const path of ["/", "/account"])
      expect([path, (await plain.request("GET", path, { cookie })).status]).toEqual([path, 200]);
  });
});

describe("CON-30 the start page", () => {
  test("explains how to fill it before anything is published or reported", async () => {
    const { html, heading } = await (await browserOf()).visit("/console/me");
    expect(heading).toBe("Your start page");
    expect(html).toContain("No policy is published yet");
    expect(html).toContain("No workstation has reported yet");
    expect(html).toContain("You have no key.");
    expect(html).toContain("You have no captured sessions.");
    expect(html).toContain('href="/device"');
  });

  test("summarizes the policy in three sentences and shows only the own workstations", async () => {
    await publishFirst(site, { required: true, allowed_harnesses: ["claude", "codex"] });
    for (const [caller, hostname] of [
      [ada, HOSTILE],
      [eve, "eves-laptop"],
    ] as const)
      await site.request("POST", "/client-status", {
        token: caller.accessToken,
        body: reportWith({ hostname, error: HOSTILE, instance_id: hostname.slice(0, 20) }),
      });
    const { html } = await (await browserOf()).visit("/console/me");
    expect(html).toContain("You may use Codex and Claude.");
    expect(html).toContain("It installs no packages for you.");
    expect(html).toContain("A workstation that cannot load the policy starts no harness.");
    expect(html).toContain("&lt;script>alert(");
    expect(html).toContain("[U+202E]");
    expect(html).not.toContain("<script>alert");
    expect(html).not.toContain("eves-laptop");
  });
});

describe("CON-31 the own policy", () => {
  test("explains one harness, and names no package of other people", async () => {
    const adapters = { claude: { plugins: [], helpers: {} } };
    const named = (id: string) => ({
      id,
      version: "1.0.0",
      source_ref: `${id}.tar.gz`,
      sha256: "ab".repeat(32),
      adapters,
    });
    await publishPackages(site, {
      packages: [named("for-all"), named("for-eve")],
      audiences: { "for-eve": [eve.user.id] },
    });
    const page = await (await browserOf()).visit("/console/me/policy?harness=claude");
    expect(page.html).toContain("Claude may run");
    expect(page.html).toContain("for-all");
    expect(page.html).not.toContain("for-eve");
    expect(page.html).toContain("GET /me/policy/explain?harness=claude");
    const hers = await (await browserOf("eve@example.com")).visit("/console/me/policy?harness=claude");
    expect(hers.html).toContain("for-eve");
  });

  test("distinguishes enforced values from the reader's choices", async () => {
    const managed_config = { model: "gpt-5", fast_mode: null };
    await publishFirst(site, { harnesses: { codex: { managed_config } } });
    const { html } = await (await browserOf()).visit("/console/me/policy?harness=codex");
    const rows = [...html.matchAll(/<tr><td data-label="Setting">(.*?)<\/tr>/gs)].map(([, row = ""]) =>
      row
        .replaceAll(/<[^>]*>/g, " ")
        .replaceAll(/\s+/g, " ")
        .trim(),
    );
    expect(rows[0]).toMatch(/^managed_config\.model gpt-5 Enforced \d+$/);
    expect(rows).toContain("managed_config.fast_mode default of the harness Yours to choose –");
    expect(rows.filter((row) => row.includes("Yours to choose"))).toHaveLength(5);
  });

  test.each([
    ["an unknown harness", "harness=nonsense", "filter-harness"],
    ["an invalid version", "harness=claude&installed=%00x", "filter-installed"],
  ])("CON-22 puts %s beside its field, with status 400", async (_name, query, field) => {
    const page = await (await browserOf()).visit(`/console/me/policy?${query}`);
    expect(page.status).toBe(400);
    expect(page.html).toContain(`href="#${field}"`);
  });
});

describe("CON-32 the own workstations", () => {
  test("lists the own workstations with their state and reasons", async () => {
    const { html } = await (await browserOf()).visit("/console/me/workstations");
    expect(html).toContain("Needs attention");
    expect(html).toContain("Sign this workstation out");
    expect(html).not.toContain("eves-laptop");
    expect(html).not.toContain("<script>alert");
    expect((await (await browserOf()).visit("/console/me/workstations?health=current")).html).toContain(
      "No workstations match these filters.",
    );
    expect((await (await browserOf()).visit("/console/me/workstations?health=x")).status).toBe(400);
    expect((await (await browserOf()).visit("/console/me/workstations?page=9")).path).toBe(
      "/console/me/workstations",
    );
  });

  test("CON-16 shows the number of the revision of a workstation, as on other pages", async () => {
    const current = site.domain.governance.revisions.current(site.world.organizationId);
    const body = reportWith({
      instance_id: "numbered",
      hostname: "numbered",
      config_revision: current?.id ?? null,
    });
    await site.request("POST", "/client-status", { token: ada.accessToken, body });
    const { html } = await (await browserOf()).visit("/console/me/workstations");
    expect(html).toContain(`<td>r${current?.sequence}<span class="muted"> in force</span></td>`);
    expect(html).not.toContain(current?.id);
  });

  test("signs the own workstations out one by one, and does not find those of others", async () => {
    const items = site.domain.clients.inventory.list(site.world.organizationId, {}).items;
    const idOf = ({ user }: Caller) => items.find(({ userId }) => userId === user.id)?.id;
    const browser = await browserOf();
    const others = await browser.visit(`/console/me/workstations/${idOf(eve)}/sign-out`);
    expect([others.status, others.heading]).toEqual([404, "Not found"]);
    const done = await confirm(browser, `/console/me/workstations/${idOf(ada)}/sign-out`);
    expect(done.path).toBe("/console/me/workstations");
    expect(done.html).toContain("is signed out.");
    expect(done.html).toContain(">Signed out<");
    expect((await site.request("GET", "/auth/me", { token: ada.accessToken })).status).toBe(401);
    expect((await site.request("GET", "/auth/me", { token: eve.accessToken })).status).toBe(200);
  });
});

describe("CON-33 the own key", () => {
  test("is provisioned, checked, replaced and given up, and never shown", async () => {
    const browser = await browserOf("eve@example.com");
    const path = "/console/me/key";
    let page = await browser.visit(path);
    for (const action of ["ensure", "validate", "rotate"]) {
      page = await browser.submit(formTo(page, `${path}/${action}`), {});
      expect([action, page.path, page.html.includes("You have a working key.")]).toEqual([
        action,
        path,
        true,
      ]);
      expect(page.html).not.toContain("sk-");
      expect(page.html).toContain("<pre>GET /gateway/key</pre>"); // CON-17, and each action below
    }
    for (const [summary, command, request] of [
      ["Check key", undefined, "validate"],
      ["Replace key", "keys rotate eve@example.com", "rotate"],
    ] as const) {
      const part = page.html.split(`<summary>“${summary}” as a command</summary>`)[1]?.split("</details>")[0];
      expect(part).toContain(`<pre>POST /gateway/key/${request}</pre>`);
      if (command) expect(part).toContain(`<pre>quartermaster ${command}</pre>`);
    }
    page = await confirm(browser, `${path}/revoke`);
    expect(page.html).toContain("You have no key.");
  });

  test("CON-121 is replaced once by a form that is sent twice", async () => {
    const browser = await browserOf("eve@example.com");
    const path = "/console/me/key";
    const ready = await browser.submit(formTo(await browser.visit(path), `${path}/ensure`), {});
    const form = formTo(ready, `${path}/rotate`);
    const aliasIn = async () =>
      (await browser.submit(form, {})).html.match(/Name at the gateway.*?<\/dd>/s)?.[0];
    const first = await aliasIn();
    expect(first).toBeString();
    expect(await aliasIn()).toBe(first);
    expect(ready.html).not.toContain(first ?? "");
  });

  test("CON-12 is turned off without gateway mode, and only administrators see the setting", async () => {
    await using off = await createTestServer();
    const [admin, member] = [await off.signedIn("admin"), await off.signedIn("member")];
    const read = async ({ cookie }: Caller) => {
      const answer = await off.request("GET", "/console/me/key", { cookie });
      return { status: answer.status, html: await answer.text() };
    };
    expect((await read(member)).status).toBe(404);
    expect((await read(member)).html).not.toContain("gateway.type");
    expect((await read(admin)).html).toContain("gateway.type");
    expect((await read(member)).html).not.toContain('href="/console/me/key"');
  });
});

describe("CON-34 the own logins", () => {
  test("lists browsers and workstations and marks this browser", async () => {
    const { html } = await (await browserOf()).visit("/console/me/logins");
    expect(html).toContain("Firefox on Linux");
    expect(html.split("This browser</span>").length).toBe(2);
    expect(html).toContain(ADDRESS);
    expect((await (await browserOf()).visit("/console/me/logins?kind=x&cursor=y")).status).toBe(400);
  });

  test("end one by one; those of others are not found", async () => {
    const browser = await browserOf();
    const page = await confirm(browser, `/console/me/logins/${ada.loginSessionId}/end`);
    expect([page.path, page.html.includes("The login has ended.")]).toEqual(["/console/me/logins", true]);
    expect((await site.request("GET", "/auth/me", { cookie: ada.cookie })).status).toBe(401);
    for (const id of [eve.loginSessionId, UNKNOWN_ID, "x"])
      expect([id, (await browser.visit(`/console/me/logins/${id}/end`)).status]).toEqual([id, 404]);
  });

  test.each([ROWS_SHOWN, ROWS_SHOWN + 1])("%d of them are shown in pages", async (count) => {
    const { user } = await site.signedIn("member", { email: `many-${count}@example.com` });
    // each sign-in gives a browser and a workstation
    const browser = await browserOf(user.email);
    while (site.domain.access.logins.list({ userId: user.id, limit: 100 }).items.length < count - 1)
      await site.signInAgain(user);
    const { length } = site.domain.access.logins.list({ userId: user.id, limit: 100 }).items;
    if (length < count) await browserOf(user.email);
    const { html } = await browser.visit("/console/me/logins");
    expect(html.includes('rel="next"')).toBe(count > ROWS_SHOWN);
  });

  test("all others end immediately, and this browser stays", async () => {
    const [browser, other] = [await browserOf("eve@example.com"), await browserOf("eve@example.com")];
    const question = await browser.visit("/console/me/logins/end-others");
    expect(question.html).toMatch(/This signs out \d+ other browsers? and 1 workstation\./);
    expect(question.html).toContain("quartermaster logins revoke --user eve@example.com --except");
    expect(question.html).toContain("POST /me/logins/revoke-others");
    const done = await confirm(browser, "/console/me/logins/end-others");
    expect(done.html).toContain("and 1 workstation.");
    expect((await other.visit("/console/me")).heading).toBe("Sign in");
    expect((await browser.visit("/console/me")).heading).toBe("Your start page");
    expect((await site.request("GET", "/auth/me", { token: eve.accessToken })).status).toBe(401);
  });
});

describe("CON-35 the own account", () => {
  test("CON-17 shows the command and the request that change the password, without a secret", async () => {
    const { html } = await (await browserOf()).visit("/console/me/account");
    expect(html).toContain("<pre>quartermaster users reset-password");
    expect(html).toContain("POST /me/password");
    expect(html).toContain("&quot;current_password&quot;: &quot;CURRENT&quot;");
  });

  test("shows the account, and changes the password", async () => {
    const browser = await browserOf();
    const page = await browser.visit("/console/me/account");
    for (const text of ["ada@example.com", "Member", "Local", "UTC", "/account/second-factor"])
      expect(page.html).toContain(text);
    const form = formTo(page, "/console/me/account/password");
    const wrong = await browser.submit(form, { current_password: "no", new_password: NEXT });
    expect([wrong.status, wrong.html.includes('href="#current_password"')]).toEqual([403, true]);
    const short = await browser.submit(form, { current_password: PASSWORD, new_password: "short" });
    expect([short.status, short.html.includes('href="#new_password"')]).toEqual([400, true]);
    const done = await browser.submit(form, { current_password: PASSWORD, new_password: NEXT });
    expect([done.path, done.status]).toEqual(["/console/me/account", 200]);
    expect(done.html).toContain("Your password was changed");
    expect((await browserOf("ada@example.com", NEXT)).cookies.size).toBeGreaterThan(0);
  });
});
