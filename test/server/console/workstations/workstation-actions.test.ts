// Removing and revoking workstations in the console: the questions, the results, and what the audit log keeps.
import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { BATCH_ROWS } from "../../../../src/domain/clients/limits.ts";
import { clientReports } from "../../../../src/domain/clients/tables.ts";
import { createClientsWorld, reporterOf } from "../../../domain/clients/clients-world.ts";
import { reportWith } from "../../../domain/clients/policies.ts";
import { bulkForm } from "../bulk-form.ts";

const site = await createClientsWorld();
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin");
const { db } = site.world;
const { question, send } = bulkForm(site, "/console/clients/action", admin);

/** A workstation with its own login. @returns its user and id */
async function workstation(host: string, caller?: Awaited<ReturnType<typeof site.signedIn>>) {
  const user = caller ?? (await site.signedIn("member"));
  const body = reportWith({ instance_id: host, hostname: host });
  await site.request("POST", "/client-status", { token: user.accessToken, body });
  return { caller: user, id: site.domain.clients.inventory.find(site.organizationId, host).id };
}
const hosts = (): string[] =>
  db.read
    .select()
    .from(clientReports)
    .all()
    .map(({ hostname }) => hostname ?? "")
    .sort();
const isSignedIn = async ({ accessToken }: { accessToken: string }): Promise<boolean> =>
  (await site.request("GET", "/auth/me", { token: accessToken })).status === 200;
const actions = () =>
  db.read
    .select()
    .from(auditEntries)
    .all()
    .map(({ action }) => action);
const addMany = (count: number) =>
  site.world.db.write((tx) => {
    const row = tx.select().from(clientReports).get();
    for (let at = 0; row && at < count; at++)
      tx.insert(clientReports)
        .values({
          ...row,
          id: site.world.ids.uuid(),
          instanceId: `many-${at}`,
          hostname: `many-${at}`,
          lastSeenAtMs: row.lastSeenAtMs - 1 - at,
        })
        .run();
  }, "clients");

const cells = (html: string): string[] =>
  [...html.matchAll(/<tr><td data-label="Workstation">.*?<\/tr>/gs)].map(([row]) =>
    row
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ")
      .trim(),
  );

beforeEach(async () => {
  await db.write((tx) => tx.delete(clientReports).run(), "clients");
});

test("CON-122 an action on a removed workstation reports that, and leads back to the list", async () => {
  const { id } = await workstation("gone");
  const { html } = await question(`act=remove&id=${id}`);
  await send(html);
  const again = await send(html);
  expect(again.status).toBe(404);
  expect(again.html).toContain('<a href="/console/clients">Go back</a>');
});

describe("CON-43 CON-98 one workstation", () => {
  test("is removed after a question that names it, and keeps its login", async () => {
    const { id, caller } = await workstation("lab-14");
    const { html } = await question(`act=remove&id=${id}`);
    expect(html).toContain("Remove lab-14?");
    expect(html).toContain("at its next report it appears again");
    expect(hosts()).toEqual(["lab-14"]);
    expect(await send(html)).toMatchObject({ status: 303, location: "/console/clients" });
    expect([hosts(), await isSignedIn(caller), actions().at(-1)]).toEqual([[], true, "client.remove"]);
    expect((await send(html)).status).toBe(404);
  });

  test("is revoked with the workstations of the same login, which the question names", async () => {
    const { id, caller } = await workstation("lab-14");
    await workstation("lab-15", caller);
    const { html } = await question(`act=revoke&id=${id}`);
    expect(html).toContain("Another workstation uses");
    expect(html).toContain("<bdi>lab-15</bdi>");
    expect((await send(html)).status).toBe(303);
    expect([hosts(), await isSignedIn(caller), actions().at(-1)]).toEqual([
      ["lab-15"],
      false,
      "client.revoke",
    ]);
  });

  test("warns that revoking the reader's own sign-in ends it", async () => {
    const own = await workstation("own", admin);
    expect((await question(`act=revoke&id=${own.id}`)).html).toContain("you are signed out too");
  });

  test("is left alone by auditors and members, and without a token", async () => {
    const { id, caller } = await workstation("lab-14");
    const { html } = await question(`act=remove&id=${id}`);
    expect((await send(html, {}, caller.cookie)).status).toBe(403);
    expect((await send(html, { csrf: "0" })).status).toBe(403);
    expect(hosts()).toEqual(["lab-14"]);
  });
});

