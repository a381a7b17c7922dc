// CON-25: saved views, and the chosen columns and rows of lists, in the console and through the API.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { join } from "node:path";
import {
  LISTS_MAX,
  NAME_LENGTH_MAX,
  QUERY_LENGTH_MAX,
  QUERY_PARAMETERS_MAX,
  VIEWS_MAX,
} from "../../../../src/domain/console/model.ts";
import { putList } from "../../../../src/domain/console/store.ts";
import { consoleViews } from "../../../../src/domain/console/tables.ts";
import { CORE_GROUP } from "../../../../src/domain/scim/wire.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo } from "../../../support/browser/form-browser.ts";
import { commandsIn, requestsIn, runOn } from "../../../support/cli/shown-commands.ts";
import { createGatewayServer } from "../../../support/gateway/gateway-server.ts";
import { type Caller, createTestServer, SCIM_TOKEN } from "../../../support/server.ts";

const VIEWS = "/console/me/views";
const USUAL = `${VIEWS}/usual`;
const LIST = "/console/users";

import { ROOT } from "../../../support/source.ts";

/** Every list but the members of a group. */
const LIST_PATHS = [
  ...["users", "invitations", "groups", "logins", "identity/tokens", "clients", "packages", "catalog", "mcp"],
  ...["policy/history", "gateway/keys", "gateway/models", "gateway/requests", "audit", "sessions"],
  ...["me/workstations", "me/logins"],
].map((name) => `/console/${name}`);

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const other = await site.signedIn("admin", { email: "other@example.com" });
const auditor = await site.signedIn("member", { email: "auditor@example.com" });
const browser = consoleBrowser(site, admin);

const put = (body: unknown, { accessToken: token } = admin) =>
  site.request("PUT", "/me/console", { token, body });
const get = async ({ accessToken: token }: Caller = admin) =>
  await (await site.request("GET", "/me/console", { token })).json();
/** @returns the path of the members of a group, which are a list */
const groupAt = (index: number) => `/console/groups/${crypto.randomUUID().slice(0, -3)}${100 + index}`;
const keep = (body: object, { accessToken: token } = admin) =>
  site.request("POST", "/me/console/lists", { token, body });
const viewOf = (name: string, changes: object = {}) => ({
  name,
  path: LIST,
  query: "role=admin",
  shared: false,
  ...changes,
});

beforeEach(async () => {
  for (const caller of [admin, other]) await put({ views: [], lists: [] }, caller);
});

const save = async (query: string, fields: Record<string, string>) =>
  browser.submit(formTo(await browser.visit(`${LIST}?${query}`), VIEWS), { shared: "", ...fields });

