// When logins of a provisioned user end: at each event of SCIM-17, in the same transaction, and at no other. The logins are real: a
// browser's session, a workstation's grant with both of its tokens.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { users } from "../../../../src/domain/identity/tables.ts";
import { CORE_GROUP } from "../../../../src/domain/scim/wire.ts";
import {
  ADA,
  ALL_ENDED,
  ALL_OPEN,
  addLocal,
  createUsersWorld,
  loginsOf,
  signedInAs,
  type UsersWorld,
} from "./users-world.ts";

/** Ada, provisioned and signed in on two machines, and Grace. */
async function withLogins(world: UsersWorld) {
  const { id } = await world.add();
  const grace = await world.add({ userName: "grace@example.com" });
  return {
    id,
    callers: [await signedInAs(world, id), await signedInAs(world, id)],
    bystander: await signedInAs(world, grace.id),
  };
}

type Act = (world: UsersWorld, id: string) => Promise<unknown>;

const ENDING: [event: string, act: Act][] = [
  ["active becomes false", (world, id) => world.patch(id, { op: "replace", path: "active", value: false })],
  [
    "active becomes false as text without a path",
    (world, id) => world.patch(id, { op: "Replace", value: { active: "False" } }),
  ],
  [
    "a PUT sets active to false",
    (world, id) => world.users.replace(world.caller, id, { body: { userName: ADA, active: false } }),
  ],
  [
    "the primary e-mail changes",
    (world, id) =>
      world.patch(id, { op: "replace", path: 'emails[type eq "work"].value', value: "lovelace@example.com" }),
  ],
  [
    "another e-mail becomes the primary one",
    (world, id) =>
      world.patch(id, { op: "add", path: "emails", value: { value: "home@example.com", primary: true } }),
  ],
  [
    "the user name changes and the address follows it",
    (world, id) => world.patch(id, { op: "replace", path: "userName", value: "lovelace@example.com" }),
  ],
  ["the user is deleted", (world, id) => world.users.remove(world.caller, id, {})],
  [
    "the user is deleted and created again",
    async (world, id) => {
      await world.users.remove(world.caller, id, {});
      await world.add();
    },
  ],
];

test.each(ENDING)("SCIM-17 logins end when %s", async (_, act) => {
  await using world = await createUsersWorld();
  const { id, callers, bystander } = await withLogins(world);
  await act(world, id);
  for (const caller of callers) expect(await loginsOf(world, caller)).toEqual(ALL_ENDED);
  expect(await loginsOf(world, bystander)).toEqual(ALL_OPEN);
});

test("ended logins that remain in the database stay ended when active becomes true", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add({ userName: ADA, active: false });
  const setStatus = (status: "active" | "suspended") =>
    world.world.db.write((tx) => void tx.update(users).set({ status }).where(eq(users.id, id)).run());
  await setStatus("active");
  const caller = await signedInAs(world, id);
  await setStatus("suspended");
  await world.patch(id, { op: "replace", path: "active", value: true });
  expect(await loginsOf(world, caller)).toEqual(ALL_ENDED);
  expect(await loginsOf(world, await signedInAs(world, id))).toEqual(ALL_OPEN);
});

test("logins of a local account end when it is linked", async () => {
  await using world = await createUsersWorld();
  const local = await addLocal(world, ADA);
  expect((await world.add()).id).toBe(local.user.id);
  expect(await loginsOf(world, local)).toEqual(ALL_ENDED);
});

test("logins end when a group grants or revokes a role, and only then", async () => {
  await using world = await createUsersWorld({ groupRoleMappings: { Admins: "admin" } });
  const { id, callers, bystander } = await withLogins(world);
  const group = (displayName: string, members: string[]) => ({
    schemas: [CORE_GROUP],
    displayName,
    members: members.map((value) => ({ value })),
  });
  await world.groups.create(world.caller, group("Staff", [id]), {});
  const [first, second] = callers;
  if (!first || !second) throw new Error("two machines");
  expect(await loginsOf(world, first)).toEqual(ALL_OPEN);
  const admins = await world.groups.create(world.caller, group("Admins", [id]), {});
  expect(world.account(id).role).toBe("admin");
  expect(await loginsOf(world, second)).toEqual(ALL_ENDED);
  const third = await signedInAs(world, id);
  await world.groups.remove(world.caller, admins.id, {});
  expect(world.account(id).role).toBe("member");
  expect(await loginsOf(world, third)).toEqual(ALL_ENDED);
  expect(await loginsOf(world, bystander)).toEqual(ALL_OPEN);
});

const HARMLESS: [event: string, act: Act][] = [
  [
    "active is set to true again",
    (world, id) => world.patch(id, { op: "replace", path: "active", value: "True" }),
  ],
  [
    "names and title change",
    (world, id) =>
      world.patch(id, {
        op: "replace",
        value: { displayName: "Ada L.", "name.givenName": "Ada", title: "Engineer" },
      }),
  ],
  [
    "the address is repeated in another letter case",
    (world, id) =>
      world.patch(id, { op: "replace", path: 'emails[type eq "work"].value', value: "ADA@Example.com" }),
  ],
  [
    "a second e-mail that is not primary is added",
    (world, id) =>
      world.patch(id, { op: "add", path: 'emails[type eq "home"].value', value: "home@example.com" }),
  ],
  [
    "the whole user is repeated",
    (world, id) => world.users.replace(world.caller, id, { body: world.shown(id) }),
  ],
  [
    "only the user name changes",
    async (world, id) => {
      await world.patch(id, { op: "add", path: "emails", value: [{ value: ADA, type: "work" }] });
      await world.patch(id, { op: "replace", path: "userName", value: "ada" });
    },
  ],
  [
    "a change is refused",
    async (world, id) => {
      const operations = [
        { op: "replace", path: "active", value: false },
        { op: "replace", path: "nothing", value: 1 },
      ];
      await expect(world.patch(id, ...operations)).rejects.toMatchObject({ scimType: "invalidPath" });
    },
  ],
];

test.each(HARMLESS)("SCIM-17 logins continue when %s", async (_, act) => {
  await using world = await createUsersWorld();
  const { id, callers } = await withLogins(world);
  await act(world, id);
  for (const caller of callers) expect(await loginsOf(world, caller)).toEqual(ALL_OPEN);
});

test("suspending a user again keeps the time at which the logins ended", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  await world.patch(id, { op: "replace", path: "active", value: false });
  const { updatedAtMs } = world.account(id);
  world.world.clock.advance(1_000);
  await world.patch(id, { op: "replace", value: { active: false, title: "Countess" } });
  expect(world.account(id)).toMatchObject({ status: "suspended", updatedAtMs });
});

test("the next HTTP requests of a browser and a workstation after a deactivation are refused", async () => {
  await using world = await createUsersWorld();
  const { id } = await world.add();
  const { cookie, accessToken } = await signedInAs(world, id);
  const statuses = async () => [
    (await world.request("GET", "/auth/me", { cookie })).status,
    (await world.request("GET", "/auth/me", { token: accessToken })).status,
  ];
  const before = await statuses();
  expect(before).not.toContain(401);
  await world.patch(id, { op: "replace", path: "active", value: false });
  expect(await statuses()).toEqual([401, 401]);
});
