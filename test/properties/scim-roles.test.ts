// Random sequences of everything that can change a role through provisioning: users, groups, members, names, mappings.
// After each step every provisioned account has the role of its groups, computed again from the rows in a simple way. A
// failure prints seed and path. Pass both to `fc.assert` to reproduce it.
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Role } from "../../src/domain/identity/service.ts";
import { users as accounts } from "../../src/domain/identity/tables.ts";
import type { ScimGroups } from "../../src/domain/scim/groups/groups.ts";
import { STEP_MEMBERS } from "../../src/domain/scim/groups/member-slices.ts";
import { scimGroupMembers, scimGroups, scimUsers } from "../../src/domain/scim/tables.ts";
import { ScimUsers } from "../../src/domain/scim/users/users.ts";
import { DomainError } from "../../src/platform/errors.ts";
import {
  addScimUsers,
  createGroupsWorld,
  type GroupsWorld,
  membersOf,
  patchOf,
  rolesOf,
  storedGroup,
  versionsOf,
} from "../domain/scim/groups/groups-world.ts";

const SEQUENCES = 15;
const STEPS_MAX = 40;
const TIME_LIMIT_MS = 60_000;
const PEOPLE = 4;

type Mapping = Readonly<Record<string, Role>>;

const NAMES = ["Admins", "ADMINS", "Staff", "Others", "externalId:root", "__proto__"];
/** no user has this id */
const NOBODY = "nobody";
const EXTERNAL_IDS = [undefined, undefined, "root", "Admins"];
const MAPPINGS: readonly Mapping[] = [
  {},
  { Admins: "admin" },
  { Admins: "admin", "externalId:root": "admin", Staff: "member" },
  { Staff: "admin", ADMINS: "admin", Admins: "member" },
];