describe("CON-25 a saved view", () => {
  test("is made from a list, stands above its filters, and is found by the search", async () => {
    const done = await save("role=admin&page=1&columns=-source", { name: " Our <b>admins</b> " });
    expect(done.path).toBe(`${LIST}?role=admin&columns=-source`);
    expect(done.html).toContain("The view is saved.");
    expect(done.html).toMatch(
      /<a class="chip" href="\/console\/users\?role=admin&amp;columns=-source" aria-current="true"><bdi>Our &lt;b>admins/,
    );
    expect((await browser.visit(LIST)).html).toContain("Our &lt;b>admins");
    expect((await browser.visit("/console/logins")).html).not.toContain("Our &lt;b>admins");
    expect((await browser.visit("/console/search?q=our")).html).toContain("Saved view");
  });

  test("CON-17 is saved and removed by the requests on the pages", async () => {
    const requestIn = (html: string, method: string) => {
      const pattern = new RegExp(`<pre>${method} (/me/console[^\\s<]*)\\s+([^<]*)</pre>`);
      const [, path = "", text = "{}"] = pattern.exec(html) ?? [];
      return { path, body: JSON.parse(text.replaceAll("&quot;", '"').replaceAll("&amp;", "&")) };
    };
    const list = await browser.visit(`${LIST}?role=admin&columns=-source`);
    const saving = requestIn(list.html, "POST");
    const saved = await site.request("POST", saving.path, {
      token: admin.accessToken,
      body: { ...saving.body, name: "all" },
    });
    expect((await saved.json()).views).toMatchObject([
      viewOf("all", { query: "role=admin&columns=-source" }),
    ]);
    await put({ views: [viewOf("all"), viewOf("stays")], lists: [{ path: LIST, query: "per_page=50" }] });
    const [, path = ""] =
      /href="([^"]*\/remove)"[^>]*>Remove <span[^>]*>all</.exec((await browser.visit(VIEWS)).html) ?? [];
    const { html } = await browser.visit(path);
    const [{ method, path: address } = { method: "", path: "" }] = requestsIn(html);
    await save("role=member", { name: "saved meanwhile" });
    const before: { id: string; name: string }[] = (await get()).views;
    const removed = await site.request(method, address, { token: admin.accessToken });
    expect([method, removed.status, await removed.text()]).toEqual(["DELETE", 204, ""]);
    expect(await get()).toMatchObject({
      views: before.filter(({ name }) => name !== "all"),
      lists: [{ path: LIST, query: "per_page=50" }],
    });
    expect(before).toHaveLength(3);
    const refused = await site.request("POST", saving.path, {
      token: admin.accessToken,
      body: { ...saving.body, name: "" },
    });
    expect(refused.status).toBe(400);
  });

  test("CON-2 CON-17 is saved, listed and removed by the commands that the pages show", async () => {
    const commandsAt = async (path: string) => commandsIn((await browser.visit(path)).html);
    const list = `${LIST}?role=admin&q=${encodeURIComponent("o'x & y")}`;
    const [saving = []] = await commandsAt(list);
    const name = "Our <b>admins</b>";
    expect(
      (
        await runOn(
          site,
          saving.map((word) => (word === "NAME" ? name : word)),
        )
      ).exitCode,
    ).toBe(0);
    const query = "role=admin&q=o%27x+%26+y";
    expect((await get()).views).toMatchObject([viewOf(name, { query })]);
    const [listing = []] = await commandsAt(VIEWS);
    const { items } = JSON.parse((await runOn(site, [...listing, "--json"])).stdout);
    expect(items).toMatchObject([{ name, path: LIST, query, shared: false }]);
    const [removing = []] = await commandsAt(`${VIEWS}/${items[0].id}/remove`);
    expect((await runOn(site, [...removing, "--yes"])).exitCode).toBe(0);
    expect((await get()).views).toEqual([]);
  });

  test("CON-2 CON-17 columns and rows of a list are saved and reset by the command and the request that it shows", async () => {
    const chosen = `${LIST}?columns=-source&per_page=50&role=admin`;
    const shownAt = async (path: string) => {
      const { html } = await browser.visit(path);
      return { commands: commandsIn(html), requests: requestsIn(html) };
    };
    const isUsual = (words: readonly string[]) => words[0] === "views" && words[1] === "columns";
    const isKept = ({ path }: { path: string }) => path === "/me/console/lists";
    const kept = { lists: [{ path: LIST, query: "columns=-source&per_page=50" }] };
    const first = await shownAt(chosen);
    await runOn(site, first.commands.find(isUsual) ?? []);
    expect(await get()).toMatchObject(kept);
    await runOn(site, (await shownAt(LIST)).commands.find(isUsual) ?? []);
    expect(await get()).toMatchObject({ lists: [] });
    for (const [path, after] of [
      [chosen, kept],
      [LIST, { lists: [] }],
    ] as const) {
      const { body } = (await shownAt(path)).requests.find(isKept) ?? {};
      await site.request("POST", "/me/console/lists", { token: admin.accessToken, body });
      expect(await get()).toMatchObject(after);
    }
    const wrong = { path: "https://evil.example", query: "" };
    const refused = await site.request("POST", "/me/console/lists", {
      token: admin.accessToken,
      body: wrong,
    });
    expect(refused.status).toBe(400);
  });

  test("is removed by its owner only, once, and the audit log names it", async () => {
    const shared = await put({ views: [viewOf("Our view", { shared: true })], lists: [] });
    const [{ id }] = (await shared.json()).views;
    const remove = async ({ accessToken: token }: Caller, view: string) => {
      const response = await site.request("DELETE", `/me/console/views/${view}`, { token });
      return [response.status, response.status === 204 ? null : (await response.json()).reason];
    };
    const none = [404, "console_view.not_found"];
    expect(await remove(other, id)).toEqual(none);
    expect(await remove(admin, crypto.randomUUID())).toEqual(none);
    expect((await remove(admin, "x"))[0]).not.toBe(204);
    expect(await remove(admin, id.toUpperCase())).toEqual([204, null]);
    expect(await remove(admin, id)).toEqual(none);
    const [entry] = site.domain.auditLog.list(admin.user.organizationId, {}).items;
    expect(entry).toMatchObject({ action: "console.update", target: admin.user.id });
    expect(JSON.parse(entry?.after ?? "")).toEqual({ removed: "Our view", path: LIST, view_id: id });
  });

  test("keeps its id when all are replaced, by its id or by its list and name", async () => {
    await put({ views: ["a", "b", "c"].map((name) => viewOf(name)), lists: [] });
    const [a, b, c] = (await get()).views;
    const views = [
      { ...a, name: "b" }, // takes the name of b, whose id nobody names
      viewOf("c", { query: "role=member" }),
      { ...viewOf("d"), id: crypto.randomUUID() },
    ];
    const saved = (await (await put({ views, lists: [] })).json()).views;
    expect(saved).toMatchObject([
      { ...viewOf("b"), id: a.id },
      { ...viewOf("c", { query: "role=member" }), id: c.id },
      viewOf("d"),
    ]);
    expect([a.id, b.id, c.id, views[2].id]).not.toContain(saved[2].id);
    const { views: again } = await (await put({ views: saved, lists: [] })).json();
    expect(again).toEqual(saved);
    const twice = [a, { ...a, name: "other" }];
    expect((await (await put({ views: twice, lists: [] })).json()).errors).toEqual([
      { pointer: "/views/1/id", detail: "an earlier view has this id" },
    ]);
    const foreign = (await (await put({ views: saved, lists: [] }, other)).json()).views;
    expect(foreign.filter(({ id }: { id: string }) => JSON.stringify(saved).includes(id))).toEqual([]);
    expect((await get()).views).toEqual(saved);
  });

  test("belongs to its owner, unless it is for all administrators", async () => {
    await put({ views: [viewOf("mine"), viewOf("ours", { shared: true })], lists: [] });
    for (const caller of [other, auditor]) {
      const { html } = await consoleBrowser(site, caller).visit(LIST);
      expect([html.includes("<bdi>mine"), html.includes("<bdi>ours")]).toEqual([false, true]);
    }
    expect((await get(other)).shared).toEqual([viewOf("ours", { shared: true })]);
    const member = await site.signedIn("member");
    expect((await get(member)).shared).toEqual([]);
    const own = { path: "/console/me/logins", query: "kind=grant" };
    const refused = await put({ views: [viewOf("x", { ...own, shared: true })], lists: [] }, member);
    expect([refused.status, (await refused.json()).reason]).toEqual([403, "console.not_shared"]);
    const byAuditor = await put({ views: [viewOf("x", { shared: true })], lists: [] }, auditor);
    expect([byAuditor.status, (await byAuditor.json()).reason]).toEqual([403, "console.not_shared"]);
  });

  test("CON-117 shows control characters of its name and of a filter as symbols", async () => {
    await put({ views: [viewOf("\u001b[31m\u202eours")], lists: [] });
    const own = await browser.visit(VIEWS);
    expect([own.html.includes("\u001b"), own.html.includes("\u202e")]).toEqual([false, false]);
    const { html } = await browser.visit(`${LIST}?role=%1B%E2%80%AE`);
    expect(html).toContain(">␛[U+202E]</option>");
  });

  test("replaces the one of the same name, and is removed after a question", async () => {
    await save("role=admin", { name: "one" });
    await save("role=member", { name: "one" });
    expect((await get()).views).toMatchObject([viewOf("one", { query: "role=member" })]);
    const [{ id = "" } = {}] = site.domain.preferences.of(admin.user.id).views;
    const path = `${VIEWS}/${id}/remove`;
    expect((await consoleBrowser(site, other).visit(path)).status).toBe(404);
    const done = await browser.submit(formTo(await browser.visit(path), path), {});
    expect([done.path, done.html.includes("No view is saved yet.")]).toEqual([VIEWS, true]);
  });

  test.each([
    ...[
      "https://evil.example",
      "//evil.example",
      "/console/../login",
      "/console",
      "javascript:x",
      "toString",
    ],
    ...["/console/nope", "/console/me/views", "/console/users/action", "/console/groups/:id"],
    `/console/logins/${"a".repeat(64)}`,
  ])("has the path of a list, not %s", async (path) => {
    const form = formTo(await browser.visit(`${LIST}?role=admin`), VIEWS);
    const { status, html } = await browser.submit(form, { name: "x", path });
    expect([status, html.includes("path must be that of a list")]).toEqual([400, true]);
    const body = { name: "x", path, query: "", shared: false };
    for (const response of [
      await put({ views: [body], lists: [] }),
      await site.request("POST", "/me/console/views", { token: admin.accessToken, body }),
    ]) {
      const { errors } = await response.json();
      expect(errors.at(-1).detail).toBe("the path must be that of a list, such as /console/users");
    }
  });
});

