// Suspending, resuming, ending logins and changing roles of many users in the console: questions, results, reasons, audit.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { inArray, like } from "drizzle-orm";
import { CONFIRMATION_TTL_MS } from "../../../src/domain/access/second-factor/model.ts";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { users as userRows } from "../../../src/domain/identity/tables.ts";
import { BULK_USER_ACTIONS } from "../../../src/domain/identity/users/bulk-changes.ts";
import { CORE_USER } from "../../../src/domain/scim/wire.ts";
import { BULK_ROWS_MAX } from "../../../src/domain/shared/bulk.ts";
import { giveApp } from "../../support/second-factor/given-factors.ts";
import { createTestServer, SCIM_TOKEN } from "../../support/server.ts";
import { bulkForm } from "./bulk-form.ts";

const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "admin@example.com" });
const auditor = await site.signedIn("admin", { email: "auditor@example.com" });
const ana = await site.signedIn("member", { email: "ana@example.com" });
const bob = await site.signedIn("member", { email: "bob@example.com" });
const { db, organizationId, system } = site.world;
const { users } = site.domain.identity;
const { question, send } = bulkForm(site, "/console/users/action", admin);

const TO_CONFIRM = "Confirm in a new tab that it is you";
const textOf = (html: string): string => html.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
const resultsIn = (html: string): string[] =>
  [...html.matchAll(/<tr><td data-label="User">.*?<\/tr>/gs)].map(([row]) => textOf(row).trim());
const stateOf = ({ user }: typeof ana) => {
  const { role, status } = users.show(organizationId, user.id);
  return `${role} ${status}`;
};
const isSignedIn = async ({ accessToken }: { accessToken: string }): Promise<boolean> =>
  (await site.request("GET", "/auth/me", { token: accessToken })).status === 200;
const entries = () => db.read.select().from(auditEntries).all();
const actionsSince = (count: number) =>
  entries()
    .slice(count)
    .map(({ action }) => action);
/** @returns the filter for users of a test, who are removed after it */
const addMany = async (count: number, name = "many") => {
  await db.write((tx) => {
    for (let at = 0; at < count; at++) {
      const email = `${name}-${String(at).padStart(5, "0")}@example.org`;
      const id = site.world.ids.uuid();
      const times = { createdAtMs: 0, updatedAtMs: 0 };
      tx.insert(userRows)
        .values({
          id,
          organizationId,
          email,
          emailKey: email,
          subject: id,
          role: "member",
          status: "active",
          ...times,
        })
        .run();
    }
  }, "user_rows");
  return encodeURIComponent(`?q=${name}-`);
};
const byIds = (...callers: readonly (typeof ana)[]): string =>
  callers.map(({ user }) => `id=${user.id}`).join("&");

beforeEach(async () => {
  await db.write((tx) => tx.delete(userRows).where(like(userRows.email, "%@example.org")).run(), "user_rows");
  for (const { user } of [ana, bob])
    await users.update(system, user.id, { role: "member", status: "active" });
});

