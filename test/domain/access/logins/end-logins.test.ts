// Ending logins: what ends together, and what continues.
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import {
  ENDED_AT_ONCE_MAX,
  endEverything,
  endGrants,
  endLoginSessions,
  endLogins,
  endOtherLogins,
  endOtherSessions,
  endProviderSessions,
} from "../../../../src/domain/access/logins/end-logins.ts";
import {
  deviceLogins,
  grants,
  loginSessions,
  refreshTokens,
  signInAttempts,
} from "../../../../src/domain/access/tables.ts";
import type { Tx } from "../../../../src/platform/database/database.ts";
import { Secret } from "../../../../src/platform/secret.ts";
import { START_MS } from "../../../support/world.ts";
import { type AccessWorld, addGrant, createAccessWorld, PASSWORD } from "../access-world.ts";

const ending = { reason: "test", nowMs: START_MS + 5 };

/** Ada with two logins, Bob with one. */
async function withLogins() {
  const world = await createAccessWorld();
  const bob = await world.identity.users.create(world.system, {
    email: "bob@example.com",
    role: "member",
    password: new Secret(PASSWORD),
  });
  const [first, second] = [await addGrant(world), await addGrant(world)];
  return { world, bob: bob.user, first, second, other: await addGrant(world, bob.user) };
}

/** The counts of active logins, as [sessions, grants, refresh tokens, device logins]. */
const open = ({ db: { read } }: AccessWorld): number[] => [
  read
    .select()
    .from(loginSessions)
    .all()
    .filter(({ endedAtMs }) => endedAtMs === null).length,
  read
    .select()
    .from(grants)
    .all()
    .filter(({ revokedAtMs }) => revokedAtMs === null).length,
  read.select().from(refreshTokens).all().length,
  read.select().from(deviceLogins).all().length,
];

test("ending a user's logins ends sessions, grants, refresh tokens and device logins of that user only", async () => {
  const { world, first, other } = await withLogins();
  await using _ = world;
  const ended = await world.db.write((tx) => endLogins(tx, { userId: world.user.id, ...ending }), "access");
  expect(ended).toEqual({ loginSessions: 2, grants: 2, deviceLogins: 2 });
  expect(open(world)).toEqual([1, 1, 1, 1]);
  const rowOf = (id: string) => world.db.read.select().from(grants).where(eq(grants.id, id)).all();
  expect(rowOf(first.id)).toMatchObject([{ revokedAtMs: START_MS + 5, revokedReason: "test" }]);
  expect(rowOf(other.id)).toMatchObject([{ revokedAtMs: null, revokedReason: null }]);
});

const ENDS: [string, (tx: Tx, userId: string) => unknown][] = [
  ["all logins of a user", (tx, userId) => endLogins(tx, { userId, ...ending })],
  ["the other browsers of a user", (tx, userId) => endOtherSessions(tx, { userId, sessionId: "", nowMs: 5 })],
];

test.each(ENDS)(
  "ends an approved device login with %s and leaves a redeemed one unchanged",
  async (_what, end) => {
    const { world } = await withLogins();
    await using _ = world;
    const states = ["approved", "redeemed", "refused"] as const;
    await world.db.write((tx) => {
      for (const [i, { id }] of tx.select().from(deviceLogins).all().entries()) {
        tx.update(deviceLogins)
          .set({ state: states[i], userId: world.user.id })
          .where(eq(deviceLogins.id, id))
          .run();
      }
      return end(tx, world.user.id);
    });
    const left = world.db.read.select().from(deviceLogins).all();
    expect(left.map(({ state }) => state).sort()).toEqual(["redeemed", "refused"]);
  },
);

