// CON-76, CON-77: gateway mode and the keys of all users in the console, over a real gateway.
import { afterAll, describe, expect, test } from "bun:test";
import { HEALTH_CHECKS } from "../../../../src/server/routes/gateway/gateway-status.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { createGatewayServer, PROXY_URL } from "../../../support/gateway/gateway-server.ts";
import { createTestServer } from "../../../support/server.ts";

const GATEWAY = "/console/gateway";
const KEYS = `${GATEWAY}/keys`;

const site = await createGatewayServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "root@example.com" });
const browser = consoleBrowser(site, admin);
const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
const ana = await site.signedIn("member", { email: "ana@example.com" });
const bob = await site.signedIn("member", { email: "bob@example.com" });
const act = async (userId: string, action: string) => {
  const path = `${KEYS}/${userId}/${action}`;
  return browser.submit(formTo(await browser.visit(path), path), {});
};
const stateOf = ({ user }: typeof ana) => site.domain.gateway.directory.show(user).state;

test("CON-147 checks of the proxy's health have a limit for each user, including auditors, in the console and the API", async () => {
  const { burst, perSecond } = HEALTH_CHECKS;
  const page = await auditor.visit(GATEWAY);
  const check = async (form = formTo(page, GATEWAY)) => await auditor.submit(form, {});
  for (let at = 0; at < burst; at += 1) expect((await check()).status).toBe(200);
  const refused = await check();
  expect([refused.status, refused.html.includes("Too many checks; wait 2 s and try again.")]).toEqual([
    429,
    true,
  ]);
  expect(refused.headers.get("retry-after")).toBe("2");
  const asked = () => site.request("POST", "/gateway/proxy/health", { token: admin.accessToken });
  expect((await asked()).status).toBe(200);
  for (let at = 1; at < burst; at += 1) await asked();
  const told = await asked();
  expect([told.status, (await told.json()).reason]).toEqual([429, "gateway.too_many_checks"]);
  expect((await browser.submit(formTo(await browser.visit(GATEWAY), GATEWAY), {})).status).toBe(429);
  site.world.clock.advance(1_000 / perSecond);
  expect([(await check()).status, (await check()).status]).toEqual([200, 429]);
  const member = consoleBrowser(site, ana);
  expect((await member.submit({ ...formTo(page, GATEWAY), fields: {} }, {})).status).toBe(403);
  site.world.clock.advance((1_000 * burst) / perSecond); // for the tests below
});

describe("CON-77 the key of a user", () => {
  test("provides a missing key after a confirmation, and the page has no credential", async () => {
    const none = await browser.visit(`${KEYS}/${ana.user.id}`);
    expect(none.html).toContain("There is no key to revoke.");
    const done = await act(ana.user.id, "ensure");
    expect([done.path, stateOf(ana)]).toEqual([`${KEYS}/${ana.user.id}`, "ready"]);
    expect(done.html).toContain("ana@example.com has a working key.");
    expect(done.html).not.toMatch(/sk-\w/);
  });

  test("is replaced and revoked", async () => {
    const before = site.domain.gateway.directory.show(ana.user).externalId;
    await act(ana.user.id, "rotate");
    expect(site.domain.gateway.directory.show(ana.user).externalId).not.toBe(before);
    expect((await act(ana.user.id, "revoke")).html).toContain("The key of ana@example.com is revoked.");
    expect(stateOf(ana)).toBe("missing");
  });

  test("CON-121 is replaced once by a form that is sent twice, and a later key is not revoked by an earlier form", async () => {
    await act(ana.user.id, "ensure");
    const [rotation, revocation] = await Promise.all(
      ["rotate", "revoke"].map(async (action) => {
        const path = `${KEYS}/${ana.user.id}/${action}`;
        return formTo(await browser.visit(path), path);
      }),
    );
    if (!rotation || !revocation) throw new Error("there are two forms");
    const sent = await Promise.all([browser.submit(rotation, {}), browser.submit(rotation, {})]);
    const replaced = site.domain.gateway.directory.show(ana.user).externalId;
    for (const { html } of [...sent, await browser.submit(rotation, {})])
      expect(html).toContain("ana@example.com has a new key.");
    expect(site.domain.gateway.directory.show(ana.user).externalId).toBe(replaced);
    await browser.submit(revocation, {});
    expect(stateOf(ana)).toBe("ready");
    expect((await act(ana.user.id, "revoke")).html).toContain("The key of ana@example.com is revoked.");
    expect(stateOf(ana)).toBe("missing");
  });

  test.each(["x/ensure", `${ana.user.id}/explode`, "%00", "00000000-0000-4000-8000-000000000000"])(
    "answers 404 for a key that does not exist: %s",
    async (path) => {
      expect((await browser.visit(`${KEYS}/${path}`)).status).toBe(404);
    },
  );

  test("is not changed by an auditor", async () => {
    const { status, html } = await auditor.visit(`${KEYS}/${ana.user.id}`);
    expect(status).toBe(200);
    for (const action of ["/ensure", "/rotate", "/revoke"])
      expect(html).not.toContain(`${ana.user.id}${action}"`);
  });
});