test.each([
  ["act=remove", "Select at least one"],
  ["act=explode&id=1", "Choose what to do"],
  ["", "Choose what to do"],
  [`act=remove&all=1&filter=${encodeURIComponent("?health=fine")}`, "Health must be one of"],
  [`act=remove&all=1&filter=${encodeURIComponent("?platform=none")}`, "No workstation matches"],
  [`act=remove&${Array.from({ length: 101 }, (_, at) => `id=${at}`).join("&")}`, "Select at most 100"],
])("CON-98 a question without a response says why: %.30s", async (query, why) => {
  const { status, html } = await question(query);
  expect([status, html.includes(why)]).toEqual([400, true]);
});

test("CON-110 each box has the name of its row, also where the column of the name is hidden", async () => {
  await workstation("lab-named");
  const labelsIn = async (query: string) => {
    const path = `/console/clients?q=lab-named${query}`;
    const html = await (await site.request("GET", path, { cookie: admin.cookie })).text();
    return [...html.matchAll(/<label>(<input type="checkbox" name="id"[^>]*>)(.*?)<\/label>/gs)].map(
      ([, box = "", label = ""]) =>
        /aria-label="([^"]*)"/.exec(box)?.[1] ?? label.replaceAll(/<[^>]*>/g, "").trim(),
    );
  };
  expect(await labelsIn("")).toEqual(["lab-named"]);
  expect(await labelsIn("&columns=state,user")).toEqual(["lab-named"]);
});

describe("CON-27 the selection", () => {
  const list = async (query: string) => {
    const answer = await site.request("GET", `/console/clients${query}`, { cookie: admin.cookie });
    return await answer.text();
  };
  const boxes = (html: string) =>
    [...html.matchAll(/<input type="checkbox" name="id"[^>]*>/g)].map(([box]) => box);
  const isChecked = (box: string) => box.includes(" checked");

  test("selects all rows of the page by a link, which works without the script and leads to nothing but these rows", async () => {
    await workstation("lab-1");
    await addMany(29);
    const plain = await list("?platform=linux");
    const total = boxes(plain).length;
    expect([total, boxes(plain).some(isChecked)]).toEqual([25, false]);
    expect(plain).toContain(
      'href="/console/clients?platform=linux&amp;select=page">Select all 25 on this page</a>',
    );
    const whole = await list("?platform=linux&select=page");
    expect(boxes(whole).every(isChecked)).toBe(true);
    expect(whole).toContain('href="/console/clients?platform=linux">Select none</a>');
    expect(whole).toContain('name="filter" value="?platform=linux"');
    expect(whole).not.toMatch(/href="[^"]*select=page/);
  });

  test("says how many rows match when everything is selected, and sends the filter", async () => {
    await workstation("lab-1");
    await addMany(29);
    const html = (await list("")).replaceAll(/<[^>]+>/g, "");
    expect(html).toContain("All 30 that match, on every page");
  });

  test("is named in the question, folded above ten", async () => {
    const two = [await workstation("lab-1"), await workstation("lab-2")].map(({ id }) => `id=${id}`);
    const { html } = await question(`act=remove&${two.join("&")}`);
    expect(html.replaceAll(/<[^>]+>/g, "")).toContain("2 workstations: lab-1, lab-2");
    await addMany(11);
    const all = db.read
      .select()
      .from(clientReports)
      .all()
      .map(({ id }) => `id=${id}`);
    const many = (await question(`act=remove&${all.join("&")}`)).html;
    expect(many).toContain("<summary>13 workstations</summary>");
    expect(many).toContain("<bdi>many-10</bdi>");
  });
});