test("ending the other browsers of a user counts each once, and keeps when it ended", async () => {
  const { world, first } = await withLogins();
  await using _ = world;
  const end = (sessionId: string, nowMs: number) =>
    world.db.write((tx) => endOtherSessions(tx, { userId: world.user.id, sessionId, nowMs }), "access");
  expect(await end(first.sid, START_MS + 5)).toBe(1);
  expect(await end("", START_MS + 9)).toBe(1);
  const ofUser = eq(loginSessions.userId, world.user.id);
  const rows = world.db.read.select().from(loginSessions).where(ofUser).all();
  expect(rows.map(({ endedAtMs }) => endedAtMs).sort()).toEqual([START_MS + 5, START_MS + 9]);
});

test("ending one login session ends what it approved and no other login of its user", async () => {
  const { world, first } = await withLogins();
  await using _ = world;
  const end = () =>
    world.db.write((tx) => endLoginSessions(tx, { loginSessionIds: [first.sid], ...ending }), "access");
  expect(await end()).toEqual({ loginSessions: 1, grants: 1, deviceLogins: 1 });
  expect(open(world)).toEqual([2, 2, 2, 2]);
  expect(await end()).toEqual({ loginSessions: 0, grants: 0, deviceLogins: 0 });
});

test("ending one grant keeps the browser and the other workstations signed in", async () => {
  const { world, first } = await withLogins();
  await using _ = world;
  const end = () => world.db.write((tx) => endGrants(tx, { grantIds: [first.id], ...ending }), "access");
  expect(await end()).toBe(1);
  expect(open(world)).toEqual([3, 2, 2, 3]);
  expect(await end()).toBe(0);
});

test("an earlier end keeps its time and reason", async () => {
  const { world, first } = await withLogins();
  await using _ = world;
  await world.db.write((tx) => endGrants(tx, { grantIds: [first.id], ...ending }), "access");
  await endEverything(world.db, { reason: "later", nowMs: START_MS + 9 });
  const row = world.db.read.select().from(grants).where(eq(grants.id, first.id)).all();
  expect(row).toMatchObject([{ revokedAtMs: START_MS + 5, revokedReason: "test" }]);
});

test("ending everything signs all users out", async () => {
  const { world } = await withLogins();
  await using _ = world;
  const ended = await endEverything(world.db, ending);
  expect(ended).toEqual({ loginSessions: 3, grants: 3, deviceLogins: 3 });
  expect(open(world)).toEqual([0, 0, 0, 0]);
});

test.each([-1, 0, 1])(
  "ending everything ends %d logins more than one transaction does, and lets other writes run in between",
  async (more) => {
    await using world = await createAccessWorld();
    const { sid } = await addGrant(world);
    const { db, ids } = world;
    const count = ENDED_AT_ONCE_MAX + more;
    await db.write((tx) => {
      const [session] = tx.select().from(loginSessions).where(eq(loginSessions.id, sid)).all();
      const [grant] = tx.select().from(grants).all();
      if (!session || !grant) throw new Error("this login has both");
      for (let at = 1; at < count; at += 1) {
        const [id, secret] = [ids.uuid(), ids.uuid()];
        tx.insert(loginSessions)
          .values({ ...session, id, tokenHash: secret })
          .run();
        tx.insert(grants)
          .values({ ...grant, id, loginSessionId: id, familyHash: secret })
          .run();
      }
    });
    const order: string[] = [];
    const everything = endEverything(db, ending).then((ended) => order.push(JSON.stringify(ended)));
    await db.write(() => order.push("other"));
    await everything;
    expect(order).toEqual([
      "other",
      JSON.stringify({ loginSessions: count, grants: count, deviceLogins: 1 }),
    ]);
    expect(open(world)).toEqual([0, 0, 0, 0]);
  },
);

test("ending the logins of several users together ends no other logins", async () => {
  const { world, first, other } = await withLogins();
  await using _ = world;
  const end = (userIds: readonly string[]) =>
    world.db.write((tx) => endLogins(tx, { userIds, ...ending }), "access");
  expect(await end([])).toEqual({ loginSessions: 0, grants: 0, deviceLogins: 0 });
  expect(await end(["unknown", world.user.id])).toEqual({ loginSessions: 2, grants: 2, deviceLogins: 2 });
  expect(open(world)).toEqual([1, 1, 1, 1]);
  const rowOf = (id: string) => world.db.read.select().from(grants).where(eq(grants.id, id)).all();
  expect(rowOf(first.id)).toMatchObject([{ revokedAtMs: START_MS + 5, revokedReason: "test" }]);
  expect(rowOf(other.id)).toMatchObject([{ revokedAtMs: null }]);
});

