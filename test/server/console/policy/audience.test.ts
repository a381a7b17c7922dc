// CON-67: the audience of a package in the console, over the real domain.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { AUDIENCE_USERS_MAX } from "../../../../src/domain/governance/model.ts";
import { USER_SEARCH_MAX } from "../../../../src/domain/identity/model.ts";
import { updateUser } from "../../../../src/domain/identity/store.ts";
import type { ScimCaller } from "../../../../src/domain/scim/model.ts";
import { INACTIVE_NAMED_MAX } from "../../../../src/server/console/packages/audience-page.tsx";
import { PEOPLE_SHOWN_MAX } from "../../../../src/server/console/packages/audience-parts.tsx";
import {
  GROUPS_PROPOSED_MAX,
  PASTED_ADDRESSES_MAX,
} from "../../../../src/server/routes/console/packages/audience-form.ts";
import { packageOf } from "../../../domain/governance/governance-world.ts";
import { addScimUsers, membersOf } from "../../../domain/scim/groups/groups-world.ts";
import { consoleBrowser } from "../../../support/browser/console-browser.ts";
import { formTo, type Page } from "../../../support/browser/form-browser.ts";
import { createTestServer } from "../../../support/server.ts";

const PATH = "/console/packages/guide/audience";
const site = await createTestServer({ consoleAuditors: () => ["auditor@example.com"] });
afterAll(() => site[Symbol.asyncDispose]());
const admin = await site.signedIn("admin", { email: "ana@example.com" });
const browser = consoleBrowser(site, admin);
const { governance, identity, scim } = site.domain;
const { organizationId } = site.world;
const { drafts } = governance;
const caller: ScimCaller = {
  actor: { kind: "scim", id: null, label: "scim:test", organizationId },
  profile: "standard",
};
const createGroup = async (displayName: string, members: readonly string[]): Promise<string> =>
  (await scim.groups.create(caller, { displayName, members: membersOf(members) }, {})).id;

/** ids of active users `user0@example.com` and so on, one more than an audience may name */
let people: string[];
const addressOf = (at: number) => `user${at}@example.com`;

beforeAll(async () => {
  await governance.deployments.apply(site.world.system, undefined);
  const { id: baseRevision } = governance.revisions.inForce(organizationId);
  await governance.publishing.publishExtensions(admin.actor, {
    baseRevision,
    packages: [packageOf("guide", { name: "Review guide" })],
  });
  people = await addScimUsers(site.world, AUDIENCE_USERS_MAX + 1);
});
beforeEach(async () => {
  const draft = drafts.own(admin.actor);
  if (draft) await drafts.discard(admin.actor, draft.id);
});

const audience = () => drafts.own(admin.actor)?.audiences.guide;
/** Sends the form with these fields; boxes that are not among them are not checked. */
const send = async (fields: Record<string, string>, page?: Page): Promise<Page> => {
  const form = formTo(page ?? (await browser.visit(PATH)), PATH);
  const { csrf = "", by = "", version = "" } = form.fields;
  return browser.submit({ ...form, fields: { csrf, by, version } }, { act: "save", ...fields });
};
const only = { scope: "users" };
const textIn = (html: string): string => /<textarea[^>]*>([^<]*)</.exec(html)?.[1]?.trim() ?? "";
const count = (html: string, pattern: RegExp): number => html.match(pattern)?.length ?? 0;

describe("CON-67 the form", () => {
  test("starts with everybody, and saves people in the draft without publishing", async () => {
    const page = await browser.visit(PATH);
    expect(page.heading).toBe("Who gets Review guide");
    expect(page.html).toContain('value="organization" checked');
    const saved = await send({ ...only, addresses: `<USER0@example.com>, ${addressOf(1)};\r\n` }, page);
    expect(saved.path).toBe("/console/policy/review");
    expect(audience()).toEqual({ scope: "users", user_ids: [people[0], people[1]].map(String) });
    expect(governance.revisions.inForce(organizationId).audiences).toEqual({});
  });

  test("names those whom it reaches, and takes out those who are marked", async () => {
    await send({ ...only, addresses: [0, 1, 2].map(addressOf).join("\n") });
    const page = await browser.visit(PATH);
    for (const at of [0, 1, 2]) expect(page.html).toContain(addressOf(at));
    await send({ ...only, [`drop:${people[1]}`]: "yes" }, page);
    expect(audience()?.user_ids).toEqual([people[0], people[2]].map(String));
    await send({ scope: "organization" });
    expect(audience()).toBeUndefined();
  });

  test("refuses an audience of nobody, and addresses beside everybody, and keeps the entries", async () => {
    const nobody = await send(only);
    expect(nobody.status).toBe(400);
    expect(nobody.html).toContain("Must name at least one user or group.");
    const beside = await send({ scope: "organization", addresses: addressOf(3) });
    expect(beside.html).toContain("Choose “Only these people and groups”");
    expect(textIn(beside.html)).toBe(addressOf(3));
    expect(drafts.own(admin.actor)).toBeUndefined();
  });

  test("reports a draft that was saved elsewhere, and accepts the form when it is sent again", async () => {
    const page = await browser.visit(PATH);
    await send({ ...only, addresses: addressOf(0) });
    const stale = await send({ ...only, addresses: addressOf(1) }, page);
    expect(stale.status).toBe(409);
    expect(stale.html).toContain("The draft was saved elsewhere after you opened it, by you, <time");
    expect(stale.html).toMatch(/<dt>Who gets it now<\/dt><dd>1 person/);
    expect(textIn(stale.html)).toBe(addressOf(1));
    await send({ ...only, addresses: addressOf(1) }, stale);
    expect(audience()?.user_ids).toHaveLength(2);
  });

  test("answers 404 for the audience of an unknown package, and an auditor cannot send the form", async () => {
    expect((await browser.visit("/console/packages/nothing/audience")).status).toBe(404);
    const auditor = consoleBrowser(site, await site.signedIn("member", { email: "auditor@example.com" }));
    const page = await auditor.visit(PATH);
    expect(page.html).not.toContain('value="save"');
    expect((await auditor.submit(formTo(page, PATH), { act: "save", ...only })).status).toBe(403);
  });
});

