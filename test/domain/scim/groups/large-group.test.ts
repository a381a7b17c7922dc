// A group of many slices: a small change runs the statements of a small group and nothing that reads its members, and the group is
// sent in slices. Work is counted, not timed.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { count, eq, sql } from "drizzle-orm";
import { STREAMS_MAX, STREAMS_WAITING_MAX } from "../../../../src/domain/scim/groups/group-streams.ts";
import { SLICE_MEMBERS, WHOLE_GROUP_MEMBERS_MAX } from "../../../../src/domain/scim/groups/group-views.ts";
import { STEP_MEMBERS } from "../../../../src/domain/scim/groups/member-slices.ts";
import type { ScimResponse } from "../../../../src/domain/scim/model.ts";
import { scimGroupMembers, scimGroups, scimUserRevisions } from "../../../../src/domain/scim/tables.ts";
import { listenToStatements, type RunStatement, type StatementLog } from "../search/statement-log.ts";
import {
  addScimUsers,
  auditOf,
  createGroupsWorld,
  type GroupsWorld,
  membersOf,
  patchOf,
  refusalOf,
  storedGroup,
  textOf,
  versionsOf,
} from "./groups-world.ts";

/** more than two slices and steps, and more than fit into one piece */
const LARGE = 6_000;
const TIME_LIMIT_MS = 60_000;

let log: StatementLog;
let world: GroupsWorld;
let people: string[];
let large: string;
let small: string;

beforeAll(async () => {
  log = listenToStatements();
  world = await createGroupsWorld();
  people = await addScimUsers(world, LARGE + 1_000);
  large = (await create("Large", people.slice(0, LARGE))).id;
  small = (await create("Small", people.slice(0, 5))).id;
}, TIME_LIMIT_MS);

afterAll(async () => {
  log[Symbol.dispose]();
  await world.dispose();
});

const create = (displayName: string, ids: readonly string[]) =>
  world.groups.create(world.caller, { displayName, members: membersOf(ids) }, { attributes: ["id"] });

const patch = (id: string, op: string, ids: readonly string[]): Promise<ScimResponse> =>
  world.groups.patch(world.caller, id, { body: patchOf({ op, path: "members", value: membersOf(ids) }) });

const replace = (id: string, ids: readonly string[]): Promise<ScimResponse> => {
  const body = { displayName: storedGroup(world, id).displayName, members: membersOf(ids) };
  return world.groups.replace(world.caller, id, { body, excludedAttributes: ["members"] });
};

/** A message that appends a letter to the group's name. */
const renamed = (id: string) =>
  patchOf({ op: "replace", path: "displayName", value: `${storedGroup(world, id).displayName}!` });

/** @returns what readers see of the group: its row, its number of members, and the version of the first user */
function glance(id: string): string {
  const { read } = world.db;
  const group = read.select().from(scimGroups).where(eq(scimGroups.id, id)).get();
  const members = read
    .select({ rows: count() })
    .from(scimGroupMembers)
    .where(eq(scimGroupMembers.groupSequence, group?.sequence ?? 0));
  const [version] = read
    .select({ version: scimUserRevisions.version })
    .from(scimUserRevisions)
    .limit(1)
    .all();
  return JSON.stringify([group, members.get(), version]);
}

async function statementsOf(work: () => Promise<unknown>): Promise<RunStatement[]> {
  log.take();
  await work();
  return log.take();
}

const rowsOf = (statements: readonly RunStatement[]) => statements.map(({ rows }) => rows);

/** Those at the end of the list are members of neither group. */
const outsiders = (count: number) => people.slice(-count);

