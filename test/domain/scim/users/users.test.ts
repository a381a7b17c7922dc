// Users as resources: responses, uniqueness, what counts as a change, and that requests do not overwrite each other's changes.
import { expect, test } from "bun:test";
import { eq, sql } from "drizzle-orm";
import { organizations } from "../../../../src/domain/identity/tables.ts";
import type { ScimCaller } from "../../../../src/domain/scim/model.ts";
import { scimUserEmails } from "../../../../src/domain/scim/tables.ts";
import { ENTERPRISE_USER } from "../../../../src/domain/scim/wire.ts";
import { BASE_URL } from "../../../support/server.ts";
import {
  ADA,
  addLocal,
  auditedIn,
  createUsersWorld,
  refusalOf,
  resourceOf,
  type UsersWorld,
} from "./users-world.ts";

const GONE = [404, undefined, expect.any(String)];
const CHANGED_SINCE = [412, undefined, expect.any(String)];
const taken = (attribute: string) => [409, "uniqueness", expect.stringContaining(attribute)];

const replace = (world: UsersWorld, id: string, body: unknown, ifMatch?: string) =>
  world.users.replace(world.caller, id, { body, ifMatch });

test("a create returns the whole user with its location, and a read returns the same", async () => {
  await using world = await createUsersWorld();
  const response = await world.add({ userName: ADA, externalId: "00u1", displayName: "Ada" });
  const location = `${BASE_URL}/scim/v2/Users/${response.id}`;
  expect(response).toMatchObject({ type: "User", version: 1, location });
  expect(resourceOf(response)).toMatchObject({
    id: response.id,
    externalId: "00u1",
    userName: ADA,
    displayName: "Ada",
    active: true,
    emails: [{ value: ADA, type: "work", primary: true }],
    groups: [],
    meta: { resourceType: "User", version: 'W/"1"', location },
  });
  expect(world.users.get(world.caller, response.id, {})).toEqual(response);
});

test("only users of a provider are found by id: no local account, group or unknown id", async () => {
  await using world = await createUsersWorld();
  const { user } = await addLocal(world, "local@example.com");
  const { id: group } = await world.groups.create(world.caller, { displayName: "Staff" }, {});
  const { id } = await world.add();
  for (const unknown of [user.id, group, id.toUpperCase(), ` ${id}`, "", "null", "%ff", "x".repeat(10_000)]) {
    expect(await refusalOf(() => world.shown(unknown))).toEqual(GONE);
    expect(await refusalOf(() => replace(world, unknown, { userName: "x" }))).toEqual(GONE);
    expect(await refusalOf(() => world.patch(unknown, { op: "add", path: "title", value: "x" }))).toEqual(
      GONE,
    );
    expect(await refusalOf(() => world.users.remove(world.caller, unknown, {}))).toEqual(GONE);
  }
  expect(world.account(user.id).status).toBe("active");
});

test("SCIM-6 another organization's users do not exist", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add({ userName: ADA, externalId: "1" });
  const stranger = await strangerIn(world);
  const { users } = world;
  const body = { userName: "x@example.com" };
  expect(await refusalOf(() => users.get(stranger, id, {}))).toEqual(GONE);
  expect(await refusalOf(() => users.replace(stranger, id, { body }))).toEqual(GONE);
  expect(await refusalOf(() => users.remove(stranger, id, {}))).toEqual(GONE);
  const own = await users.create(stranger, { userName: ADA, externalId: "1" }, {});
  expect(own.id).not.toBe(id);
});

/** A provider of a second organization in the same database. */
async function strangerIn({ world }: UsersWorld): Promise<ScimCaller> {
  const organizationId = world.ids.uuid();
  const organization = { id: organizationId, name: "Other", createdAtMs: world.clock.nowMs() };
  await world.db.write((tx) => void tx.insert(organizations).values(organization).run());
  return { actor: { kind: "scim", id: null, label: "scim:other", organizationId }, profile: "standard" };
}

test("suspended users remain visible", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  await world.patch(id, { op: "replace", path: "active", value: false });
  expect(world.shown(id).active).toBe(false);
});