test.each<[string, (world: AccessWorld, userId: string) => Promise<unknown>, string[]]>([
  ["a user", ({ db }, userId) => db.write((tx) => endLogins(tx, { userId, ...ending })), ["bob@example.com"]],
  [
    "several users",
    ({ db }, userId) => db.write((tx) => endLogins(tx, { userIds: [userId], ...ending })),
    ["bob@example.com"],
  ],
  [
    "a user but one browser",
    ({ db }, userId) => db.write((tx) => endOtherLogins(tx, { userId, sessionId: "", ...ending })),
    ["bob@example.com"],
  ],
  ["everybody", ({ db }) => endEverything(db, ending), []],
])(
  "ends sign-ins that wait for a second factor together with the logins of %s",
  async (_whose, end, left) => {
    const { world, bob } = await withLogins();
    await using _ = world;
    const times = { userUpdatedAtMs: 0, createdAtMs: 0, expiresAtMs: 0 };
    await world.db.write((tx) => {
      for (const { id, email } of [world.user, bob])
        tx.insert(signInAttempts)
          .values({ id: email, userId: id, tokenHash: id, ...times })
          .run();
    });
    await end(world, world.user.id);
    expect(world.db.read.select({ id: signInAttempts.id }).from(signInAttempts).all()).toEqual(
      left.map((id) => ({ id })),
    );
  },
);

const PROVIDER = { issuer: "https://id.example.org/", providerSessionId: "one" };

test("a logout at one provider ends no login that began at another", async () => {
  const { world } = await withLogins();
  await using _ = world;
  const [{ sid }] = [await addGrant(world)];
  const startedWith = (session: { issuer: string; providerSessionId: string | null }) =>
    world.db.write((tx) => tx.update(loginSessions).set(session).where(eq(loginSessions.id, sid)).run());
  const end = () =>
    world.db.write(
      (tx) => endProviderSessions(tx, { ...PROVIDER, userId: world.user.id, endsGrants: true, ...ending }),
      "access",
    );
  for (const providerSessionId of [PROVIDER.providerSessionId, null]) {
    await startedWith({ issuer: "https://other.example.org/", providerSessionId });
    expect(await end()).toEqual({ loginSessions: 0, grants: 0 });
  }
  await startedWith({ issuer: PROVIDER.issuer, providerSessionId: null });
  expect(await end()).toEqual({ loginSessions: 1, grants: 1 });
});

test.each([
  ["one session at the provider", false, [2, 3, 3, 2], { loginSessions: 1, grants: 0 }],
  ["one session at the provider, with its workstations", true, [2, 2, 2, 2], { loginSessions: 1, grants: 1 }],
  ["a user's sessions", false, [1, 3, 3, 1], { loginSessions: 2, grants: 0 }],
  ["a user's sessions, with the workstations", true, [1, 1, 1, 1], { loginSessions: 2, grants: 2 }],
] as const)("a logout of %s ends only the logins that it decided", async (what, endsGrants, left, told) => {
  const { world, first } = await withLogins();
  await using _ = world;
  await world.db.write((tx) => {
    tx.update(loginSessions)
      .set({ ...PROVIDER, providerSessionId: "another" })
      .run();
    tx.update(loginSessions).set(PROVIDER).where(eq(loginSessions.id, first.sid)).run();
  });
  const whose = what.startsWith("one") ? PROVIDER : { userId: world.user.id };
  const end = () =>
    world.db.write((tx) => endProviderSessions(tx, { ...whose, endsGrants, ...ending }), "access");
  expect(await end()).toEqual(told);
  expect(open(world)).toEqual([...left]);
  expect(await end()).toEqual({ loginSessions: 0, grants: 0 });
});