const kind = <K extends string>(op: K) => fc.constant(op);
const person = fc.nat({ max: PEOPLE - 1 });
const people = fc.uniqueArray(person);
const name = fc.constantFrom(...NAMES);
const externalId = fc.constantFrom(...EXTERNAL_IDS);
const mapping = fc.constantFrom(...MAPPINGS);
/** which of the existing groups; a number out of range wraps around */
const which = fc.nat({ max: 3 });

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: kind("join"), person }) },
  { weight: 2, arbitrary: fc.record({ op: kind("leave"), person }) },
  { weight: 1, arbitrary: fc.record({ op: kind("enrolLocally"), person }) },
  { weight: 1, arbitrary: fc.record({ op: kind("switch"), person, active: fc.boolean() }) },
  { weight: 4, arbitrary: fc.record({ op: kind("create"), name, externalId, people }) },
  { weight: 3, arbitrary: fc.record({ op: kind("replace"), which, name, externalId, people }) },
  { weight: 3, arbitrary: fc.record({ op: kind("rename"), which, name, removed: people, added: people }) },
  { weight: 3, arbitrary: fc.record({ op: kind("identify"), which, externalId }) },
  { weight: 6, arbitrary: fc.record({ op: kind("add"), which, people }) },
  { weight: 3, arbitrary: fc.record({ op: kind("remove"), which, people }) },
  { weight: 1, arbitrary: fc.record({ op: kind("empty"), which }) },
  { weight: 2, arbitrary: fc.record({ op: kind("delete"), which }) },
  { weight: 2, arbitrary: fc.record({ op: kind("restart"), mapping }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;
const steps = fc.array(step, { minLength: 10, maxLength: STEPS_MAX, size: "max" });
/** Most steps need users and a group. */
const opening: Step[] = [
  ...Array.from({ length: PEOPLE }, (_, at) => ({ op: "join" as const, person: at })),
  { op: "create", name: "Admins", externalId: undefined, people: [0, 1] },
  { op: "create", name: "Staff", externalId: "root", people: [1, 2] },
];

/** Random sequences may miss a rare outcome. This sequence contains all outcomes. */
const TO_EVERY_OUTCOME: Step[] = [
  { op: "join", person: 0 },
  { op: "add", which: 0, people: [2] },
  { op: "remove", which: 0, people: [2] },
  { op: "identify", which: 1, externalId: "Admins" },
  { op: "rename", which: 1, name: "Others", removed: [1], added: [3] },
  { op: "replace", which: 1, name: "Staff", externalId: undefined, people: [3] },
  { op: "leave", person: 3 },
  { op: "restart", mapping: { Staff: "admin" } },
  { op: "delete", which: 1 },
];

/** How often each outcome occurred, so that the steps are known to have effects. */
const met = new Map<string, number>();
const meet = (outcome: string) => met.set(outcome, (met.get(outcome) ?? 0) + 1);

class Run {
  readonly #users: ScimUsers;
  #groups: ScimGroups;
  #mapping: Mapping;

  constructor(
    private readonly world: GroupsWorld,
    mapping: Mapping,
  ) {
    this.#groups = world.groups;
    this.#mapping = mapping;
    this.#users = new ScimUsers({
      ...world.dependencies,
      leaveAll: (tx, userId) => this.#groups.leaveAll(tx, userId),
    });
  }

  /** Runs the step; a refusal is an outcome like any other. */
  async take(taken: Step): Promise<void> {
    try {
      await this.#do(taken);
      meet(taken.op);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      meet(`${taken.op} refused`);
    }
  }

  async #do(taken: Step): Promise<unknown> {
    const { world } = this;
    const { caller } = world;
    switch (taken.op) {
      case "join":
        return await this.#users.create(caller, { userName: emailOf(taken.person) }, {});
      case "leave":
        return await this.#users.remove(caller, this.#idOf(taken.person), {});
      case "enrolLocally":
        return await world.addUser(emailOf(taken.person), { role: "admin" });
      case "switch": {
        const body = patchOf({ op: "replace", path: "active", value: taken.active });
        return await this.#users.patch(caller, this.#idOf(taken.person), { body });
      }
      case "restart": {
        const { groups, roles } = world.withMapping(taken.mapping);
        this.#groups = groups;
        this.#mapping = taken.mapping;
        return await roles.applyMapping(world.system);
      }
      case "create":
        return await this.#groups.create(caller, this.#bodyOf(taken), {});
      case "replace":
        return await this.#groups.replace(caller, this.#group(taken.which), { body: this.#bodyOf(taken) });
      case "delete":
        return await this.#groups.remove(caller, this.#group(taken.which), {});
      default: {
        const body = patchOf(...this.#operationsOf(taken));
        return await this.#groups.patch(caller, this.#group(taken.which), { body });
      }
    }
  }

  #operationsOf(taken: Extract<Step, { op: "rename" | "identify" | "add" | "remove" | "empty" }>): object[] {
    const changing = (op: string, of: readonly number[]) => ({
      op,
      path: "members",
      value: this.#members(of),
    });
    switch (taken.op) {
      case "rename":
        return [
          changing("remove", taken.removed),
          { op: "replace", value: { displayName: taken.name } },
          changing("add", taken.added),
        ];
      case "identify":
        return [{ op: "replace", path: "externalId", value: taken.externalId ?? null }];
      case "empty":
        return [{ op: "remove", path: "members" }];
      default:
        return [changing(taken.op, taken.people)];
    }
  }

  #bodyOf(given: { name: string; externalId: string | undefined; people: readonly number[] }) {
    return { displayName: given.name, externalId: given.externalId, members: this.#members(given.people) };
  }

  /** Those of these people who are users now. */
  #members(of: readonly number[]) {
    return membersOf(of.map((each) => this.#idOf(each)).filter((id) => id !== NOBODY));
  }

  #idOf(of: number): string {
    const rows = this.world.db.read.select().from(scimUsers).all();
    return rows.find(({ userName }) => userName === emailOf(of))?.accountId ?? NOBODY;
  }

  #group(at: number): string {
    const rows = this.world.db.read.select({ id: scimGroups.id }).from(scimGroups).all();
    return rows[at % Math.max(rows.length, 1)]?.id ?? "none";
  }

  check(): void {
    const { read } = this.world.db;
    const groups = read.select().from(scimGroups).all();
    const memberships = read.select().from(scimGroupMembers).all();
    const roles = new Map(
      read
        .select()
        .from(accounts)
        .all()
        .map(({ id, role }) => [id, role]),
    );
    for (const { sequence, memberCount } of groups)
      expect(memberships.filter(({ groupSequence }) => groupSequence === sequence)).toHaveLength(memberCount);
    for (const { accountId, sequence: user } of read.select().from(scimUsers).all()) {
      const own = groups.filter(({ sequence }) =>
        memberships.some(
          ({ groupSequence, userSequence }) => groupSequence === sequence && userSequence === user,
        ),
      );
      const wanted = own.some((group) => this.#makesAdministrators(group)) ? "admin" : "member";
      expect(roles.get(accountId)).toBe(wanted);
      meet(`role ${wanted}`);
    }
  }

  #makesAdministrators({ displayName, externalId: own }: { displayName: string; externalId: string | null }) {
    return Object.entries(this.#mapping).some(
      ([key, role]) =>
        role === "admin" &&
        (key.startsWith("externalId:") ? own !== null && key === `externalId:${own}` : key === displayName),
    );
  }
}