describe("CON-77 the list of keys", () => {
  test("has each key once, filtered and paged by key", async () => {
    for (const { user } of [ana, bob]) await act(user.id, "ensure");
    expect((await browser.visit(KEYS)).html.match(/<tr><td/g)).toHaveLength(2);
    const { html } = await browser.visit(`${KEYS}?q=BOB&state=ready&expires_within=3650d`);
    expect(html).not.toContain("ana@example.com");
    for (const user of ["BOB@example.com", bob.user.id.toUpperCase()]) {
      const named = await browser.visit(`${KEYS}?user_id=${user}`);
      expect(named.html.match(/<tr><td/g)).toHaveLength(1);
      expect(named.html).toContain(`GET /admin/gateway/keys?user_id=${bob.user.id}`);
      expect(named.html).toContain(`quartermaster keys list --user ${user}`);
      expect((await browser.visit(`${KEYS}.csv?user_id=${user}`)).html.trim().split("\r\n")).toHaveLength(2);
    }
    const nobody = await browser.visit(`${KEYS}?user_id=01890000-0000-7000-8000-000000000000`);
    expect([nobody.status, nobody.html.includes("No user has the address or id")]).toEqual([400, true]);
    expect((await browser.visit(`${KEYS}?problem=true`)).html).toContain("No keys match these filters.");
  });

  test("CON-22 names bad values of the address beside their filters", async () => {
    const bad = "state=x&problem=maybe&expires_within=soon&user_id=x&per_page=7000&cursor=x";
    const { status, html } = await browser.visit(`${KEYS}?${bad}`);
    expect([status, html.includes("<tr><td")]).toEqual([400, false]);
    for (const name of ["state", "problem", "expires_within", "user_id", "per_page"])
      expect(html).toContain(`href="#filter-${name}"`);
  });

  test("is reconciled as a whole after a confirmation, on a page that shows the progress", async () => {
    const path = `${KEYS}/reconcile`;
    const textOf = (html: string) =>
      html
        .replaceAll(/<[^>]+>/g, " ")
        .replaceAll(/\s+/g, " ")
        .replaceAll(" .", ".");
    const revocations = site.domain.gateway.figures().revocationsPending;
    const begun = await browser.submit(formTo(await browser.visit(path), path), {});
    expect(begun.path).toBe(`${path}/progress?keys=2&revocations=${revocations}`);
    expect(textOf(begun.html)).toContain("Keys that are due now: 2.");
    expect(begun.html).toContain('data-live="keys jobs"');
    expect(begun.html).toContain('<progress value="0" max="2"');
    expect(textOf(begun.html)).toContain(
      `0 of 2 keys are reconciled. Revocations that are still open at the gateway: ${revocations}.`,
    );
    await site.domain.gateway.reconciler?.run(new AbortController().signal);
    const done = await browser.visit(begun.path);
    expect(done.html).toContain('<progress value="2" max="2"');
    expect(textOf(done.html)).toContain(
      "2 of 2 keys are reconciled. All revocations are done at the gateway. Nothing is left to do",
    );
    expect((await browser.visit(`${path}/progress?keys=x&revocations=-1`)).status).toBe(200);
  });
});