describe("SCIM-120 a change of one member", () => {
  test.each(["add", "remove"])(
    "runs as many statements to %s as in a group of five, and reads one row at most",
    async (op) => {
      await patch(small, op, outsiders(1));
      const inSmall = await statementsOf(() => patch(small, op === "add" ? "remove" : "add", outsiders(1)));
      await patch(large, op, outsiders(1));
      const inLarge = await statementsOf(() => patch(large, op === "add" ? "remove" : "add", outsiders(1)));
      expect(inLarge).toHaveLength(inSmall.length);
      expect(inLarge.length).toBeGreaterThan(3);
      expect(Math.max(...rowsOf(inLarge))).toBe(1);
      for (const id of [small, large]) await patch(id, "remove", outsiders(1));
    },
  );

  test("needs the same number of statements for one as for a thousand", async () => {
    const one = await statementsOf(() => patch(large, "add", outsiders(1)));
    await patch(large, "remove", outsiders(1));
    const thousand = await statementsOf(() => patch(large, "add", outsiders(1_000)));
    expect(thousand).toHaveLength(one.length);
    expect(storedGroup(world, large).memberCount).toBe(LARGE + 1_000);
    await patch(large, "remove", outsiders(1_000));
    expect(storedGroup(world, large).memberCount).toBe(LARGE);
  });
});

describe("a response without members", () => {
  test("SCIM-121 reads no members", async () => {
    const { caller, groups } = world;
    const read = await statementsOf(async () => {
      groups.get(caller, large, { excludedAttributes: ["members"] });
      groups.get(caller, large, { attributes: ["displayName"] });
      groups.get(caller, large, { ifNoneMatch: "*" });
    });
    expect(rowsOf(read)).toEqual([1, 1, 1]);
  });

  test("lists the members once for a rename, one slice at a time", async () => {
    const renaming = patchOf({ op: "replace", path: "displayName", value: "Larger" });
    const renamed = await statementsOf(() => world.groups.patch(world.caller, large, { body: renaming }));
    // each slice is read once and changed once
    const slices = Array(2 * (LARGE / STEP_MEMBERS)).fill(STEP_MEMBERS);
    expect(rowsOf(renamed).filter((rows) => rows > 1)).toEqual(slices);
    const versions = versionsOf(world, people);
    expect(new Set(versions.slice(5, LARGE))).toEqual(new Set([3]));
  });
});

describe("a replaced member list", () => {
  test("equal to the current one writes nothing", async () => {
    const { version, displayName } = storedGroup(world, large);
    const entries = auditOf(world, "scim_group.update").length;
    const changes = () => world.db.write((tx) => tx.get<[number]>(sql`SELECT total_changes()`));
    const before = await changes();
    const body = { displayName, members: membersOf(people.slice(0, LARGE).reverse()) };
    const response = await world.groups.replace(world.caller, large, {
      body,
      excludedAttributes: ["members"],
    });
    expect(response.version).toBe(version);
    expect(await changes()).toEqual(before);
    expect(auditOf(world, "scim_group.update")).toHaveLength(entries);
  });

  test("SCIM-93, SCIM-123 writes only the difference", async () => {
    const { displayName } = storedGroup(world, large);
    const [gone = "", ...kept] = people.slice(0, LARGE);
    const [come = ""] = outsiders(1);
    const before = versionsOf(world, [gone, ...kept.slice(0, 3), come]);
    const body = { displayName, members: membersOf([...kept, come]) };
    await world.groups.replace(world.caller, large, { body, excludedAttributes: ["members"] });
    const after = versionsOf(world, [gone, ...kept.slice(0, 3), come]);
    expect(after.map((version, at) => version - (before[at] ?? 0))).toEqual([1, 0, 0, 0, 1]);
    expect(auditOf(world, "scim_group.update").at(-1)?.after).toMatchObject({
      members: LARGE,
      members_added: 1,
      members_removed: 1,
    });
    await patch(large, "add", [gone]);
    await patch(large, "remove", [come]);
  });
});