const emailOf = (of: number): string => `person${of}@example.com`;

test(
  "sequences of requests never leave a role that the user's groups do not grant",
  async () => {
    await fc.assert(
      fc.asyncProperty(mapping, steps, async (first, taken) => {
        await using world = await createGroupsWorld(first);
        await world.addUser("boss@example.com", { role: "admin" });
        const run = new Run(world, first);
        for (const each of [...opening, ...taken]) {
          await run.take(each);
          run.check();
        }
      }),
      { numRuns: SEQUENCES, examples: [[{ Admins: "admin" }, TO_EVERY_OUTCOME]] },
    );
    const operations = [
      "join",
      "leave",
      "create",
      "replace",
      "rename",
      "identify",
      "add",
      "remove",
      "delete",
    ];
    for (const outcome of [...operations, "restart", "role admin", "role member", "join refused"])
      expect(met.get(outcome), outcome).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);

const CROWD = 2 * STEP_MEMBERS + 300;
const CROWD_SEQUENCES = 6;

/** Some of the users, by number; a number out of range wraps around. */
const part = fc.record({
  from: fc.nat({ max: CROWD - 1 }),
  count: fc.nat({ max: CROWD }),
  isReversed: fc.boolean(),
});
const crowdStep = fc.record({
  isWhole: fc.boolean(),
  name: fc.constantFrom("Admins", "Others", "Staff"),
  added: part,
  /** null means all */
  removed: fc.option(part),
});

test(
  "a large group after any change has the members, versions and roles of the naive model",
  async () => {
    await using world = await createGroupsWorld({ Admins: "admin" });
    const crowd = await addScimUsers(world, CROWD);
    const idsOf = ({ from, count, isReversed }: { from: number; count: number; isReversed: boolean }) => {
      const ids = [...crowd, ...crowd].slice(from, from + count);
      return isReversed ? ids.reverse() : ids;
    };
    const versions = new Map(crowd.map((id) => [id, 1]));
    const sequence = async (
      taken: readonly (typeof crowdStep extends fc.Arbitrary<infer S> ? S : never)[],
    ) => {
      const { groups, caller } = world;
      const { id } = await groups.create(
        caller,
        { displayName: "Staff", members: [] },
        { attributes: ["id"] },
      );
      let [members, displayName] = [new Set<string>(), "Staff"];
      for (const { isWhole, name, added, removed } of taken) {
        const [come, before] = [idsOf(added), members];
        members = new Set(come);
        if (isWhole) {
          const body = { displayName: name, members: membersOf(come) };
          await groups.replace(caller, id, { body, attributes: ["id"] });
        } else {
          const all = before.union(members);
          const go = removed ? idsOf(removed) : undefined;
          const body = patchOf(
            { op: "add", path: "members", value: membersOf(come) },
            { op: "remove", path: "members", ...(go && { value: membersOf(go) }) },
            { op: "replace", path: "displayName", value: name },
          );
          await groups.patch(caller, id, { body });
          members = all.difference(new Set(go ?? all));
        }
        const moved = before.symmetricDifference(members);
        const concerned = name === displayName ? moved : before.union(members);
        displayName = name;
        for (const each of concerned) versions.set(each, (versions.get(each) ?? 0) + 1);
        const row = storedGroup(world, id);
        expect(row).toMatchObject({ displayName, memberCount: members.size });
        expect(row.members).toEqual([...members].sort());
        expect(versionsOf(world, crowd)).toEqual(crowd.map((each) => versions.get(each) ?? 0));
        const isAdmin = (each: string) => displayName === "Admins" && members.has(each);
        expect(rolesOf(world, crowd)).toEqual(crowd.map((each) => (isAdmin(each) ? "admin" : "member")));
      }
      for (const each of members) versions.set(each, (versions.get(each) ?? 0) + 1);
      await groups.remove(caller, id, {});
      expect(rolesOf(world, crowd)).not.toContain("admin");
    };
    const sequences = fc.array(crowdStep, { minLength: 2, maxLength: 4 });
    await fc.assert(fc.asyncProperty(sequences, sequence), { numRuns: CROWD_SEQUENCES, endOnFailure: true });
  },
  TIME_LIMIT_MS,
);