test("SCIM-28 a duplicate name or external id is refused with its attribute before the address is checked", async () => {
  await using world = await createUsersWorld();
  await world.add({ userName: ADA, externalId: "1" });
  const { id } = await world.add({ userName: "grace@example.com", externalId: "2" });
  for (const userName of ["ADA@example.com", " ａda@example.com "]) {
    expect(await refusalOf(() => world.add({ userName }))).toEqual(taken("userName"));
    expect(await refusalOf(() => replace(world, id, { userName }))).toEqual(taken("userName"));
    const operation = { op: "replace", path: "userName", value: userName };
    expect(await refusalOf(() => world.patch(id, operation))).toEqual(taken("userName"));
  }
  const body = { userName: "new@example.com", externalId: "1" };
  expect(await refusalOf(() => world.add(body))).toEqual(taken("externalId"));
  expect(await refusalOf(() => replace(world, id, body))).toEqual(taken("externalId"));
  const both = await refusalOf(() => world.add({ userName: ADA, externalId: "2" }));
  expect(both).toEqual(taken("userName"));
  expect(both).toEqual(taken("externalId"));
  expect(world.shown(id)).toMatchObject({ userName: "grace@example.com", externalId: "2" });
});

test("a user's own name may change in letter case, exact ids differ by case, and freed values can be reused", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add({ userName: ADA, externalId: "a" });
  await world.patch(id, { op: "replace", path: "userName", value: "ADA@Example.com" });
  expect(world.shown(id).userName).toBe("ADA@Example.com");
  await world.add({ userName: "grace@example.com", externalId: "A" });
  await world.patch(
    id,
    { op: "replace", value: { userName: "lovelace", externalId: "b" } },
    ...KEEPING_ADDRESS,
  );
  await world.add({ userName: ADA, externalId: "a", emails: [{ value: "new@example.com" }] });
});

const KEEPING_ADDRESS = [{ op: "add", path: "emails", value: [{ value: ADA }] }];

test("SCIM-91, SCIM-92 a replacement clears omitted attributes, except active", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add({
    userName: ADA,
    externalId: "1",
    title: "Countess",
    active: false,
    [ENTERPRISE_USER]: { department: "D" },
  });
  const { version } = await replace(world, id, { userName: ADA, id: "another", nickName: "A" });
  const { meta, ...shown } = world.shown(id);
  expect(version).toBe(2);
  expect(meta).toMatchObject({ version: 'W/"2"' });
  expect(shown).toEqual({
    schemas: ["urn:ietf:params:scim:schemas:core:2.0:User"],
    id,
    userName: ADA,
    nickName: "A",
    active: false,
    emails: [{ value: ADA, type: "work", primary: true }],
    groups: [],
  });
  await replace(world, id, { userName: ADA, active: true });
  expect(world.account(id).status).toBe("active");
});

test("a returned user can be sent back, with or without a change", async () => {
  await using world = await createUsersWorld();
  const { id: manager } = await world.add({ userName: "grace@example.com", displayName: "Grace" });
  const { id } = await world.add({
    userName: ADA,
    name: { givenName: "Ada" },
    [ENTERPRISE_USER]: { manager: { value: manager } },
  });
  const shown = world.shown(id);
  world.world.clock.advance(1_000);
  expect(await replace(world, id, shown)).toMatchObject({ version: 1 });
  expect(world.shown(id)).toEqual(shown);
  expect(await replace(world, id, { ...shown, active: false })).toMatchObject({ version: 2 });
  expect(world.account(id).status).toBe("suspended");
  expect(world.shown(id)[ENTERPRISE_USER]).toEqual(shown[ENTERPRISE_USER]);
});

test("SCIM-95 a change increments the version and updates lastModified; an equal request does neither and is not audited", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const audited = auditedIn(world).length;
  world.world.clock.advance(1_000);
  const idle = [
    { op: "replace", path: "active", value: true },
    { op: "remove", path: "title" },
    { op: "add", path: 'emails[type eq "work"].value', value: ADA },
    { op: "remove", path: 'emails[type eq "fax"]' },
  ];
  const unchanged = await world.patch(id, ...idle);
  expect(unchanged.version).toBe(1);
  expect(resourceOf(unchanged)).toEqual(world.shown(id));
  const back = [
    { op: "add", path: "title", value: "Countess" },
    { op: "remove", path: "title" },
  ];
  expect((await world.patch(id, ...back)).version).toBe(1);
  expect(auditedIn(world)).toHaveLength(audited);
  const changed = await world.patch(id, { op: "add", path: "title", value: "Countess" });
  expect(changed.version).toBe(2);
  expect(resourceOf(changed).meta).toMatchObject({
    created: "2026-01-01T00:00:00.000Z",
    lastModified: "2026-01-01T00:00:01.000Z",
  });
});