describe("CON-25 limits", () => {
  test.each([-1, 0, 1])("%i more than VIEWS_MAX views", async (more) => {
    const views = Array.from({ length: VIEWS_MAX + more }, (_, at) => viewOf(`view ${at}`));
    expect((await put({ views, lists: [] })).status).toBe(more > 0 ? 422 : 200);
    if (more !== 0) return;
    expect((await save("role=member", { name: "view 1" })).status).toBe(200);
    expect((await save("status=active", { name: "one more" })).html).toContain("remove one first");
    const { accessToken: token } = admin;
    const refused = await site.request("POST", "/me/console/views", { token, body: viewOf("one more") });
    const { paths } = await (await site.request("GET", "/openapi.json", { token })).json();
    expect([refused.status, (await refused.json()).reason]).toEqual([400, "console.invalid"]);
    const { responses } = paths["/me/console/views"].post;
    expect([responses[400].description, responses[409]]).toEqual([
      expect.stringContaining("the maximum number of views"),
      undefined,
    ]);
  });

  test.each([-1, 0, 1])("%i more than LISTS_MAX lists", async (more) => {
    const lists = Array.from({ length: LISTS_MAX + more }, (_, at) => ({
      path: groupAt(at),
      query: "per_page=50",
    }));
    expect((await put({ views: [], lists })).status).toBe(more > 0 ? 422 : 200);
    if (more !== 0) return;
    const form = formTo(await browser.visit(`${LIST}?per_page=50`), USUAL);
    expect((await browser.submit(form, { act: "keep" })).html).toContain("remove one first");
  });

  test.each([-1, 0, 1])("%i more characters than a name or a query may have", async (more) => {
    const status = more > 0 ? 400 : 200;
    const name = "é".repeat(NAME_LENGTH_MAX + more);
    expect((await put({ views: [viewOf(name)], lists: [] })).status).toBe(status);
    const query = `platform=${"x".repeat(QUERY_LENGTH_MAX - 9 + more)}`;
    const long = viewOf("x", { path: "/console/clients", query });
    expect((await put({ views: [long], lists: [] })).status).toBe(status);
  });

  test.each([-1, 0, 1])("%i more than QUERY_PARAMETERS_MAX parameters", async (more) => {
    const query = Array(QUERY_PARAMETERS_MAX + more)
      .fill("role=")
      .join("&");
    const answer = await put({ views: [viewOf("x", { query })], lists: [] });
    expect(answer.status).toBe(more > 0 ? 400 : 200);
  });

  test("all problems are named", async () => {
    const views = [viewOf(" ", { path: "/x" }), viewOf("twice"), viewOf("twice")];
    const { errors } = await (await put({ views, lists: [{ path: "x", query: "" }] })).json();
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual([
      "/views/0/name",
      "/views/0/path",
      "/lists/0/path",
      "/views/2",
    ]);
  });
});

