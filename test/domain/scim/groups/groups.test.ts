// Groups with a real database: what a request changes, its effects, and that a request without a change has none.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { count, eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import { organizations } from "../../../../src/domain/identity/tables.ts";
import { renderGroups } from "../../../../src/domain/scim/groups/group-views.ts";
import { readView } from "../../../../src/domain/scim/messages/view.ts";
import type { ScimResponse } from "../../../../src/domain/scim/model.ts";
import { scimGroupMembers, scimGroups, scimUsers } from "../../../../src/domain/scim/tables.ts";
import { runSynchronously } from "../../../../src/platform/steps.ts";
import {
  addScimUsers,
  auditOf,
  BASE_URL,
  createGroupsWorld,
  type GroupsWorld,
  membersOf,
  patchOf,
  refusalOf,
  storedGroup,
  textOf,
  versionsOf,
} from "./groups-world.ts";

let world: GroupsWorld;
let ada: string;
let grace: string;
let edsger: string;

beforeEach(async () => {
  world = await createGroupsWorld();
  [ada = "", grace = "", edsger = ""] = await addScimUsers(world, 3);
});
afterEach(() => world.dispose());

const create = (body: object, parameters = {}): Promise<ScimResponse> =>
  world.groups.create(world.caller, body, parameters);
const replace = (id: string, body: object, parameters = {}) =>
  world.groups.replace(world.caller, id, { body, ...parameters });
const patch = (id: string, ...operations: object[]) =>
  world.groups.patch(world.caller, id, { body: patchOf(...operations) });
const get = (id: string, parameters = {}) => world.groups.get(world.caller, id, parameters);
const shown = async (response: ScimResponse) => JSON.parse(await textOf(response));

const engineering = async (...ids: string[]): Promise<string> =>
  (await create({ displayName: "Engineering", externalId: "x1", members: membersOf(ids) })).id;

const auditSize = () => world.db.read.select({ rows: count() }).from(auditEntries).get()?.rows;

/** Everything that a change would affect. */
const footprint = (id: string) => ({
  group: storedGroup(world, id),
  users: versionsOf(world, [ada, grace, edsger]),
  audit: auditSize(),
});

describe("a created group", () => {
  test("is returned with all its attributes", async () => {
    const response = await create({
      displayName: " Engineering ",
      externalId: "x1",
      members: membersOf([grace, ada]),
    });
    const location = `${BASE_URL}/scim/v2/Groups/${response.id}`;
    expect(response).toMatchObject({ type: "Group", version: 1, location });
    expect(await shown(response)).toEqual({
      schemas: ["urn:ietf:params:scim:schemas:core:2.0:Group"],
      id: response.id,
      externalId: "x1",
      displayName: "Engineering",
      members: [ada, grace].map((value, at) => ({
        value,
        $ref: `${BASE_URL}/scim/v2/Users/${value}`,
        type: "User",
        display: `Label user${at}`,
      })),
      meta: {
        resourceType: "Group",
        created: "2026-01-01T00:00:00.000Z",
        lastModified: "2026-01-01T00:00:00.000Z",
        version: 'W/"1"',
        location,
      },
    });
  });

  test("has unchanged names of members, and omits empty ones", async () => {
    const name = 'Grace "Amazing" \\ Hopper';
    await world.db.write((tx) => {
      tx.update(scimUsers).set({ display: null }).where(eq(scimUsers.accountId, ada)).run();
      tx.update(scimUsers).set({ display: name }).where(eq(scimUsers.accountId, grace)).run();
    });
    const { members } = await shown(get(await engineering(ada, grace)));
    const typed = (value: string) => ({ value, $ref: `${BASE_URL}/scim/v2/Users/${value}`, type: "User" });
    expect(members).toEqual([typed(ada), { ...typed(grace), display: name }]);
  });

  test("shows an empty list for a created group without members", async () => {
    expect(await shown(await create({ displayName: "Empty" }))).toMatchObject({ members: [] });
  });

  test("increments the versions of its members only", async () => {
    await engineering(ada, grace);
    expect(versionsOf(world, [ada, grace, edsger])).toEqual([2, 2, 1]);
  });

  test("is one audit entry with the number of members and the names of the first ten", async () => {
    const many = await addScimUsers(world, 11, "other");
    const id = await engineering(...many);
    const [entry] = auditOf(world, "scim_group.create");
    expect(entry).toMatchObject({
      target: id,
      actor: "scim:test",
      before: null,
      after: {
        display_name: "Engineering",
        external_id: "x1",
        members: 11,
        members_added: 11,
        members_removed: 0,
      },
    });
    expect(entry?.after?.added_ids).toEqual(many.slice(0, 10));
    expect(auditSize()).toBe(1);
  });
});