describe("SCIM-122 a group too large for one piece", () => {
  /** with the fewest members that are sent as a stream */
  let streamed: string;

  beforeAll(async () => {
    streamed = (await create("Streamed", people.slice(0, WHOLE_GROUP_MEMBERS_MAX + 1))).id;
  });
  afterAll(async () => {
    await world.groups.remove(world.caller, streamed, {});
  });

  const get = (id: string, parameters = {}) => world.groups.get(world.caller, id, parameters);
  const piecesOf = async ({ json }: ScimResponse): Promise<string[]> => {
    if (json === undefined || typeof json === "string") throw new Error("this came in one piece");
    return await Array.fromAsync(json);
  };

  test("is returned in slices that form the whole, ordered by creation of the users", async () => {
    const pieces = await piecesOf(get(large));
    expect(pieces.length).toBeGreaterThanOrEqual(LARGE / SLICE_MEMBERS);
    const { members } = JSON.parse(pieces.join(""));
    expect(members.map(({ value }: { value: string }) => value)).toEqual(storedGroup(world, large).members);
  });

  test("starts above the largest group that is returned whole", async () => {
    const limit = await create("Limit", people.slice(0, WHOLE_GROUP_MEMBERS_MAX - 1));
    const jsonOf = () => get(limit.id).json;
    expect(jsonOf()).toBeString();
    await patch(limit.id, "add", people.slice(-2, -1));
    expect(jsonOf()).toBeString();
    await patch(limit.id, "add", people.slice(-1));
    expect(jsonOf()).not.toBeString();
    const text = await textOf(get(limit.id));
    expect(JSON.parse(text).members).toHaveLength(WHOLE_GROUP_MEMBERS_MAX + 1);
    await world.groups.remove(world.caller, limit.id, {});
  });

  test("shows one point in time despite changes between its slices", async () => {
    const { memberCount, version } = storedGroup(world, large);
    const pieces = piecesOf(get(large));
    await Promise.all(people.slice(LARGE - 5, LARGE).map((id) => patch(large, "remove", [id])));
    const group = JSON.parse((await pieces).join(""));
    expect(group.meta.version).toBe(`W/"${version}"`);
    expect(group.members).toHaveLength(memberCount);
    expect(storedGroup(world, large).memberCount).toBe(memberCount - 5);
    await patch(large, "add", people.slice(LARGE - 5, LARGE));
  });

  test("SCIM-125 yields to other requests between its slices", async () => {
    let turns = 0;
    let isDone = false;
    const reading = textOf(get(large)).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      turns += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    await reading;
    expect(turns).toBeGreaterThan(LARGE / SLICE_MEMBERS / 2);
  });

  test("is also returned after it changes", async () => {
    const { displayName } = storedGroup(world, large);
    const members = membersOf(people.slice(1, LARGE));
    const response = await world.groups.replace(world.caller, large, { body: { displayName, members } });
    expect(JSON.parse((await piecesOf(response)).join("")).members).toHaveLength(LARGE - 1);
    await patch(large, "add", people.slice(0, 1));
  });

  test("keeps no resources if it is never read", async () => {
    for (let at = 0; at < STREAMS_MAX + STREAMS_WAITING_MAX + 1; at += 1) get(large);
    const half = get(large).json;
    if (typeof half === "object") await half[Symbol.asyncIterator]().next();
    expect(await piecesOf(get(large))).not.toBeEmpty();
  });

  test(
    "waits for its turn, and is refused when too many wait",
    async () => {
      const [turns, waiting] = [STREAMS_MAX, STREAMS_WAITING_MAX];
      const fitting = Array.from({ length: turns + waiting }, () =>
        piecesOf(get(streamed, { attributes: ["members.value"] })),
      );
      expect(await refusalOf(() => get(streamed))).toMatchObject({ status: 503 });
      const sizes = await Promise.all(fitting.map(async (pieces) => (await pieces).length));
      expect(new Set(sizes).size).toBe(1);
      expect(await piecesOf(get(streamed))).toHaveLength(sizes[0] ?? 0);
    },
    TIME_LIMIT_MS,
  );

  test(
    "refuses an earlier request that starts reading when too many wait",
    async () => {
      const late = get(streamed);
      const crowd = Array.from({ length: STREAMS_MAX + STREAMS_WAITING_MAX }, () => piecesOf(get(streamed)));
      expect(await refusalOf(() => piecesOf(late))).toMatchObject({ status: 503 });
      await Promise.all(crowd);
    },
    TIME_LIMIT_MS,
  );

  test("is not found if it is removed before its turn", async () => {
    const { id } = await create("Short-lived", people.slice(0, WHOLE_GROUP_MEMBERS_MAX + 1));
    const response = get(id);
    await world.groups.remove(world.caller, id, {});
    expect(await refusalOf(() => piecesOf(response))).toMatchObject({ status: 404 });
  });
});