describe("CON-43 CON-99 selected workstations", () => {
  test("end with their own logins, and those that are gone are refused with a reason and can be tried again", async () => {
    const [one, two, gone] = [
      await workstation("lab-1"),
      await workstation("lab-2"),
      await workstation("lab-3"),
    ];
    const spared = await workstation("lab-4", two.caller);
    const before = actions().length;
    const { html } = await question(`act=revoke&id=${one.id}&id=${two.id}&id=${gone.id}`);
    expect(html).toContain("Revoke 3 workstations?");
    await site.domain.clients.removals.remove(site.world.system, gone.id);
    const result = await send(html);
    expect(cells(result.html)).toEqual([
      "lab-1 Revoked –",
      "lab-2 Revoked –",
      `${gone.id} Refused It is not in the inventory, so its login is unknown; see the logins of its user.`,
    ]);
    expect(actions().slice(before)).toEqual([
      "client.remove",
      "clients.revoke",
      "client.revoke",
      "client.revoke",
    ]);
    expect(await Promise.all([one, two, gone].map(({ caller }) => isSignedIn(caller)))).toEqual([
      false,
      false,
      true,
    ]);
    expect(hosts()).toEqual(["lab-4"]);
    expect(spared.id).not.toBe(two.id);
    const retried = await send(result.html);
    expect([retried.status, cells(retried.html).length]).toEqual([200, 1]);
  });

  test("keep the reader's own browser signed in", async () => {
    const own = await workstation("own", await site.signInAgain(admin.user));
    const mine = await workstation("mine", admin);
    await send((await question(`act=revoke&id=${own.id}&id=${mine.id}`)).html);
    expect(hosts()).toEqual([]);
    expect((await question("act=remove")).status).toBe(400);
  });

  test("refuses workstations that report with a browser in use", async () => {
    await site.domain.clients.report(
      reporterOf(admin),
      reportWith({ instance_id: "page", hostname: "page" }),
    );
    const { id } = site.domain.clients.inventory.find(site.organizationId, "page");
    const other = await workstation("lab-1");
    const result = await send((await question(`act=revoke&id=${id}&id=${other.id}`)).html);
    expect(cells(result.html)).toContain(
      "page Refused Its reports come with a browser sign-in that is also used elsewhere.",
    );
    expect(hosts()).toEqual(["page"]);
  });
});

describe("CON-43 CON-99 all that match a filter", () => {
  const filter = encodeURIComponent("?not_seen_for_days=30");

  test("selects the workstations not seen for some days, counts them again, and requires the typed number", async () => {
    await workstation("old");
    site.world.clock.advance(0);
    await db.write((tx) => tx.update(clientReports).set({ lastSeenAtMs: 0 }).run(), "clients");
    await workstation("new");
    const { html } = await question(`act=remove&all=1&filter=${filter}`);
    expect(html).toContain("Remove 1 workstation?");
    expect(html).toContain("quartermaster clients remove --stale 30d<");
    expect((await send(html, { typed: "2" })).html).toContain("Type the number 1");
    const { html: result } = await send(html, { typed: "1" });
    expect(cells(result)).toEqual(["old Removed from the inventory –"]);
    expect(hosts()).toEqual(["new"]);
    const whole = db.read
      .select()
      .from(auditEntries)
      .all()
      .find(({ action, after }) => action === "clients.remove" && after?.includes("not_seen"));
    expect(whole?.after).toContain('"workstations":1');
  });

  test("asks again when the number of workstations has grown", async () => {
    await workstation("lab-1");
    const { html } = await question("act=remove&all=1&filter=");
    await workstation("lab-2");
    const again = await send(html, { typed: "1" });
    expect([again.status, again.html.includes("There are now 2 workstations, not 1")]).toEqual([400, true]);
    expect(hosts()).toEqual(["lab-1", "lab-2"]);
    await send(again.html, { typed: "2" });
    expect(hosts()).toEqual([]);
  });

  test("go in slices, each of which leads to the next, with one entry for the whole", async () => {
    await workstation("lab-1");
    await addMany(BATCH_ROWS);
    const before = actions().length;
    const first = await send((await question("act=remove&all=1&filter=")).html, {
      typed: String(BATCH_ROWS + 1),
    });
    expect(first.html).toContain(`${BATCH_ROWS} of ${BATCH_ROWS + 1} done`);
    expect(first.html).toContain("data-continue");
    expect(hosts()).toEqual(["lab-1"]);
    await workstation("late");
    const second = await send(first.html);
    expect(second.html).toContain(`${BATCH_ROWS + 1} workstations removed from the inventory`);
    expect(hosts()).toEqual(["late"]);
    const recorded = actions().slice(before);
    expect(recorded.filter((action) => action === "clients.remove")).toHaveLength(1);
    expect(recorded.filter((action) => action === "client.remove")).toHaveLength(BATCH_ROWS + 1);
  });
});