describe("CON-70 CON-99 selected users", () => {
  test("offers every action for selected users, and none to auditors", async () => {
    const list = async (cookie: string) => (await site.request("GET", "/console/users", { cookie })).text();
    const html = await list(admin.cookie);
    for (const name of BULK_USER_ACTIONS) expect(html).toContain(`name="act" value="${name}"`);
    expect(await list(auditor.cookie)).not.toContain('name="act"');
  });

  test("suspends selected users with their logins, each with its own entry and one for the whole", async () => {
    const again = await Promise.all([ana, bob].map(({ user }) => site.signInAgain(user)));
    const before = entries().length;
    const { html } = await question(`act=suspend&${byIds(ana, bob)}`);
    expect(html).toContain("Suspend 2 users?");
    expect(html).toContain("quartermaster users change suspend ana@example.com bob@example.com<");
    const result = await send(html);
    expect([result.status, resultsIn(result.html)]).toEqual([
      200,
      ["ana@example.com Suspended –", "bob@example.com Suspended –"],
    ]);
    expect([stateOf(ana), stateOf(bob)]).toEqual(["member suspended", "member suspended"]);
    expect(await Promise.all(again.map(isSignedIn))).toEqual([false, false]);
    expect(actionsSince(before)).toEqual(["users.update", "user.update", "user.update"]);
    expect(JSON.parse(entries()[before]?.after ?? "")).toEqual({
      status: "suspended",
      users: 2,
      filter: null,
    });
  });

  test.each([
    ["resume", "member active"],
    ["make_admin", "admin suspended"],
    ["make_member", "member suspended"],
  ])("%s changes them", async (act, state) => {
    await users.update(system, ana.user.id, {
      status: "suspended",
      role: act === "make_member" ? "admin" : "member",
    });
    await users.update(system, bob.user.id, {
      status: "suspended",
      role: act === "make_member" ? "admin" : "member",
    });
    await send((await question(`act=${act}&${byIds(ana, bob)}`)).html);
    expect([stateOf(ana), stateOf(bob)]).toEqual([state, state]);
  });

  test("lose only their logins", async () => {
    const again = await site.signInAgain(ana.user);
    const before = entries().length;
    await send((await question(`act=end_logins&${byIds(ana, bob)}`)).html);
    expect([await isSignedIn(again), stateOf(ana)]).toEqual([false, "member active"]);
    expect(actionsSince(before)).toEqual(["users.revoke_logins", "user.revoke_logins", "user.revoke_logins"]);
  });

  test("CON-72 first names users who cannot change, with the reason, then refuses them, and retries them", async () => {
    const provisioned = await site.request("POST", "/scim/v2/Users", {
      token: SCIM_TOKEN,
      headers: { "content-type": "application/scim+json" },
      body: JSON.stringify({ schemas: [CORE_USER], userName: "cleo@example.com" }),
    });
    const { id: managed } = await provisioned.json();
    await users.update(system, bob.user.id, { status: "suspended" });
    const gone = "01890000-0000-7000-8000-000000000000";
    const { html } = await question(`act=suspend&${byIds(admin, ana, bob)}&id=${managed}&id=${gone}`);
    expect(textOf(html)).toContain("4 users will not change");
    expect(textOf(html)).toContain("admin@example.com : this is your own account; ask another administrator");
    const result = await send(html);
    expect(resultsIn(result.html)).toEqual([
      "admin@example.com Refused This is your own account; ask another administrator.",
      "ana@example.com Suspended –",
      "bob@example.com Unchanged This user is already suspended.",
      "cleo@example.com Refused This user is managed by the identity provider (SCIM); change it there.",
      `${gone} Refused There is no such user.`,
    ]);
    expect(textOf(result.html)).toContain("1 done 1 unchanged 3 refused");
    const retried = await send(result.html);
    expect(resultsIn(retried.html)).toHaveLength(3);
  });

  test("never end the reader's own logins", async () => {
    const { html } = await send((await question(`act=end_logins&${byIds(admin, ana)}`)).html);
    expect(resultsIn(html)[0]).toBe(
      "admin@example.com Refused These are your own logins; end them on your own page.",
    );
    expect((await question("act=resume")).status).toBe(400);
  });

  test("leave one administrator", async () => {
    const own = await site.signedIn("admin", { email: "own@example.com" });
    const others = users.list(organizationId, { role: "admin", status: "active" }).items;
    const ids = others.filter(({ id }) => id !== own.user.id).map(({ id }) => `id=${id}`);
    const page = await question(`act=make_member&${ids.join("&")}&${byIds(own)}`, own.cookie);
    const { html } = await send(page.html, {}, own.cookie);
    expect(resultsIn(html).filter((row) => row.includes("Made member"))).toHaveLength(ids.length);
    expect(users.list(organizationId, { role: "admin", status: "active" }).items).toHaveLength(1);
    for (const { id } of others) if (id !== own.user.id) await users.update(system, id, { role: "admin" });
    await users.update(system, own.user.id, { role: "member" });
    admin.cookie = (await site.signInAgain(admin.user)).cookie;
  });

  test("leads to the page of the user if one is selected", async () => {
    const { status, location } = await question(`act=make_admin&${byIds(ana)}`);
    expect([status, location]).toEqual([303, `/console/users/${ana.user.id}/make-administrator`]);
  });

  test("refuses auditors, members and forms without a token", async () => {
    const { html } = await question(`act=suspend&${byIds(ana, bob)}`);
    const fresh = await site.signInAgain(auditor.user);
    expect((await send(html, {}, fresh.cookie)).status).toBe(403);
    expect((await send(html, {}, (await site.signInAgain(ana.user)).cookie)).status).toBe(403);
    expect((await send(html, { csrf: "0" })).status).toBe(403);
    expect(stateOf(ana)).toBe("member active");
  });
});