describe("CON-25 columns and rows of a list", () => {
  test("keeps the columns and rows for every visit, changes them by the address, and resets them", async () => {
    const form = formTo(await browser.visit(`${LIST}?per_page=50&columns=-role&role=admin`), USUAL);
    const kept = await browser.submit(form, { act: "keep" });
    expect([kept.path, kept.html.includes('<th scope="col">Role')]).toEqual([LIST, false]);
    expect((await get()).lists).toEqual([{ path: LIST, query: "per_page=50&columns=-role" }]);
    expect(kept.html).toContain('<option value="50" selected');
    const shown = /href="([^"]+)">Show Role/.exec(kept.html)?.[1] ?? "";
    expect((await browser.visit(shown.replaceAll("&amp;", "&"))).html).toContain('<th scope="col">Role');
    expect((await consoleBrowser(site, other).visit(LIST)).html).toContain('<th scope="col">Role');
    const done = await browser.submit(formTo(await browser.visit(LIST), USUAL), { act: "forget" });
    expect(done.html).toContain('<th scope="col">Role');
    expect((await get()).lists).toEqual([]);
  });

  test.each([
    ...["per_page=99999", "per_page=x", "per_page=1", "per_page=50&per_page=51", "columns=zzz"],
    ...["columns=%00", "columns=role,-email", "columns=-role,", "columns=toString"],
  ])("rejects %s in a list and in a view, as the page of the list does", async (query) => {
    for (const response of [
      await keep({ path: LIST, query }),
      await put({ views: [], lists: [{ path: LIST, query }] }),
      await put({ views: [viewOf("x", { query })], lists: [] }),
    ]) {
      const { status, reason, errors } = await response.json();
      expect([status, reason, errors.length]).toEqual([400, "console.invalid", 1]);
    }
    expect(await get()).toMatchObject({ views: [], lists: [] });
    const form = formTo(await browser.visit(`${LIST}?per_page=50`), USUAL);
    expect((await browser.submit(form, { act: "keep", query })).status).toBe(400);
    const command = await runOn(site, ["views", "columns", admin.user.email, `${LIST}?${query}`]);
    expect(command.exitCode).not.toBe(0);
    expect((await browser.visit(LIST)).status).toBe(200);
  });

  test("names all problems of a list together", async () => {
    const { errors } = await (await keep({ path: LIST, query: "columns=zzz&per_page=x" })).json();
    const columns = "email, role, status, source, last_seen_at, workstations, key";
    expect(errors).toEqual([
      {
        pointer: "/query",
        detail: `columns must be names of this list's columns, either all or none with a + or - before them: ${columns}`,
      },
      { pointer: "/query", detail: "per_page must be 25, 50 or 100" },
    ]);
    const unknown = await (await keep({ path: "/console/nope", query: "columns=zzz&per_page=x" })).json();
    expect(unknown.errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(["/path"]);
  });

  test.each(["columns=-role%2C-status&per_page=100", "columns=email,key", "per_page=25"])(
    "accepts %s",
    async (query) => {
      expect((await keep({ path: LIST, query })).status).toBe(200);
      expect((await get()).lists).toHaveLength(1);
    },
  );

  test("leaves out empty choices, which the form of a list sends", async () => {
    expect((await keep({ path: LIST, query: "columns=&per_page=" })).status).toBe(200);
    expect((await get()).lists).toEqual([]);
  });

  test("opens with the defaults when an earlier version stored values that the list cannot use", async () => {
    await keep({ path: LIST, query: "per_page=50" });
    const store = (path: string, query: string) =>
      site.world.db.write((tx) => putList(tx, admin.user.id, { path, query }));
    await store("/console/nope", "per_page=50");
    for (const query of ["per_page=99999", "per_page=x", "columns=zzz", "columns=%00&per_page=1"]) {
      await store(LIST, query);
      const list = await browser.visit(LIST);
      expect([list.status, list.html.includes('<th scope="col">Role')]).toEqual([200, true]);
      expect((await get()).lists).toEqual([]);
    }
    await store(LIST, "per_page=99999&columns=-role");
    expect((await get()).lists).toEqual([{ path: LIST, query: "columns=-role" }]);
    expect((await browser.visit(LIST)).html).not.toContain('<th scope="col">Role');
  });
});