describe("CON-77 CON-99 the keys of many users", () => {
  const ACTION = `${KEYS}/action`;
  const ask = (query: string) => browser.visit(`${ACTION}?${query}`);
  const wordsIn = (html: string) => html.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
  const requestIn = (html: string) => {
    const [, text = ""] = /<pre>POST \/admin\/gateway\/keys\/change\s([^<]*)<\/pre>/.exec(html) ?? [];
    return { body: JSON.parse(text.replaceAll("&quot;", '"')) };
  };
  const actions = () =>
    site.domain.auditLog
      .listByKey(admin.actor.organizationId, { limit: 10 })
      .items.map(({ action }) => action);

  test("provides, replaces and revokes selected keys after a confirmation that names them, with the result of each", async () => {
    const eve = await site.signedIn("member", { email: "eve@example.com" });
    await site.domain.identity.users.update(admin.actor, eve.user.id, { status: "suspended" });
    const ids = [ana, bob, eve].map(({ user }) => `id=${user.id}`).join("&");
    const questionPage = await ask(`act=ensure&${ids}`);
    expect(questionPage.heading).toBe("Provide 3 keys?");
    expect(wordsIn(questionPage.html)).toContain("2 keys: ana@example.com , bob@example.com");
    expect(wordsIn(questionPage.html)).toContain("eve@example.com : eve@example.com is suspended");
    const provided = await browser.submit(formTo(questionPage, ACTION), {});
    expect(wordsIn(provided.html)).toMatch(/2 unchanged 1 refused/);
    const before = [ana, bob].map(({ user }) => site.domain.gateway.directory.show(user).externalId);
    const question = await ask(`act=rotate&id=${ana.user.id}&id=${bob.user.id}`);
    const replaced = await browser.submit(formTo(question, ACTION), {});
    expect(replaced.heading).toBe("2 keys replaced");
    const after = [ana, bob].map(({ user }) => site.domain.gateway.directory.show(user).externalId);
    expect(after.filter((id) => before.includes(id))).toEqual([]);
    expect(actions()).toEqual(expect.arrayContaining(["gateway_keys.change", "gateway_key.provision"]));
    const revoked = await browser.submit(
      formTo(await ask(`act=revoke&id=${ana.user.id}&id=${bob.user.id}`), ACTION),
      {},
    );
    expect(revoked.heading).toBe("2 keys revoked");
    expect([stateOf(ana), stateOf(bob)]).toEqual(["missing", "missing"]);
    expect(revoked.html.split("The revocation at the gateway is pending.")).toHaveLength(3);
  });

  test("offers no action if no selected key can change, and explains why", async () => {
    const dora = await site.signedIn("member", { email: "dora@example.com" });
    for (const { user } of [ana, dora]) await site.domain.gateway.keys.revoke({ actor: admin.actor, user });
    const none = await ask(`act=revoke&id=${ana.user.id}&id=${dora.user.id}`);
    expect([none.status, none.heading, none.html.includes(`action="${ACTION}"`)]).toEqual([
      409,
      "Nothing to do",
      false,
    ]);
    expect(wordsIn(none.html)).toContain("would change none of the 2 keys that you selected");
    expect(wordsIn(none.html)).toContain("dora@example.com : there is no key to revoke");
    expect(none.html).toContain(`<a href="${KEYS}">Back to the keys</a>`);
  });

  test("CON-2 CON-17 shows the equivalent command and request, for selected keys and for a filter", async () => {
    const selected = await ask(`act=rotate&id=${ana.user.id}&id=${bob.user.id}`);
    expect(selected.html).toContain(
      "<pre>quartermaster keys change rotate ana@example.com bob@example.com</pre>",
    );
    const { body } = requestIn(selected.html);
    expect(body).toEqual({ action: "rotate", ids: [ana.user.id, bob.user.id] });
    const sent = { ...body, dry_run: true };
    const told = await site.request("POST", "/admin/gateway/keys/change", {
      cookie: admin.cookie,
      body: sent,
    });
    expect((await told.json()).items).toEqual([
      { id: ana.user.id, name: "ana@example.com", result: "done", reason: null },
      { id: bob.user.id, name: "bob@example.com", result: "done", reason: null },
    ]);
    await act(ana.user.id, "ensure");
    const all = await ask(`act=revoke&all=1&filter=${encodeURIComponent("?state=ready&q=ana")}`);
    expect(all.html).toContain("<pre>quartermaster keys change revoke --q ana --state ready</pre>");
    expect(requestIn(all.html).body).toMatchObject({
      action: "revoke",
      filter: { state: "ready", q: "ana" },
    });
  });

  test("answers a form with 10,001 rows with the limit and a link back", async () => {
    const { csrf = "" } = formTo(await browser.visit(`${KEYS}/reconcile`), `${KEYS}/reconcile`).fields;
    const ids = Array.from({ length: 10_001 }, () => crypto.randomUUID()).join(",");
    const form = { action: ACTION, fields: { csrf, act: "revoke", ids }, buttons: [] };
    const { status, html } = await browser.submit(form, {});
    expect(status).toBe(413);
    expect(html).toContain("Nothing was changed: one form names at most 100 rows.");
    expect(html).toContain(`href="${KEYS}"`);
    const some = await browser.submit(
      { ...form, fields: { ...form.fields, ids: ids.slice(0, 37 * 101 - 1) } },
      {},
    );
    expect(some.status).toBe(400);
    expect(some.html).toContain("Select at most 100 keys, or all that match the filters.");
  });

  test("counts the keys that match the filters again and asks for their number", async () => {
    for (const { user } of [ana, bob]) await act(user.id, "ensure");
    const list = await browser.visit(`${KEYS}?state=ready`);
    expect(list.html).toContain("All that match, on every page");
    expect(list.html).toContain("quartermaster keys list --state ready");
    const questionPage = await ask(`act=revoke&all=1&filter=${encodeURIComponent("?state=ready")}`);
    expect(questionPage.heading).toBe("Revoke 2 keys?");
    expect((await browser.submit(formTo(questionPage, ACTION), { typed: "1" })).status).toBe(400);
    const done = await browser.submit(formTo(questionPage, ACTION), { typed: "2" });
    expect([done.heading, stateOf(ana), stateOf(bob)]).toEqual(["2 keys revoked", "missing", "missing"]);
    expect((await ask(`act=revoke&all=1&filter=${encodeURIComponent("?state=x")}`)).status).toBe(400);
  });

  test("leads to the question for one key if one user is selected, and auditors have no boxes", async () => {
    expect((await ask(`act=rotate&id=${ana.user.id}`)).path).toBe(`${KEYS}/${ana.user.id}/rotate`);
    await act(ana.user.id, "ensure");
    expect((await browser.visit(KEYS)).html).toContain(`value="${ana.user.id}"`);
    expect((await auditor.visit(KEYS)).html).not.toContain('name="id"');
    await act(bob.user.id, "ensure");
  });
});

