// Groups and logins in the console.
import { afterAll, describe, expect, test } from "bun:test";
import { CORE_GROUP, CORE_USER } from "../../../src/domain/scim/wire.ts";
import { commandsIn, requestsIn, runOn } from "../../support/cli/shown-commands.ts";
import { createTestServer, SCIM_TOKEN } from "../../support/server.ts";

const site = await createTestServer({ scim: { groupRoleMappings: { Chiefs: "admin", Gone: "admin" } } });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const ana = await site.signedIn("member", { email: "ana@example.com" });

const read = async (path: string) => {
  const answer = await site.request("GET", `/console/${path}`, { cookie: admin.cookie });
  return { status: answer.status, html: await answer.text() };
};
const hidden = (html: string, name: string): string =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";
const send = async (path: string, fields: Record<string, string> = {}) => {
  const { html } = await read(path);
  const form = { csrf: hidden(html, "csrf"), count: hidden(html, "count"), ...fields };
  const answer = await site.request("POST", `/console/${path}`, {
    cookie: admin.cookie,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });
  return { status: answer.status, html: await answer.text() };
};
const rowsIn = (html: string): number => html.split("<tr><td").length - 1;

describe("CON-74 groups", () => {
  test("explain how to fill the list, and name mapped groups that do not exist", async () => {
    const { status, html } = await read("groups");
    expect([status, html.includes("There are no groups yet.")]).toEqual([200, true]);
    expect(html).toContain("A role is mapped to the group &quot;Gone&quot;, but no group has that name.");
  });

  test("lists groups with the role of their members, each with a page of its members", async () => {
    const provision = async (path: string, body: object) =>
      (
        await site.request("POST", `/scim/v2/${path}`, {
          token: SCIM_TOKEN,
          body: JSON.stringify(body),
          headers: { "content-type": "application/scim+json" },
        })
      ).json();
    const bob = await provision("Users", { schemas: [CORE_USER], userName: "bob@example.com" });
    const members = [{ value: bob.id }];
    const { id } = await provision("Groups", { schemas: [CORE_GROUP], displayName: "Chiefs", members });
    await provision("Groups", { schemas: [CORE_GROUP], displayName: "<script>\u202e" });
    const list = await read("groups");
    expect([list.status, rowsIn(list.html), list.html.includes("&lt;script>[U+202E]")]).toEqual([
      200,
      2,
      true,
    ]);
    expect(list.html).toContain("Administrator");
    expect(rowsIn((await read("groups?q=chi")).html)).toBe(1);
    expect((await read("groups?page=0")).status).toBe(400);
    const one = await read(`groups/${id}`);
    expect([one.status, one.html.includes("bob@example.com"), rowsIn(one.html)]).toEqual([200, true, 1]);
    expect((await read("groups/none")).status).toBe(404);
    expect((await read(`groups/${id.toUpperCase()}`)).status).toBe(200);
    expect(rowsIn((await read(`users?group=${id.toUpperCase()}`)).html)).toBe(1);
  });
});

