// Random sequences of operations of a provider and an administrator on the same few people. After each step every
// account matches its resource, logins ended for exactly those whose access changed, versions changed for exactly those
// whose resource differs, and a refusal changed nothing. A failure prints seed and path. Pass both to `fc.assert` to
// reproduce it.
import { expect, test } from "bun:test";
import { isDeepStrictEqual } from "node:util";
import { asc, eq, getTableColumns } from "drizzle-orm";
import fc from "fast-check";
import { users as accounts } from "../../src/domain/identity/tables.ts";
import { removeFromAllGroups } from "../../src/domain/scim/groups/members-store.ts";
import type { ScimCaller } from "../../src/domain/scim/model.ts";
import { scimUserEmails, scimUserRevisions, scimUsers } from "../../src/domain/scim/tables.ts";
import {
  accountAddress,
  emailColumns,
  shownDoc,
  userColumns,
} from "../../src/domain/scim/users/user-columns.ts";
import { ScimUsers } from "../../src/domain/scim/users/users.ts";
import { DomainError } from "../../src/platform/errors.ts";
import { createIdentityWorld, type IdentityWorld, PASSWORD } from "../support/identity-world.ts";

const SEQUENCES = 15;
const STEPS_MAX = 40;
const TIME_LIMIT_MS = 60_000;

const ADDRESSES = ["a@x.example", "B@x.example", "c@x.example", "boss@x.example"];
const kind = <K extends string>(op: K) => fc.constant(op);
const address = fc.constantFrom(...ADDRESSES);
const userName = fc.constantFrom(...ADDRESSES, "A@x.example", "nickname");
const active = fc.constantFrom(true, false, undefined);