describe("a change of many slices", () => {
  const removeAll = (id: string) =>
    world.groups.patch(world.caller, id, { body: patchOf({ op: "remove", path: "members" }) });

  test.each<[string, (id: string) => Promise<unknown>]>([
    ["all members are removed", removeAll],
    ["all members are added", (id) => replace(id, people.slice(0, LARGE))],
    ["a new name", (id) => world.groups.patch(world.caller, id, { body: renamed(id) })],
  ])("yields between its slices to requests that see the group before the change: %s", async (_, change) => {
    const before = glance(large);
    const seen = new Set<string>();
    let turns = 0;
    let isDone = false;
    const changing = change(large).finally(() => {
      isDone = true;
    });
    while (!isDone) {
      turns += 1;
      seen.add(glance(large));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await changing;
    seen.delete(glance(large));
    expect([...seen]).toEqual([before]);
    expect(turns).toBeGreaterThan(LARGE / STEP_MEMBERS);
  });

  test("refused at its end leaves the group unchanged", async () => {
    const before = storedGroup(world, large);
    const versions = versionsOf(world, people);
    const body = { displayName: "Never", members: membersOf([...people.slice(-2_000), "nobody", small]) };
    const refusal = await refusalOf(() => world.groups.replace(world.caller, large, { body }));
    expect(refusal).toMatchObject({ status: 400, scimType: "invalidValue" });
    expect(refusal.detail).toContain(small);
    expect(storedGroup(world, large)).toEqual(before);
    expect(versionsOf(world, people)).toEqual(versions);
  });

  test("SCIM-124 runs at most as many statements for each removed slice as for a small group", async () => {
    const { id } = await create("Of one slice", people.slice(0, 5));
    const ofSlice = await statementsOf(() => world.groups.remove(world.caller, id, {}));
    const removal = await statementsOf(() => world.groups.remove(world.caller, large, {}));
    const slices = LARGE / STEP_MEMBERS;
    expect(removal.length).toBeGreaterThan(slices);
    expect(removal.length).toBeLessThanOrEqual(slices * ofSlice.length);
    expect(Math.max(...rowsOf(removal))).toBeLessThanOrEqual(STEP_MEMBERS);
    const left = world.db.read.select({ rows: count() }).from(scimGroupMembers).get();
    expect(left?.rows).toBe(5);
  });
});

test("SCIM-27 a long list with ten unknown ids at its start is refused without looking up the others", async () => {
  const nobody = Array.from({ length: LARGE }, (_, at) => `nobody-${at}`);
  const lookupsOf = (ids: readonly string[]) =>
    statementsOf(async () => {
      const { detail } = await refusalOf(() => replace(small, ids));
      expect(detail).toContain('"nobody-9"; create the users first');
    });
  expect(await lookupsOf(nobody)).toHaveLength((await lookupsOf(nobody.slice(0, 10))).length);
  const { detail } = await refusalOf(() => replace(small, nobody.with(3, people[0] ?? "")));
  expect(detail).toContain('"nobody-10"; create the users first');
});