test("the audit log has the actor, the user before and after, and the changed attributes", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add({ userName: ADA, externalId: "1" });
  await world.patch(id, {
    op: "replace",
    value: { active: false, title: "Countess", password: "secret-word" },
  });
  await world.users.remove(world.caller, id, {});
  const user = { user_name: ADA, external_id: "1", active: true, email: ADA, role: "member" };
  const suspended = { ...user, active: false };
  const entry = { actor: "scim:okta", target: id };
  expect(auditedIn(world)).toEqual([
    { ...entry, action: "scim_user.create", before: null, after: user },
    {
      ...entry,
      action: "scim_user.update",
      before: user,
      after: { ...suspended, changed: ["active", "title"] },
    },
    { ...entry, action: "scim_user.remove", before: suspended, after: null },
  ]);
  const [{ secrets } = { secrets: 1 }] = world.world.db.read.all<{ secrets: number }>(
    sql`SELECT count(*) AS secrets FROM audit_entries WHERE after LIKE '%secret-word%'`,
  );
  expect(secrets).toBe(0);
});

test("a conditional change applies only to the current version", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const body = { userName: ADA, title: "Countess" };
  const patchBody = { Operations: [{ op: "add", path: "title", value: "Duchess" }] };
  const stale = 'W/"7"';
  expect(await refusalOf(() => replace(world, id, body, stale))).toEqual(CHANGED_SINCE);
  const patched = () => world.users.patch(world.caller, id, { body: patchBody, ifMatch: stale });
  expect(await refusalOf(patched)).toEqual(CHANGED_SINCE);
  expect(await refusalOf(() => world.users.remove(world.caller, id, { ifMatch: stale }))).toEqual(
    CHANGED_SINCE,
  );
  expect(world.shown(id).title).toBeUndefined();
  expect(await replace(world, id, body, 'W/"1"')).toMatchObject({ version: 2 });
  expect(await refusalOf(() => replace(world, id, body, 'W/"1"'))).toEqual(CHANGED_SINCE);
  await world.users.remove(world.caller, id, { ifMatch: "*" });
  expect(await refusalOf(() => world.users.remove(world.caller, id, { ifMatch: "*" }))).toEqual(GONE);
});

test("parallel changes of one user all take effect", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const numbers = Array.from({ length: 40 }, (_, at) => `n${at}`);
  await Promise.all(
    numbers.map((value) => world.patch(id, { op: "add", path: "phoneNumbers", value: [{ value }] })),
  );
  const { phoneNumbers, meta } = world.shown(id);
  expect(phoneNumbers).toEqual(numbers.map((value) => ({ value })));
  expect(meta).toMatchObject({ version: 'W/"41"' });
});

test("one of several parallel changes of the same version succeeds", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const change = (title: string) =>
    refusalOf(() => replace(world, id, { userName: ADA, title }, 'W/"1"').then(() => "done"));
  const outcomes = await Promise.all(["a", "b", "c"].map(change));
  expect(outcomes).toEqual(["done", CHANGED_SINCE, CHANGED_SINCE]);
  expect(world.shown(id).title).toBe("a");
});

test("one of several parallel creates of the same user succeeds", async () => {
  await using world = await createUsersWorld();
  const outcomes = await Promise.all([1, 2, 3].map(() => refusalOf(() => world.add().then(() => "done"))));
  expect(outcomes).toEqual(["done", taken("userName"), taken("userName")]);
});

test("a change that fails at its end leaves no trace", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const before = world.shown(id);
  await world.world.db.write(
    (tx) =>
      void tx.run(
        sql`CREATE TRIGGER full BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no room'); END`,
      ),
  );
  const body = { userName: "lovelace@example.com", active: false };
  await expect(replace(world, id, body)).rejects.toThrow("no room");
  await expect(world.users.remove(world.caller, id, {})).rejects.toThrow("no room");
  await expect(world.add({ userName: "grace@example.com" })).rejects.toThrow("no room");
  expect(world.shown(id)).toEqual(before);
  expect(world.account(id)).toMatchObject({ status: "active", email: ADA });
});