const given = fc.record({
  userName,
  active,
  emails: fc.oneof(
    fc.constant(undefined),
    fc.uniqueArray(address, { maxLength: 2 }).map((list) => list.map((value) => ({ value }))),
  ),
  externalId: fc.constantFrom(undefined, "1", "2"),
});
/** which of the existing users or accounts; a number out of range wraps around */
const which = fc.nat({ max: 3 });

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ op: kind("create"), given }) },
  { weight: 3, arbitrary: fc.record({ op: kind("replace"), which, given }) },
  { weight: 3, arbitrary: fc.record({ op: kind("switch"), which, active: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ op: kind("rename"), which, userName }) },
  { weight: 2, arbitrary: fc.record({ op: kind("move"), which, address }) },
  { weight: 3, arbitrary: fc.record({ op: kind("remove"), which }) },
  { weight: 2, arbitrary: fc.record({ op: kind("enrolLocally"), address }) },
  { weight: 1, arbitrary: fc.record({ op: kind("removeLocally"), which }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

const NEW_ONE = { userName: "a@x.example", active: true, emails: undefined, externalId: undefined };
/** Random sequences may miss a rare outcome. This sequence contains all outcomes. */
const TO_EVERY_OUTCOME: Step[] = [
  { op: "create", given: NEW_ONE },
  { op: "create", given: NEW_ONE },
  { op: "create", given: { ...NEW_ONE, userName: "B@x.example" } },
  { op: "replace", which: 0, given: NEW_ONE },
  { op: "replace", which: 0, given: { ...NEW_ONE, externalId: "1" } },
  { op: "replace", which: 1, given: NEW_ONE },
  { op: "rename", which: 1, userName: "a@x.example" },
  { op: "rename", which: 1, userName: "c@x.example" },
  { op: "move", which: 1, address: "boss@x.example" },
  { op: "move", which: 1, address: "B@x.example" },
  { op: "switch", which: 0, active: false },
  { op: "remove", which: 0 },
  { op: "enrolLocally", address: "c@x.example" },
  { op: "removeLocally", which: 3 },
  { op: "enrolLocally", address: "linked@x.example" },
  { op: "create", given: { ...NEW_ONE, externalId: undefined, userName: "linked@x.example" } },
];

/** How often each outcome occurred. */
const met = new Map<string, number>();
const meet = (outcome: string) => met.set(outcome, (met.get(outcome) ?? 0) + 1);

type Account = typeof accounts.$inferSelect;
type Resource = typeof scimUsers.$inferSelect & typeof scimUserRevisions.$inferSelect;

class Run {
  readonly #users: ScimUsers;
  readonly #caller: ScimCaller;

  constructor(private readonly world: IdentityWorld) {
    const { identity, clock, organizationId } = world;
    this.#users = new ScimUsers({
      ...world,
      accounts: identity.provisioned,
      groupsChanged: undefined,
      leaveAll: (tx, userId) => removeFromAllGroups(tx, { userId, nowMs: clock.nowMs() }),
      settings: {
        baseUrl: () => "https://host.example",
        linkExisting: "by_address",
        pageMax: 200,
        scanRowsMax: 1_000,
        requestsPerSecond: 1,
        requestsBurst: 1,
        groupRoleMappings: {},
      },
    });
    this.#caller = {
      actor: { kind: "scim", id: null, label: "scim:test", organizationId },
      profile: "standard",
    };
  }

  async take(taken: Step): Promise<void> {
    const before = this.#state();
    this.world.endings.length = 0;
    this.world.clock.advance(1);
    try {
      await this.#do(taken);
      meet(taken.op);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      expect(this.#state()).toEqual(before);
      expect(this.world.endings).toEqual([]);
      meet(`${taken.op} refused`);
      return;
    }
    const after = this.#state();
    for (const resource of after.resources) this.#checkResource(resource, after.accounts);
    this.#checkEndings(before.accounts, after.accounts);
    this.#checkPasswords(before.accounts, after.accounts);
    this.#checkVersions(before.resources, after.resources);
  }

  async #do(taken: Step): Promise<unknown> {
    const { world } = this;
    switch (taken.op) {
      case "create":
        return await this.#users.create(this.#caller, taken.given, {});
      case "replace":
        return await this.#users.replace(this.#caller, this.#user(taken.which), { body: taken.given });
      case "switch":
        return await this.#patch(taken.which, { path: "active", value: taken.active });
      case "rename":
        return await this.#patch(taken.which, { path: "userName", value: taken.userName });
      case "move":
        return await this.#patch(taken.which, {
          path: "emails",
          value: [{ value: taken.address, primary: true }],
        });
      case "remove":
        return await this.#users.remove(this.#caller, this.#user(taken.which), {});
      case "enrolLocally": {
        const account = { email: taken.address, role: "admin", password: PASSWORD };
        return await world.identity.users.create(world.operator, account);
      }
      case "removeLocally":
        return await world.identity.users.remove(world.operator, this.#account(taken.which));
    }
  }

  #patch(at: number, operation: { path: string; value: unknown }) {
    const body = { Operations: [{ op: "replace", ...operation }] };
    return this.#users.patch(this.#caller, this.#user(at), { body });
  }

  #user(at: number): string {
    const { resources } = this.#state();
    return resources[at % Math.max(resources.length, 1)]?.accountId ?? "none";
  }

  #account(at: number): string {
    const rows = this.#state().accounts;
    return rows[at % rows.length]?.id ?? "none";
  }

  #state(): { accounts: Account[]; resources: Resource[] } {
    const { read } = this.world.db;
    const resources = read
      .select({ ...getTableColumns(scimUsers), ...getTableColumns(scimUserRevisions) })
      .from(scimUsers)
      .innerJoin(scimUserRevisions, eq(scimUserRevisions.sequence, scimUsers.sequence))
      .orderBy(asc(scimUsers.sequence))
      .all();
    return { accounts: read.select().from(accounts).all(), resources };
  }

  #checkResource({ doc: text, ...resource }: Resource, all: readonly Account[]): void {
    const doc = JSON.parse(text);
    const email = accountAddress(doc);
    const [account] = all.filter(({ id }) => id === resource.accountId);
    const status = resource.active ? "active" : "suspended";
    expect(account).toMatchObject({ email, emailKey: email, status, provisioningSource: "scim" });
    expect({ ...resource, doc: text }).toMatchObject({ ...userColumns(doc, email) });
    const rows = this.world.db.read.select().from(scimUserEmails).all();
    const own = rows.filter(({ userId }) => userId === resource.accountId);
    expect(own.sort((a, b) => a.position - b.position)).toMatchObject(emailColumns(doc));
  }

  /** Users whose access changed or was restored lost their logins; nobody else did. */
  #checkEndings(before: readonly Account[], after: readonly Account[]): void {
    const accessOf = ({ email, role, status, subject, provisioningSource }: Account) => ({
      email,
      role,
      status,
      subject,
      provisioningSource,
    });
    const old = new Map(before.map((account) => [account.id, account]));
    const changed = after.filter((account) => {
      const known = old.get(account.id);
      return known !== undefined && !isDeepStrictEqual(accessOf(known), accessOf(account));
    });
    const ended = this.world.endings.map(({ userId }) => userId).sort();
    expect(ended).toEqual(changed.map(({ id }) => id).sort());
    meet(ended.length > 0 ? "logins ended" : "logins went on");
  }

  /** A provider sets no password: a linked account keeps its own, and a restored one has none. */
  #checkPasswords(before: readonly Account[], after: readonly Account[]): void {
    const kept = new Map(
      before.filter(({ status }) => status !== "removed").map(({ id, passwordHash }) => [id, passwordHash]),
    );
    for (const { id, passwordHash, provisioningSource, status } of after) {
      if (provisioningSource === "local") continue;
      expect(passwordHash).toBe(status === "removed" ? null : (kept.get(id) ?? null));
      if (passwordHash !== null) meet("password kept");
    }
  }

  #checkVersions(before: readonly Resource[], after: readonly Resource[]): void {
    for (const resource of after) {
      const known = before.find(({ sequence }) => sequence === resource.sequence);
      if (!known) continue;
      const isSame = isDeepStrictEqual(shownDoc(JSON.parse(known.doc)), shownDoc(JSON.parse(resource.doc)));
      expect(resource.version).toBe(known.version + (isSame ? 0 : 1));
      if (isSame) expect(resource).toEqual(known);
      meet(isSame ? "looks the same" : "looks different");
    }
  }
}

test(
  "sequences of requests never separate a user from its account or end logins without cause",
  async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: STEPS_MAX, size: "max" }),
        async (steps) => {
          await using world = await createIdentityWorld();
          await world.addUser("boss@x.example", { role: "admin", protected: true });
          const run = new Run(world);
          for (const each of steps) await run.take(each);
        },
      ),
      { numRuns: SEQUENCES, examples: [[TO_EVERY_OUTCOME]] },
    );
    const operations = [
      "create",
      "replace",
      "switch",
      "rename",
      "move",
      "remove",
      "enrolLocally",
      "removeLocally",
    ];
    const refusals = ["create refused", "replace refused", "rename refused", "move refused"];
    const effects = ["logins ended", "password kept", "looks the same", "looks different"];
    for (const outcome of [...operations, ...refusals, ...effects])
      expect(met.get(outcome), outcome).toBeGreaterThan(0);
  },
  TIME_LIMIT_MS,
);