test("CON-146 the end of all logins requires a fresh confirmation", async () => {
  const own = await site.signedIn("admin", { email: "severe@example.com" });
  await giveApp(site, own);
  const page = "/console/logins/end-all";
  const html = await (await site.request("GET", page, { cookie: own.cookie })).text();
  const fieldOf = (name: string): string =>
    new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? "";
  const count = fieldOf("count");
  site.world.clock.advance(CONFIRMATION_TTL_MS + 1);
  const answer = await site.request("POST", page, {
    cookie: own.cookie,
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ csrf: fieldOf("csrf"), count, typed: count }).toString(),
  });
  site.world.clock.advance(-CONFIRMATION_TTL_MS - 1);
  expect([answer.status, await answer.text()]).toEqual([403, expect.stringContaining(TO_CONFIRM)]);
  expect(await isSignedIn(own)).toBe(true);
});

test("CON-146 CON-99 a change of roles requires a fresh confirmation before anything changes", async () => {
  const own = await site.signedIn("admin", { email: "factor@example.com" });
  await giveApp(site, own);
  const { html } = await question(`act=make_admin&${byIds(ana, bob)}`, own.cookie);
  site.world.clock.advance(CONFIRMATION_TTL_MS + 1);
  const before = entries().length;
  const refused = await send(html, {}, own.cookie);
  site.world.clock.advance(-CONFIRMATION_TTL_MS - 1);
  expect([refused.status, refused.html]).toEqual([403, expect.stringContaining(TO_CONFIRM)]);
  expect([entries().length, stateOf(ana)]).toEqual([before, "member active"]);
  await send(refused.html, {}, own.cookie);
  expect(stateOf(ana)).toBe("admin active");
});

test.each([
  ["act=suspend", "Select at least one"],
  ["act=explode&id=1", "Choose what to do"],
  ["act=suspend&id=1&id=2&id=2", "2 users will not change"],
  [`act=suspend&all=1&filter=${encodeURIComponent("?role=x")}`, "Role: must be admin or member"],
  [`act=suspend&all=1&filter=${encodeURIComponent("?q=nobody-at-all")}`, "No user matches"],
  [
    `act=suspend&${Array.from({ length: BULK_ROWS_MAX + 1 }, (_, at) => `id=${at}`).join("&")}`,
    "Select at most 100",
  ],
  [
    `act=suspend&${Array.from({ length: BULK_ROWS_MAX }, (_, at) => `id=${at}`).join("&")}`,
    "would change none of the 100 users",
  ],
])("CON-98 nonsense is answered with a reason: %p", async (query, why) => {
  expect(textOf((await question(query)).html)).toContain(why);
});