describe("CON-67 pasted addresses", () => {
  test("keeps unknown and inactive addresses in the field and saves the others", async () => {
    const suspended = (await site.signedIn("member", { email: "left@example.com" })).user;
    await identity.users.update(site.world.system, suspended.id, { status: "suspended" });
    const pasted = [addressOf(0), "nobody@example.com", "left@example.com", "no address"].join("\n");
    const page = await send({ ...only, addresses: pasted });
    expect(page.status).toBe(200);
    expect(page.html).toContain("1 person was added</h2>");
    expect(page.html).toContain("3 addresses were not found.");
    expect(page.html).toContain("(suspended)");
    expect(textIn(page.html)).toBe("nobody@example.com\nleft@example.com\nno\naddress");
    expect(audience()?.user_ids).toEqual([String(people[0])]);
    const again = await send({ ...only, addresses: "" }, page);
    expect(again.path).toBe("/console/policy/review");
  });

  test("keeps and marks people in the audience who are not active anymore", async () => {
    const leaving = (await site.signedIn("member", { email: "leaving@example.com" })).user;
    await send({ ...only, addresses: `leaving@example.com\n${addressOf(0)}` });
    await identity.users.update(site.world.system, leaving.id, { status: "suspended" });
    expect((await browser.visit(PATH)).html).toContain("Suspended");
    const saved = await send({ ...only, addresses: `leaving@example.com\n${addressOf(1)}` });
    expect(saved.path).toBe("/console/policy/review");
    expect(audience()?.user_ids).toEqual([leaving.id, String(people[0]), String(people[1])]);
  });

  test("keeps the unknown ones of ten thousand pasted addresses in the field", async () => {
    const half = AUDIENCE_USERS_MAX / 2;
    const unknown = Array.from({ length: half }, (_, at) => `unknown${at}@example.com`);
    const pasted = unknown.flatMap((address, at) => [address, addressOf(at)]);
    const page = await send({ ...only, addresses: pasted.join("\r\n") });
    expect(page.html).toContain("5,000 people were added</h2>");
    expect(page.html).toContain("5,000 addresses were not found.");
    expect(textIn(page.html)).toBe(unknown.join("\n"));
    expect(audience()?.user_ids).toHaveLength(half);
    expect(count(page.html, /name="?drop:/g)).toBe(PEOPLE_SHOWN_MAX);
    expect((await browser.visit("/console/packages/guide")).html).toContain("5,000 people");
  });

  test.each([
    ["below", -1, 200],
    ["at", 0, 200],
    ["above", 1, 400],
  ])("may be %s the limit of one paste", async (_name, more, status) => {
    const unknown = Array.from({ length: PASTED_ADDRESSES_MAX + more }, (_, at) => `u${at}@x.example`);
    const page = await send({ ...only, addresses: unknown.join(" ") });
    expect(page.status).toBe(status);
    if (status === 400)
      expect(page.html).toContain(`Paste at most ${PASTED_ADDRESSES_MAX} at a time`.toLowerCase().slice(1));
  });

  test.each([
    ["below", -1, "/console/policy/review"],
    ["at", 0, "/console/policy/review"],
    ["above", 1, PATH],
  ])("may name people %s the limit of an audience", async (_name, more, path) => {
    const addresses = Array.from({ length: AUDIENCE_USERS_MAX + more }, (_, at) => addressOf(at));
    const page = await send({ ...only, addresses: addresses.join("\n") });
    expect(page.path).toBe(path);
    if (more > 0) expect(page.html).toContain(`May name at most ${AUDIENCE_USERS_MAX} users.`);
  });

  test.each([-1, 0, 1])("names inactive ones up to a limit: %p", async (more) => {
    const ids = await addScimUsers(site.world, INACTIVE_NAMED_MAX + more, `gone${more}-`);
    await site.world.db.write((tx) => {
      for (const id of ids) updateUser(tx, { organizationId, id }, { status: "suspended", updatedAtMs: 0 });
    });
    const addresses = ids.map((_, at) => `gone${more}-${at}@example.com`);
    const { html } = await send({ ...only, addresses: addresses.join(" ") });
    expect(html).toContain("Nobody was added");
    expect(count(html, /\(suspended\)/g)).toBe(Math.min(INACTIVE_NAMED_MAX, INACTIVE_NAMED_MAX + more));
    expect(html.includes("and 1 more")).toBe(more > 0);
  });
});

describe("CON-67 finding people", () => {
  test("offers at most ten active users, and one click puts an address into the field", async () => {
    const page = await send({ act: "find", person: "user" });
    expect(count(page.html, /name="add"/g)).toBe(USER_SEARCH_MAX);
    const added = await send({ act: "", add: addressOf(7), addresses: addressOf(2) }, page);
    expect(textIn(added.html)).toBe(`${addressOf(2)}\n${addressOf(7)}`);
    expect(added.html).toContain('value="users" checked');
    expect(drafts.own(admin.actor)).toBeUndefined();
  });

  test("accepts a whole address immediately, even when only the form is saved", async () => {
    const page = await send({ act: "find", person: "USER4242@example.com" });
    expect(textIn(page.html)).toBe(addressOf(4242));
    await send({ ...only, person: addressOf(9) });
    expect(audience()?.user_ids).toEqual([String(people[9])]);
  });

  test("says when nobody has such an address, and shows hostile text as text", async () => {
    const { html } = await send({ act: "find", person: "<script>alert(1)</script>" });
    expect(html).toContain("Nothing was found.");
    expect(html).not.toContain("<script>alert");
  });

  test.each([PEOPLE_SHOWN_MAX - 1, PEOPLE_SHOWN_MAX, PEOPLE_SHOWN_MAX + 1])(
    "shows the people of an audience in pages: %p people",
    async (length) => {
      const addresses = Array.from({ length }, (_, at) => addressOf(at));
      await send({ ...only, addresses: addresses.join("\n") });
      const first = await browser.visit(PATH);
      expect(count(first.html, /name="?drop:/g)).toBe(Math.min(length, PEOPLE_SHOWN_MAX));
      expect(first.html.includes("Page 1 of 2")).toBe(length > PEOPLE_SHOWN_MAX);
      const second = await browser.visit(`${PATH}?page=2`);
      expect(count(second.html, /name="?drop:/g)).toBe(length > PEOPLE_SHOWN_MAX ? 1 : length);
    },
  );
});

describe("CON-67 groups", () => {
  test("adds groups by name, shows them with their members, and takes them out", async () => {
    const engineers = await createGroup("Engineers", people.slice(0, 3));
    const page = await send({ ...only, group: "engineers" });
    expect(page.path).toBe("/console/policy/review");
    expect(audience()).toEqual({ scope: "users", user_ids: [], group_ids: [engineers] });
    const shown = await browser.visit(PATH);
    expect(shown.html).toContain("Engineers");
    await send({ ...only, addresses: addressOf(5), [`drop:${engineers}`]: "yes" }, shown);
    expect(audience()).toEqual({ scope: "users", user_ids: [String(people[5])] });
  });

  test("finds groups by a part of their name, and one press saves one beside the pasted entries", async () => {
    const id = await createGroup("Sales and marketing", people.slice(3, 5));
    const page = await send({ act: "find", group: "marketing" });
    expect(page.html).toContain("Sales and marketing");
    const added = await send({ "add-group": id, act: "", addresses: addressOf(1) }, page);
    expect(added.path).toBe(PATH);
    expect(audience()).toEqual({ scope: "users", user_ids: [String(people[1])], group_ids: [id] });
  });

  test.each([GROUPS_PROPOSED_MAX - 1, GROUPS_PROPOSED_MAX, GROUPS_PROPOSED_MAX + 1])(
    "proposes groups up to a limit: %p",
    async (length) => {
      for (let at = 0; at < length; at++) await createGroup(`Team ${length} ${at}`, []);
      const { html } = await send({ act: "find-group", group: `team ${length}` });
      expect(count(html, /name="add-group"/g)).toBe(Math.min(length, GROUPS_PROPOSED_MAX));
    },
  );

  test("refuses an unknown group and marks a group that is gone", async () => {
    const refused = await send({ ...only, group: "<b>Nobody</b>" });
    expect(refused.status).toBe(400);
    expect(refused.html).not.toContain("<b>Nobody");
    const gone = await createGroup("Short lived", []);
    await send({ ...only, group: "Short lived" });
    await scim.groups.remove(caller, gone, {});
    expect((await browser.visit(PATH)).html).toContain("a group that is gone");
  });
});