describe("SCIM-28 names and external ids", () => {
  test.each([
    ["displayName", { displayName: "ENGINEERING" }],
    ["displayName", { displayName: "Ｅngineering" }],
    ["externalId", { displayName: "Other", externalId: "x1" }],
  ])("refuses a name or external id of another group and names %s", async (attribute, body) => {
    await engineering();
    const other = await create({ displayName: "Third" });
    const refusal = { status: 409, scimType: "uniqueness", detail: expect.stringContaining(attribute) };
    expect(await refusalOf(() => create(body))).toMatchObject(refusal);
    expect(await refusalOf(() => replace(other.id, body))).toMatchObject(refusal);
    expect(await refusalOf(() => patch(other.id, { op: "add", value: body }))).toMatchObject(refusal);
    expect(storedGroup(world, other.id)).toMatchObject({ displayName: "Third", version: 1 });
  });

  test("differ if an external id differs only in letter case", async () => {
    await engineering();
    expect(await create({ displayName: "Other", externalId: "X1" })).toMatchObject({ version: 1 });
  });

  test("accepts another letter case for the name of the same group", async () => {
    const id = await engineering(ada);
    await patch(id, { op: "replace", path: "displayName", value: "ENGINEERING" });
    expect(storedGroup(world, id)).toMatchObject({ displayName: "ENGINEERING", version: 2 });
  });

  test("accepts the name of a removed group again", async () => {
    const id = await engineering();
    await world.groups.remove(world.caller, id, {});
    expect(await engineering()).not.toBe(id);
  });
});

describe("members that are not users", () => {
  test("SCIM-27 refuses unknown members with the ids of the first ten, and changes nothing", async () => {
    const id = await engineering(ada);
    const before = footprint(id);
    const ghosts = Array.from({ length: 11 }, (_, at) => `ghost${at}`);
    const members = membersOf([grace, ...ghosts]);
    for (const work of [
      () => create({ displayName: "Other", members }),
      () => replace(id, { displayName: "Engineering", members }),
      () => patch(id, { op: "add", path: "members", value: members }),
    ]) {
      const refusal = await refusalOf(work);
      expect(refusal).toMatchObject({ status: 400, scimType: "invalidValue" });
      expect(refusal.detail).toContain('"ghost9"');
      expect(refusal.detail).not.toContain("ghost10");
    }
    expect(footprint(id)).toEqual(before);
    expect(world.db.read.select({ rows: count() }).from(scimGroups).get()?.rows).toBe(1);
  });

  test.each([
    ["a local account", () => world.addUser("local@example.com").then(({ id }) => id)],
    ["an id in another letter case", async () => ada.toUpperCase()],
    ["an id with a suffix", async () => `${ada}\u0000`],
    ["a very long text, which is quoted only in part", async () => "x".repeat(100_000)],
  ])("%s", async (_, find) => {
    const id = await find();
    const refusal = await refusalOf(() => create({ displayName: "Other", members: membersOf([id]) }));
    expect(refusal).toMatchObject({ status: 400, scimType: "invalidValue" });
    expect(refusal.detail.length).toBeLessThan(250);
  });

  test("SCIM-30 refuses groups as members, because groups cannot contain groups", async () => {
    const nested = await engineering();
    const refusal = await refusalOf(() =>
      create({ displayName: "Outer", members: membersOf([nested, "ghost"]) }),
    );
    expect(refusal).toMatchObject({ status: 400, scimType: "invalidValue" });
    expect(refusal.detail).toContain("nesting is not supported");
    expect(refusal.detail).toContain(nested);
  });

  test("refuses members of another organization as unknown", async () => {
    const id = await engineering(ada);
    const organizationId = world.ids.uuid();
    await world.db.write((tx) => {
      tx.insert(organizations).values({ id: organizationId, name: "Other", createdAtMs: 0 }).run();
    });
    const stranger = { ...world.caller, actor: { ...world.caller.actor, organizationId } };
    const body = { displayName: "Engineering", members: membersOf([ada]) };
    expect(await refusalOf(() => world.groups.create(stranger, body, {}))).toMatchObject({ status: 400 });
    for (const work of [
      () => world.groups.get(stranger, id, {}),
      () => world.groups.replace(stranger, id, { body: { displayName: "Taken over" } }),
      () => world.groups.patch(stranger, id, { body: patchOf({ op: "remove", path: "members" }) }),
      () => world.groups.remove(stranger, id, {}),
    ]) {
      expect(await refusalOf(work)).toMatchObject({ status: 404 });
    }
    expect(storedGroup(world, id)).toMatchObject({ displayName: "Engineering", members: [ada] });
    expect(
      await world.groups.create(stranger, { displayName: "Engineering", externalId: "x1" }, {}),
    ).toMatchObject({
      version: 1,
    });
  });
});