test("the derived e-mail follows the user name and is stored when it is changed", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  await world.patch(id, { op: "replace", path: "userName", value: "lovelace@example.com" });
  expect(world.shown(id).emails).toEqual([{ value: "lovelace@example.com", type: "work", primary: true }]);
  await world.patch(id, { op: "add", path: 'emails[type eq "work"].display', value: "Office" });
  await world.patch(id, { op: "replace", path: "userName", value: "countess" });
  const emails = [{ value: "lovelace@example.com", display: "Office", type: "work", primary: true }];
  expect(world.shown(id).emails).toEqual(emails);
  const rows = world.world.db.read.select().from(scimUserEmails).where(eq(scimUserEmails.userId, id)).all();
  expect(rows).toMatchObject([
    { position: 0, valueKey: "lovelace@example.com", typeKey: "work", isPrimary: true },
  ]);
});

test("SCIM-32 a manager is stored as sent and resolved while it is a user of the organization", async () => {
  await using world = await createUsersWorld();
  const foreign = await world.users.create(await strangerIn(world), { userName: "f@example.com" }, {});
  const { id: grace } = await world.add({ userName: "grace@example.com", displayName: "Grace" });
  const { id } = await world.add();
  const managed = async (value: string) => {
    await world.patch(id, { op: "add", path: "manager", value });
    return (world.shown(id)[ENTERPRISE_USER] as { manager: unknown }).manager;
  };
  expect(await managed(foreign.id)).toEqual({ value: foreign.id });
  expect(await managed("nobody yet")).toEqual({ value: "nobody yet" });
  expect(await managed(grace)).toEqual({
    value: grace,
    $ref: `${BASE_URL}/scim/v2/Users/${grace}`,
    displayName: "Grace",
  });
  await world.users.remove(world.caller, grace, {});
  expect(world.shown(id)[ENTERPRISE_USER]).toEqual({ manager: { value: grace } });
});

const STAFF = 'The "Staff" \\ of 2026';

test("groups are sorted by name, on one user and on a page of users", async () => {
  await using world = await createUsersWorld();
  const { id: ada } = await world.add();
  const { id: grace } = await world.add({ userName: "grace@example.com" });
  const { id: none } = await world.add({ userName: "none@example.com" });
  const group = async (displayName: string, ...members: string[]) =>
    (
      await world.groups.create(
        world.caller,
        { displayName, members: members.map((value) => ({ value })) },
        {},
      )
    ).id;
  const staff = await group(STAFF, ada, grace);
  const engineering = await group("Engineering", ada);
  const shownAs = (id: string, display: string) => ({
    value: id,
    $ref: `${BASE_URL}/scim/v2/Groups/${id}`,
    display,
    type: "direct",
  });
  expect(world.shown(ada).groups).toEqual([shownAs(engineering, "Engineering"), shownAs(staff, STAFF)]);
  expect(world.shown(grace).groups).toEqual([shownAs(staff, STAFF)]);
  expect(world.shown(none).groups).toEqual([]);
  const parameters = { sortBy: "userName", sortOrder: "descending" };
  const page = JSON.parse(String(await world.domain.scim.search.list(world.caller, "User", parameters)));
  const [ofNone, ofGrace, ofAda] = page.Resources;
  expect(ofNone.groups).toEqual([]);
  expect(ofGrace.groups).toEqual([shownAs(staff, STAFF)]);
  expect(ofAda.groups).toEqual([shownAs(engineering, "Engineering"), shownAs(staff, STAFF)]);
});

test("responses to changes contain the requested attributes", async () => {
  await using world = await createUsersWorld();
  const view = { attributes: ["userName"] };
  const made = await world.users.create(world.caller, { userName: ADA, title: "x" }, view);
  expect(Object.keys(resourceOf(made)).sort()).toEqual(["id", "schemas", "userName"]);
  const body = { userName: ADA };
  const replaced = await world.users.replace(world.caller, made.id, { body, excludedAttributes: ["meta"] });
  expect(resourceOf(replaced)).not.toHaveProperty("meta");
  const both = { attributes: ["id"], excludedAttributes: ["meta"] };
  expect(await refusalOf(() => world.users.create(world.caller, body, both))).toMatchObject({ 0: 400 });
});