describe("CON-76 the page about gateway mode", () => {
  test("shows mode, addresses, provisioner, keys by state and missing parts", async () => {
    const { html } = await browser.visit(GATEWAY);
    for (const text of [
      "A separate proxy forwards requests",
      PROXY_URL,
      site.upstream.origin,
      "builtin-litellm",
      "The policy in force sends no agent through the gateway.",
      "No key has a problem",
      `href="${KEYS}?state=ready"`,
      "POST /gateway/proxy/health",
      "Not checked yet",
    ])
      expect(html).toContain(text);
  });

  test("counts failures by reason, and leads to their keys", async () => {
    const { user } = await site.signedIn("member", { email: "carl@example.com" });
    site.upstream.users.pop(); // the account of this user
    expect((await act(user.id, "ensure")).html).toContain("notice attention");
    const { html } = await browser.visit(GATEWAY);
    expect(html).toContain("The gateway has no account with this address.");
    expect(html).toContain(`href="${KEYS}?problem=true"`);
  });

  test("checks the health of the proxy only on request, even for an auditor", async () => {
    const page = await auditor.visit(`${GATEWAY}?check=now`);
    expect(page.html).toContain("Not checked yet");
    const { html } = await auditor.submit(formTo(page, GATEWAY), {});
    expect(html).toContain("Unhealthy");
    expect(html).toContain("The proxy answered with status 401.");
  });

  test("shows once that the proxy does not answer, without the name of its destination", async () => {
    await using own = await createGatewayServer({ proxyOrigin: "http://127.0.0.1:1" });
    const administrator = consoleBrowser(own, await own.signedIn("admin"));
    const { html } = await administrator.submit(formTo(await administrator.visit(GATEWAY), GATEWAY), {});
    expect(html.match(/the proxy did not answer/gi)).toHaveLength(1);
    expect(html.toLowerCase()).not.toContain("inference-proxy");
  });

  test("has the figures of the process that forwards", async () => {
    const figures = { inFlight: 3, capacity: 2_000, logQueue: 7, logDropped: 1 };
    let isUpstreamUp: boolean | undefined = false;
    await using own = await createGatewayServer({
      gateway: { proxyMode: "in-process" },
      proxyFigures: () => ({ ...figures, isUpstreamUp }),
    });
    const administrator = consoleBrowser(own, await own.signedIn("admin"));
    const { html } = await administrator.visit(GATEWAY);
    expect(html).toContain("This service forwards requests");
    expect(html).toMatch(/3<\/span> of at most <span class="number">2,000/);
    expect(html).toContain("Did not reach the gateway");
    isUpstreamUp = undefined;
    expect((await administrator.visit(GATEWAY)).html).toContain("None since the start");
    isUpstreamUp = true;
    expect((await administrator.visit(GATEWAY)).html).toContain("Reached the gateway");
  });

  test("CON-12 is for administrators", async () => {
    expect((await consoleBrowser(site, ana).visit(GATEWAY)).status).toBe(403);
  });
});

test("CON-12 has no such pages without gateway mode, and tells administrators the setting", async () => {
  await using off = await createTestServer();
  const visitor = consoleBrowser(off, await off.signedIn("admin"));
  for (const path of [GATEWAY, KEYS, `${KEYS}/reconcile`, `${KEYS}/x`, `${KEYS}/x/ensure`]) {
    const { status, html } = await visitor.visit(path);
    expect([path, status, html.includes("gateway.type")]).toEqual([path, 404, true]);
  }
});