describe("a replaced group", () => {
  test("equal to the current one changes nothing", async () => {
    const id = await engineering(ada, grace);
    const before = footprint(id);
    world.clock.advance(1_000);
    const body = { displayName: "Engineering", externalId: "x1", members: membersOf([grace, ada, ada]) };
    expect(await replace(id, body)).toMatchObject({ version: 1 });
    expect(footprint(id)).toEqual(before);
  });

  test("has the members sent, and only added and removed users get a new version", async () => {
    const id = await engineering(ada, grace);
    world.clock.advance(1_000);
    const response = await replace(id, {
      displayName: "Engineering",
      externalId: "x1",
      members: membersOf([grace, edsger]),
    });
    expect(response).toMatchObject({ version: 2 });
    expect(storedGroup(world, id)).toMatchObject({
      members: [grace, edsger],
      memberCount: 2,
      version: 2,
      createdAtMs: world.clock.nowMs() - 1_000,
      updatedAtMs: world.clock.nowMs(),
    });
    expect(versionsOf(world, [ada, grace, edsger])).toEqual([3, 2, 2]);
    const [entry] = auditOf(world, "scim_group.update");
    expect(entry?.before).toEqual({ display_name: "Engineering", external_id: "x1", members: 2 });
    expect(entry?.after).toEqual({
      display_name: "Engineering",
      external_id: "x1",
      members: 2,
      members_added: 1,
      members_removed: 1,
      added_ids: [edsger],
      removed_ids: [ada],
    });
  });

  test("loses omitted members and an omitted external id", async () => {
    const id = await engineering(ada);
    await replace(id, { displayName: "Engineering" });
    expect(storedGroup(world, id)).toMatchObject({ members: [], memberCount: 0, externalId: null });
  });

  test("SCIM-90 is not created by a replace", async () => {
    expect(await refusalOf(() => replace("unknown", { displayName: "New" }))).toMatchObject({ status: 404 });
  });
});

describe("a patched group", () => {
  test("SCIM-81 is not returned unless attributes are requested", async () => {
    const id = await engineering(ada);
    expect((await patch(id, { op: "add", path: "members", value: grace })).json).toBeUndefined();
    const body = patchOf({ op: "remove", path: "members", value: [{ $ref: null, value: grace }] });
    const response = await world.groups.patch(world.caller, id, { body, attributes: ["members.value"] });
    expect(response.version).toBe(3);
    expect(await shown(response)).toMatchObject({ id, members: [{ value: ada }] });
  });

  test("adds only new members and removes only current ones", async () => {
    const id = await engineering(ada, grace);
    await patch(
      id,
      { op: "add", path: "members", value: membersOf([grace, edsger, edsger]) },
      { op: "Remove", path: "members", value: membersOf([ada, "nobody"]) },
    );
    expect(storedGroup(world, id)).toMatchObject({ members: [grace, edsger], memberCount: 2, version: 2 });
    expect(versionsOf(world, [ada, grace, edsger])).toEqual([3, 2, 2]);
  });

  test.each([
    ["members who are in it", () => [{ op: "add", path: "members", value: membersOf([ada]) }]],
    ["strangers taken out", () => [{ op: "remove", path: "members", value: membersOf([edsger, "nobody"]) }]],
    ["its own name, as Okta sends it", () => [{ op: "replace", value: { displayName: "Engineering" } }]],
    [
      "a member removed and added again",
      () => [
        { op: "remove", path: `members[value eq "${ada}"]` },
        { op: "add", path: "members", value: ada },
      ],
    ],
    ["an empty list to remove", () => [{ op: "remove", path: "members", value: [] }]],
  ])("SCIM-72, SCIM-73 leaves a group unchanged after a patch with %s", async (_, operations) => {
    const id = await engineering(ada, grace);
    const before = footprint(id);
    world.clock.advance(1_000);
    expect(await patch(id, ...operations())).toMatchObject({ version: 1 });
    expect(footprint(id)).toEqual(before);
  });

  test("increments every member's version once when a patch renames the group, including added and removed members", async () => {
    const id = await engineering(ada, grace);
    await patch(
      id,
      { op: "replace", value: { displayName: "Science" } },
      { op: "add", path: "members", value: edsger },
      { op: "remove", path: `members[value eq "${ada}"]` },
    );
    expect(storedGroup(world, id)).toMatchObject({ displayName: "Science", version: 2 });
    expect(versionsOf(world, [ada, grace, edsger])).toEqual([3, 3, 2]);
  });

  test("gives a group with a new external id a new version, but not its members", async () => {
    const id = await engineering(ada);
    await patch(id, { op: "replace", path: "externalId", value: "x2" });
    expect(storedGroup(world, id)).toMatchObject({ externalId: "x2", version: 2 });
    await patch(id, { op: "remove", path: "externalId" });
    expect(storedGroup(world, id)).toMatchObject({ externalId: null, version: 3 });
    expect(versionsOf(world, [ada])).toEqual([2]);
  });

  test("keeps every change when many arrive concurrently", async () => {
    const id = await engineering();
    const people = await addScimUsers(world, 100, "crowd");
    await Promise.all(people.map((value) => patch(id, { op: "add", path: "members", value })));
    expect(storedGroup(world, id)).toMatchObject({ members: people, memberCount: 100, version: 101 });
  });
});