describe("CON-27 CON-99 all users that match a filter", () => {
  test("CON-119 counts the users again, with the number typed, and processes them in consecutive slices", async () => {
    const filter = await addMany(BULK_ROWS_MAX + 1);
    const before = entries().length;
    const { html } = await question(`act=end_logins&all=1&filter=${filter}`);
    expect(html).toContain("End all logins of 101 users?");
    expect(html).toContain("quartermaster users change end_logins --q many-<");
    expect((await send(html, { typed: "2" })).html).toContain("Type the number 101");
    const first = await send(html, { typed: "101" });
    expect([first.html.includes("100 of 101 done"), first.html.includes("data-continue")]).toEqual([
      true,
      true,
    ]);
    const late = async (changes = {}) => textOf((await send(first.html, changes, "")).html);
    expect(await late()).toContain("Your session has ended, so the change stopped; 100 rows were changed.");
    expect(await late({ done: "x" })).toContain("so the change stopped before its end.");
    expect(textOf((await send(html, { typed: "101" }, "")).html)).toContain("so nothing was changed.");
    const second = await send(first.html);
    expect(second.html).toContain("All logins of 101 users ended");
    const recorded = actionsSince(before);
    expect(recorded.filter((action) => action === "users.revoke_logins")).toHaveLength(1);
    expect(recorded.filter((action) => action === "user.revoke_logins")).toHaveLength(BULK_ROWS_MAX + 1);
    const whole = entries().find(({ after }) => after?.includes("many-"));
    expect(JSON.parse(whole?.after ?? "")).toEqual({ users: 101, filter: "q=many-" });
  });

  test("counts the progress against the users who still match, not against the confirmed number", async () => {
    await addMany(BULK_ROWS_MAX + 3);
    const filter = encodeURIComponent("?q=many-&status=active");
    const { html } = await question(`act=suspend&all=1&filter=${filter}`);
    expect(html).toContain("Suspend 103 users?");
    const suspend = (emails: readonly string[]) =>
      db.write(
        (tx) => tx.update(userRows).set({ status: "suspended" }).where(inArray(userRows.email, emails)).run(),
        "user_rows",
      );
    await suspend(["many-00000@example.org", "many-00001@example.org"]);
    const first = await send(html, { typed: "103" });
    expect(first.html).toContain("100 of 101 done");
    const last = await send(first.html);
    expect(last.html).toContain("101 users suspended");
    const none = await question(
      `act=suspend&all=1&filter=${encodeURIComponent("?q=many-&status=suspended")}`,
    );
    await db.write((tx) => tx.delete(userRows).where(like(userRows.email, "many-%")).run(), "user_rows");
    expect(textOf((await send(none.html, { typed: "103" })).html)).toContain("No user matches");
  });

  test("do not include users who match only after the confirmation, and mention them", async () => {
    const filter = await addMany(BULK_ROWS_MAX + 1);
    const asking = await question(`act=suspend&all=1&filter=${filter}`);
    const first = await send(asking.html, { typed: String(BULK_ROWS_MAX + 1) });
    await addMany(1, "many-zz");
    const { html } = await send(first.html);
    expect(html).toContain("101 users suspended");
    expect(textOf(html)).toContain("More users match these filters now than you confirmed");
    expect(html).toContain('href="/console/users?q=many-">See the users that match now</a>');
  });

  test("asks again when the number of users has grown", async () => {
    const filter = await addMany(1);
    const { html } = await question(`act=suspend&all=1&filter=${filter}`);
    await addMany(1, "many-more");
    const again = await send(html, { typed: "1" });
    expect([again.status, again.html.includes("There are now 2 users, not 1")]).toEqual([400, true]);
    const { html: result } = await send(again.html, { typed: "2" });
    expect(resultsIn(result)).toHaveLength(2);
  });

  test("keep the reasons of refused users until the end, and count those beyond the ones that can be tried again", async () => {
    const filter = await addMany(2 * BULK_ROWS_MAX + 1);
    await db.write((tx) =>
      tx
        .update(userRows)
        .set({ provisioningSource: "scim" })
        .where(like(userRows.email, "%@example.org"))
        .run(),
    );
    const first = await send((await question(`act=suspend&all=1&filter=${filter}`)).html, { typed: "201" });
    const last = await send((await send(first.html)).html);
    expect(textOf(last.html)).toContain("0 done 0 unchanged 201 refused");
    expect(last.html).toContain("Retry the first 100 of the refused ones");
    expect(resultsIn(last.html)).toHaveLength(BULK_ROWS_MAX);
    expect(resultsIn(last.html)[0]).toContain("managed by the identity provider");
  });
});