describe("CON-25 a view that an earlier version stored with values that the list does not have", () => {
  test.each(["status=gone", "role=nobody", "columns=zzz"])(
    "explains them and can be removed: %p",
    async (query) => {
      await put({ views: [viewOf("Old <b>", { query: "role=admin" })], lists: [] });
      await put({ views: [viewOf("Shared", { query: "role=admin", shared: true })], lists: [] }, other);
      await site.world.db.write((tx) => tx.update(consoleViews).set({ query }).run());
      const list = await browser.visit(`${LIST}?${query}`);
      expect(list.status).toBe(400);
      expect(list.html).toContain("“<bdi>Old &lt;b></bdi>” asks for values that the list does not have");
      const [, removal = ""] = / or <a href="([^"]+\/remove)" data-dialog/.exec(list.html) ?? [];
      await browser.submit(formTo(await browser.visit(removal), removal), {});
      const shared = await browser.visit(`${LIST}?${query}`);
      expect(shared.html).toContain("“<bdi>Shared</bdi>” asks for values");
      expect(shared.html).toContain("Another administrator shares this view.");
      expect((await browser.visit(`${LIST}?status=nothing`)).html).not.toContain("asks for values");
    },
  );

  test("cannot be made from a list that shows no rows because of them", async () => {
    for (const query of ["status=nothing", "columns=zzz"])
      expect((await browser.visit(`${LIST}?${query}`)).html).not.toContain("Save this view");
    expect((await browser.visit(`${LIST}?status=active`)).html).toContain("Save this view");
  });
});