describe("a removed group", () => {
  test("SCIM-26 is gone, its members get a new version, and a second removal fails", async () => {
    const id = await engineering(ada, grace);
    await world.groups.remove(world.caller, id, {});
    expect(await refusalOf(() => get(id))).toMatchObject({ status: 404 });
    expect(await refusalOf(() => world.groups.remove(world.caller, id, {}))).toMatchObject({ status: 404 });
    expect(world.db.read.select().from(scimGroupMembers).all()).toEqual([]);
    expect(versionsOf(world, [ada, grace, edsger])).toEqual([3, 3, 1]);
    const entries = auditOf(world, "scim_group.remove");
    expect(entries).toMatchObject([
      { target: id, before: { display_name: "Engineering", members: 2 }, after: null },
    ]);
  });
});

describe("a removed user", () => {
  test("is removed from every group, and each gets a new version and the correct count", async () => {
    const first = await engineering(ada, grace);
    const { id: second } = await create({ displayName: "Second", members: membersOf([ada]) });
    const { id: third } = await create({ displayName: "Third", members: membersOf([grace]) });
    await world.db.write((tx) => world.groups.leaveAll(tx, ada));
    expect(storedGroup(world, first)).toMatchObject({ members: [grace], memberCount: 1, version: 2 });
    expect(storedGroup(world, second)).toMatchObject({ members: [], memberCount: 0, version: 2 });
    expect(storedGroup(world, third)).toMatchObject({ memberCount: 1, version: 1 });
  });
});

describe("conditional requests", () => {
  test("refuses requests with If-Match of another version and changes nothing", async () => {
    const id = await engineering(ada);
    const before = footprint(id);
    const parameters = { ifMatch: 'W/"2"' };
    for (const work of [
      () => replace(id, { displayName: "Other" }, parameters),
      () =>
        world.groups.patch(world.caller, id, {
          body: patchOf({ op: "remove", path: "members" }),
          ...parameters,
        }),
      () => world.groups.remove(world.caller, id, parameters),
    ]) {
      expect(await refusalOf(work)).toMatchObject({ status: 412, scimType: undefined });
    }
    expect(footprint(id)).toEqual(before);
    expect(await replace(id, { displayName: "Other" }, { ifMatch: 'W/"1"' })).toMatchObject({ version: 2 });
  });

  test("answers a matching If-None-Match without the group", async () => {
    const id = await engineering(ada);
    expect(get(id, { ifNoneMatch: 'W/"1"' })).toMatchObject({ id, version: 1, json: undefined });
    expect(get(id, { ifNoneMatch: 'W/"2"' }).json).toBeString();
  });
});

describe("lists of groups", () => {
  test("contain each group's own members in row order", async () => {
    const first = await engineering(ada, grace);
    const { id: second } = await create({ displayName: "Second" });
    const { id: third } = await create({ displayName: "Third", members: membersOf([grace]) });
    const rows = [third, second, first].map((id) => storedGroup(world, id));
    const texts = runSynchronously(
      renderGroups(world.db.read, rows, { view: readView("Group", {}), baseUrl: BASE_URL }),
    );
    const groups = texts.map((text) => JSON.parse(text));
    expect(
      groups.map(({ id, members }) => [id, members.map(({ value }: { value: string }) => value)]),
    ).toEqual([
      [third, [grace]],
      [second, []],
      [first, [ada, grace]],
    ]);
    expect(texts[2]).toBe(await textOf(get(first)));
  });
});