describe("CON-75 logins", () => {
  test("lists logins with filters by user, kind and state", async () => {
    const own = await read("logins?user_id=ANA@example.com&kind=login_session");
    expect([rowsIn(own.html), own.html.includes(`/console/users/${ana.user.id}/end-logins`)]).toEqual([
      1,
      true,
    ]);
    const capitals = await read(`logins?user_id=${ana.user.id.toUpperCase()}&kind=login_session`);
    expect(rowsIn(capitals.html)).toBe(1);
    const [command = []] = commandsIn(capitals.html);
    expect((await runOn(site, command)).exitCode).toBe(0);
    expect((await read("logins")).html).toContain("(this browser)");
    expect(rowsIn((await read("logins?show=all&kind=device_login")).html)).toBe(2);
  });

  test("lists logins by key", async () => {
    const { user } = await site.signedIn("member", { email: "many@example.com" });
    for (let at = 0; at < 26; at++) await site.signInAgain(user);
    const { status, html } = await read("logins?user_id=many@example.com&kind=login_session");
    expect([status, rowsIn(html)]).toEqual([200, 25]);
    const next =
      /href="\/console\/(logins\?[^"]*cursor=[^"]*)"/.exec(html)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const rest = await read(next);
    expect([rest.status, rowsIn(rest.html) > 0]).toEqual([200, true]);
  });

  test("CON-22 explains bad filters of logins beside each", async () => {
    const { status, html } = await read("logins?user_id=nobody&kind=x&show=y&cursor=z&per_page=0");
    expect([status, rowsIn(html)]).toEqual([400, 0]);
    for (const name of ["user_id", "kind", "show"]) expect(html).toContain(`id="filter-${name}-error"`);
  });

  test("CON-90 has a page of each login, active or ended, with the equivalent command and request", async () => {
    const pathIn = async (kind: string) =>
      /<a href="\/console\/(logins\/[^"/]*)"/.exec(
        (await read(`logins?user_id=ana@example.com&kind=${kind}`)).html,
      )?.[1] ?? "";
    const grant = await read(await pathIn("grant"));
    expect(grant.status).toBe(200);
    expect(grant.html).toContain("has not reported yet");
    const used = /<td[^>]*><a href="\/console\/(logins\/[^"/]*)"/.exec(
      (await read("logins?user_id=ana@example.com&kind=device_login&show=all")).html,
    );
    const { html: usedHtml } = await read(used?.[1] ?? "");
    expect(usedHtml).toContain("Login: sign-in of a workstation</h1>");
    expect(usedHtml).not.toContain("<dt>Expires</dt>");
    for (const text of ["ana@example.com", "In use", "a login in a browser", "End this login"])
      expect(grant.html).toContain(text);
    const again = await site.signInAgain(ana.user);
    await site.domain.access.logins.revoke(admin.actor, again.loginSessionId);
    const page = await read(`logins/${again.loginSessionId}`);
    expect([page.status, page.html.includes("End this login")]).toEqual([200, false]);
    expect(page.html).toContain("<dt>Ended</dt>");
    const capitals = again.loginSessionId.toUpperCase();
    expect((await read(`logins/${capitals}`)).status).toBe(200);
    const [command = []] = commandsIn(page.html);
    expect((await runOn(site, ["logins", "show", capitals])).exitCode).toBe(0);
    expect(JSON.parse((await runOn(site, [...command, "--json"])).stdout)).toMatchObject({ state: "ended" });
    const [request] = requestsIn(page.html);
    const told = await site.request("GET", request?.path ?? "", { cookie: admin.cookie });
    expect(await told.json()).toMatchObject({ id: again.loginSessionId, state: "ended" });
    const missing = await read("logins/x");
    expect(missing.html).toContain('<a href="/console/logins">Go to Logins</a>');
    expect(missing.html).not.toContain("`");
    for (const path of ["logins/x", "logins/01890000-0000-7000-8000-000000000000", "logins/%00"])
      expect((await read(path)).status).toBe(404);
    const member = await site.signInAgain(ana.user);
    const refused = await site.request("GET", `/console/logins/${again.loginSessionId}`, {
      cookie: member.cookie,
    });
    expect(refused.status).toBe(403);
  });

  test("end one at a time, after a page that explains the effects", async () => {
    const path = `logins/${ana.loginSessionId}/end`;
    expect((await read(path)).html).toContain("The workstations that it approved must sign in again too.");
    expect((await send(path)).status).toBe(303);
    expect(site.domain.access.logins.show(ana.loginSessionId).state).toBe("ended");
    expect((await read("logins/x/end")).status).toBe(404);
  });

  test("end all of them only after the number is typed, and ask again if there are more", async () => {
    const count = site.domain.access.logins.countLive();
    const wrong = await send("logins/end-all", { typed: "all" });
    expect([wrong.status, wrong.html.includes("Type the number exactly")]).toEqual([400, true]);
    const grown = await send("logins/end-all", { count: String(count - 1), typed: String(count - 1) });
    expect([grown.status, grown.html.includes("There are more logins now.")]).toEqual([400, true]);
    expect((await send("logins/end-all", { typed: ` ${String(count).split("").join(",")}` })).status).toBe(
      303,
    );
    expect(site.domain.access.logins.countLive()).toBe(0);
  });
});
