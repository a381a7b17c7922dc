// Who is notified that users' groups changed: for each change exactly those users, and no one if nothing changed.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { GroupStreams } from "../../../../src/domain/scim/groups/group-streams.ts";
import { ScimGroups } from "../../../../src/domain/scim/groups/groups.ts";
import { groupNamesOf } from "../../../../src/domain/scim/service.ts";
import { openSnapshot } from "../../../../src/platform/database/snapshot.ts";
import { addScimUsers, createGroupsWorld, type GroupsWorld, membersOf, patchOf } from "./groups-world.ts";

let world: GroupsWorld;
let groups: ScimGroups;
let told: (readonly string[])[];
let ada: string;
let grace: string;

beforeEach(async () => {
  world = await createGroupsWorld();
  told = [];
  groups = new ScimGroups({
    ...world.dependencies,
    groupsChanged: (_tx, userIds) => void told.push(userIds),
    roles: world.roles,
    streams: new GroupStreams(() => openSnapshot(world.file)),
  });
  afterEach(() => world.dispose());
  [ada = "", grace = ""] = await addScimUsers(world, 2);
});

const create = async (displayName: string, ...ids: string[]): Promise<string> =>
  (await groups.create(world.caller, { displayName, members: membersOf(ids) }, {})).id;
const patch = (id: string, ...operations: object[]) =>
  groups.patch(world.caller, id, { body: patchOf(...operations) });

/** @returns the users notified by each change, in the order of ids */
async function toldBy(work: () => Promise<unknown>): Promise<string[][]> {
  told = [];
  await work();
  return told.map((ids) => [...ids].sort());
}

test("creating a group notifies its members", async () => {
  expect(await toldBy(() => create("Engineering", ada))).toEqual([[ada]]);
});

test("added and removed members are notified, and remaining ones are not", async () => {
  const id = await create("Engineering", ada);
  const add = { op: "add", path: "members", value: membersOf([ada, grace]) };
  expect(await toldBy(() => patch(id, add))).toEqual([[grace]]);
  const remove = { op: "remove", path: `members[value eq "${ada}"]` };
  expect(await toldBy(() => patch(id, remove))).toEqual([[ada]]);
});

test("a rename notifies all members and those removed with it", async () => {
  const id = await create("Engineering", ada, grace);
  const body = { displayName: "Research", members: membersOf([ada]) };
  expect((await toldBy(() => groups.replace(world.caller, id, { body }))).flat()).toEqual([ada, grace]);
});

test("deleting a group notifies its members", async () => {
  const id = await create("Engineering", ada, grace);
  expect(await toldBy(() => groups.remove(world.caller, id, {}))).toEqual([[ada, grace].sort()]);
});

test("a change without effect notifies no user", async () => {
  const id = await create("Engineering", ada);
  const same = { displayName: "Engineering", members: membersOf([ada]) };
  expect(await toldBy(() => groups.replace(world.caller, id, { body: same }))).toEqual([]);
});

test("a user's groups are listed in order without regard to case", async () => {
  for (const name of ["beta", "Alpha", "GAMMA"]) await create(name, ada);
  await create("Delta", grace);
  expect(groupNamesOf(world.db.read, { userId: ada })).toEqual(["Alpha", "beta", "GAMMA"]);
  expect(groupNamesOf(world.db.read, { userId: world.organizationId })).toEqual([]);
});