describe("CON-22 columns in the address of a list", () => {
  const bad = [
    "zzz",
    "-zzz",
    "email,zzz",
    "%2B",
    "-role,email",
    "%00",
    "role&columns=zzz",
    "x".repeat(3_000),
  ];
  test.each(bad)(
    "refuses unknown ones like other nonsense, with a link to the usual ones: %p",
    async (columns) => {
      for (const path of LIST_PATHS.filter((each) => !each.includes("/gateway/"))) {
        const { status, html } = await browser.visit(`${path}?columns=${columns}`);
        expect([path, status]).toEqual([path, 400]);
        expect(html).toContain("<title>Error: ");
        expect(html).toContain(`<a href="${path}">The list has no such columns. Show its usual columns</a>`);
        expect(html).not.toContain("<tbody>");
      }
    },
  );

  test("accepts none, and keeps the status of a refusal", async () => {
    expect((await browser.visit(`${LIST}?columns=`)).status).toBe(200);
    expect((await browser.visit(`${groupAt(0)}?columns=zzz`)).status).toBe(404);
    const member = consoleBrowser(site, await site.signedIn("member", { email: "columns@example.com" }));
    expect((await member.visit(`${LIST}?columns=zzz`)).status).toBe(403);
  });
});

describe("CON-25 names and readers of lists", () => {
  test("lets a member save only own lists, and an auditor also those of administrators", async () => {
    const member = await site.signedIn("member");
    const ownView = viewOf("x", { path: "/console/me/logins", query: "kind=grant" });
    for (const [caller, view, status] of [
      [member, viewOf("x"), 400],
      [member, ownView, 200],
      [auditor, viewOf("x"), 200],
    ] as const) {
      const token = caller.accessToken;
      const sent = [
        await site.request("POST", "/me/console/views", { token, body: view }),
        await site.request("POST", "/me/console/lists", {
          token,
          body: { path: view.path, query: "per_page=50" },
        }),
      ];
      expect(sent.map((response) => response.status)).toEqual([status, status]);
      const command = ["views", "columns", caller.user.email, view.path];
      if (caller === member) expect((await runOn(site, command)).exitCode === 0).toBe(status === 200);
    }
    const [refused] = (await (await put({ views: [viewOf("x")], lists: [] }, member)).json()).errors;
    expect(refused).toEqual({
      pointer: "/views/0/path",
      detail: "only administrators open this list; choose one of your own, such as /console/me/logins",
    });
  });

  test("saves the members of a group under one path, also from its address in capitals", async () => {
    const group = await site.request("POST", "/scim/v2/Groups", {
      token: SCIM_TOKEN,
      headers: { "content-type": "application/scim+json" },
      body: JSON.stringify({ schemas: [CORE_GROUP], displayName: "lab" }),
    });
    const path = `/console/groups/${(await group.json()).id}`;
    const capitals = path.replace(/[^/]+$/, (id) => id.toUpperCase());
    const form = formTo(await browser.visit(`${capitals}?per_page=50&columns=-state`), VIEWS);
    expect((await browser.submit(form, { name: "small", shared: "" })).status).toBe(200);
    expect((await keep({ path: capitals, query: "per_page=50" })).status).toBe(200);
    expect(await get()).toMatchObject({ views: [{ path }], lists: [{ path, query: "per_page=50" }] });
    for (const address of [path, capitals])
      expect((await browser.visit(address)).html).toContain("<bdi>small</bdi>");
    expect(site.domain.preferences.usualOf(admin.user.id, capitals)).toBe("per_page=50");
  });

  test.each(["\u200b", "\u200b \u2060", "\u3164", "\u2800", "\u202e\u202c"])(
    "refuses a name of invisible characters: %j",
    async (name) => {
      const response = await put({ views: [viewOf(name)], lists: [] });
      const { errors } = await response.json();
      expect(errors).toEqual([
        { pointer: "/views/0/name", detail: "the name must have a visible character" },
      ]);
    },
  );

  test("accepts the path of every list", async () => {
    const gateway = await createGatewayServer();
    const reader = await gateway.signedIn("admin");
    const visits = consoleBrowser(gateway, reader);
    for (const path of LIST_PATHS) {
      const { status, html } = await visits.visit(path);
      expect([path, status, html.includes('id="list"')]).toEqual([path, 200, true]);
      const { accessToken: token } = reader;
      const query = path === "/console/policy/history" ? "columns=-comment" : "per_page=50";
      const body = { path, query };
      expect((await gateway.request("POST", "/me/console/lists", { token, body })).status).toBe(200);
    }
    await gateway[Symbol.asyncDispose]();
  });

  test("knows the columns of every list of the pages", async () => {
    const typed = new Set<string>();
    for await (const file of new Bun.Glob("src/server/console/**/*.tsx").scan({ cwd: ROOT })) {
      const text = await Bun.file(join(ROOT, file)).text();
      const paths = [...text.matchAll(/ListColumn<"([^"]+)">/g)].map(([, path = ""]) => path);
      for (const path of paths) typed.add(path);
      const lists = text.match(/<ListView /g)?.length ?? 0;
      expect([file, new Set(paths).size]).toEqual([file, lists]);
    }
    expect([...typed].sort()).toEqual([...LIST_PATHS, "/console/groups/:id"].sort());
  });
});
