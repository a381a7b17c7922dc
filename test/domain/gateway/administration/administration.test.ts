// Operations of operators on gateway keys, with a gateway in this process.
import { expect, test } from "bun:test";
import { asc, eq } from "drizzle-orm";
import { auditEntries } from "../../../../src/domain/audit/tables.ts";
import type { KeyView } from "../../../../src/domain/gateway/administration/key-directory.ts";
import { REVOCATION_BATCH, type Reconciled } from "../../../../src/domain/gateway/keys/reconciler.ts";
import { countRevocations, findKey, insertRevocation } from "../../../../src/domain/gateway/keys/store.ts";
import { ATTEMPT_LEASE_MS, RETRY_MAX_MS } from "../../../../src/domain/gateway/model.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { PER_PAGE_MAX } from "../../../../src/domain/shared/page.ts";
import { MINUTE_MS } from "../../../../src/platform/clock.ts";
import { reasonOf } from "../../../support/identity-world.ts";
import { changeRow, createGatewayWorld, type GatewayWorld, retire } from "../gateway-world.ts";

const adminOf = (world: GatewayWorld) => world.gateway.administration;
const directoryOf = (world: GatewayWorld) => world.gateway.directory;
const ensure = (world: GatewayWorld, user: User, manual = false) =>
  adminOf(world).ensure({ actor: world.operator, user, manual });
const rotate = (world: GatewayWorld, user: User) => adminOf(world).rotate({ actor: world.operator, user });

const NEVER = new AbortController().signal;

/** @returns the keys made due, the completed work, and the number of notifications about keys */
async function reconcile(world: GatewayWorld, signal = NEVER) {
  let due: Reconciled | undefined;
  let told = 0;
  const done = await adminOf(world).reconcile({
    actor: world.operator,
    signal,
    onBegin: (request) => {
      due = request;
    },
    onKey: () => {
      told += 1;
    },
  });
  return { due, done, told };
}

const queue = (world: GatewayWorld, user: User, externalId: string): Promise<void> =>
  world.db.write((tx) =>
    insertRevocation(tx, {
      id: world.ids.uuid(),
      organizationId: user.organizationId,
      userId: user.id,
      email: user.email,
      externalId,
      reason: "superseded",
      attempts: 3,
      nextAttemptAtMs: world.clock.nowMs() + RETRY_MAX_MS,
      problem: "out of order",
      createdAtMs: world.clock.nowMs(),
    }),
  );

test("keys are listed by address, filtered by state, problem and part of the address, in pages", async () => {
  await using world = await createGatewayWorld();
  for (const name of ["carl", "ana", "bob"]) {
    const user = await world.addUser(`${name}@example.org`);
    if (name === "carl") world.upstream.strangers.add(user.id);
    await reasonOf(() => ensure(world, user));
  }
  await world.addUser("dora@example.org");
  const emails = (query: Parameters<ReturnType<typeof directoryOf>["list"]>[1]) => {
    const { items, total } = directoryOf(world).list(world.organizationId, query);
    return [items.map(({ email }) => email.split("@")[0]), total];
  };
  expect(emails({})).toEqual([["ana", "bob", "carl"], 3]);
  expect(emails({ state: "ready" })).toEqual([["ana", "bob"], 2]);
  expect(emails({ withProblem: true })).toEqual([["carl"], 1]);
  expect(emails({ q: "B@EX" })).toEqual([["bob"], 1]);
  expect(emails({ q: "%" })).toEqual([[], 0]);
  expect(emails({ page: 2, perPage: 2 })).toEqual([["carl"], 3]);
  expect(directoryOf(world).list(world.ids.uuid(), {}).total).toBe(0);
  expect(await reasonOf(() => emails({ perPage: PER_PAGE_MAX + 1 }))).toBe("gateway_key.invalid");
});

test("the secret, its wrapping and its version are never shown", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  const row = findKey(world.db.read, user.id);
  const shown = JSON.stringify([
    directoryOf(world).show(user),
    directoryOf(world).list(world.organizationId, {}),
  ]);
  expect(shown).toContain("key-1");
  for (const hidden of ["sk-1", row?.sealedCredential, row?.credentialVersion, row?.configurationDigest])
    expect(shown).not.toContain(hidden ?? "?");
});

test("a user without a key is shown as missing", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  expect(directoryOf(world).show(user)).toMatchObject({
    userId: user.id,
    email: user.email,
    state: "missing",
  });
});

test("a failure is reported first in the gateway's words, and later in words for operators", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.strangers.add(user.id);
  const failure = { reason: "gateway.account_missing", message: "ana@example.org has no key: no account" };
  await expect(ensure(world, user)).rejects.toMatchObject({ ...failure, kind: "conflict" });
  expect(directoryOf(world).show(user)).toMatchObject({
    problem: "the gateway has no account with this address",
    problemCode: "account_missing",
  } satisfies Partial<KeyView>);
  const { calls } = world.upstream;
  await expect(ensure(world, user)).rejects.toMatchObject({
    reason: "gateway.key_missing",
    message: expect.stringContaining("the next attempt is at 2026-01-01T01:00:00.000Z"),
  });
  expect(world.upstream.calls).toBe(calls);
  world.upstream.strangers.clear();
  expect(await ensure(world, user, true)).toMatchObject({ changed: true, key: { state: "ready" } });
});

test("a healthy key stays unchanged when it is requested", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  const { key } = await ensure(world, user);
  expect(await ensure(world, user)).toEqual({ changed: false, key });
  expect(await rotate(world, user)).toMatchObject({ changed: true, key: { externalId: "key-2" } });
});

test("a key that could not be replaced is reported and stays in use", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.upstream.failure = "unavailable";
  await expect(rotate(world, user)).rejects.toMatchObject({
    reason: "gateway.not_rotated",
    message: "the key of ana@example.org was not replaced: the gateway is unavailable",
  });
  expect(directoryOf(world).show(user)).toMatchObject({ state: "ready", externalId: "key-1" });
});

test("a request does not wait for an attempt of another process", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.hold();
  const first = ensure(world, user);
  while (world.upstream.calls === 0) await Bun.sleep(1);
  world.restart();
  expect(await reasonOf(() => ensure(world, user))).toBe("gateway.attempt_running");
  world.upstream.letGo();
  await first;
});

test("a user without access gets no key, and no user gets one while gateway mode is off", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org", { status: "suspended" });
  expect(await reasonOf(() => ensure(world, user))).toBe("gateway.no_access");
  expect(await reasonOf(() => rotate(world, user))).toBe("gateway.no_access");
  await using off = await createGatewayWorld({ isOff: true });
  const other = await off.addUser("ana@example.org");
  expect(await reasonOf(() => ensure(off, other))).toBe("gateway.off");
  expect(await reasonOf(() => reconcile(off))).toBe("gateway.off");
  expect(await off.gateway.keys.revoke({ actor: off.operator, user: other })).toBe(false);
});

test("reconciling handles every key in any state, and pending revocations", async () => {
  await using world = await createGatewayWorld();
  const [ana, bob] = [await world.addUser("ana@example.org"), await world.addUser("bob@example.org")];
  world.upstream.strangers.add(bob.id);
  for (const user of [ana, bob]) await reasonOf(() => ensure(world, user));
  await queue(world, ana, "key-of-old");
  world.upstream.strangers.clear();
  world.clock.advance(MINUTE_MS);
  const both = { keys: 2, revocations: 1 };
  expect(await reconcile(world)).toEqual({ due: both, done: both, told: 2 });
  expect(directoryOf(world).list(world.organizationId, { state: "ready" }).total).toBe(2);
  expect(countRevocations(world.db.read)).toBe(0);
  const [entry] = world.db.read
    .select()
    .from(auditEntries)
    .where(eq(auditEntries.action, "gateway_key.reconcile"))
    .orderBy(asc(auditEntries.id))
    .all();
  expect(entry).toMatchObject({ actorKind: "operator", after: JSON.stringify(both) });
});

test("a key that does not open is replaced by the request that finds it, while time continues", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  const { clock } = world;
  const { nowMs } = clock;
  clock.nowMs = () => {
    clock.advance(1);
    return nowMs();
  };
  await changeRow(world, user, { sealedCredential: "lost.AAAA" });
  expect((await reconcile(world)).done.keys).toBe(1);
  expect(directoryOf(world).show(user)).toMatchObject({ state: "ready", externalId: "key-2", problem: null });
});

test("a key that the gateway rejected is a problem until it is replaced", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  const { credentialVersion = "" } = findKey(world.db.read, user.id) ?? {};
  world.upstream.hold();
  const report = { actor: world.system, userId: user.id, credentialVersion, reason: "blocked" } as const;
  expect(await world.gateway.keys.reportRejected(report)).toBe(true);
  const problem = "the gateway has blocked your key";
  const { items } = directoryOf(world).list(world.organizationId, { withProblem: true });
  expect(items).toMatchObject([{ userId: user.id, problem }]);
  world.upstream.letGo();
  await world.gateway.keys.attempts?.drain();
  expect(directoryOf(world).list(world.organizationId, { withProblem: true }).total).toBe(0);
});

test("a revocation that two processes execute concurrently is done and recorded once", async () => {
  await using world = await createGatewayWorld();
  await queue(world, await world.addUser("ana@example.org"), "key-of-old");
  world.upstream.hold();
  const first = reconcile(world);
  while (world.upstream.calls < 1) await Bun.sleep(1);
  world.restart();
  const second = reconcile(world);
  while (world.upstream.calls < 2) await Bun.sleep(1);
  world.upstream.letGo();
  const done = [(await first).done.revocations, (await second).done.revocations];
  expect(done.sort()).toEqual([0, 1]);
  expect(world.audited().filter((action) => action === "gateway_key.revoke_upstream")).toHaveLength(1);
});

test("reconciling executes more revocations than fit into one run", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  for (let index = 0; index <= REVOCATION_BATCH; index++) await queue(world, user, `old-${index}`);
  expect((await reconcile(world)).done.revocations).toBe(REVOCATION_BATCH + 1);
});

test("reconciling skips a key with a current attempt", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.hold();
  const first = ensure(world, user);
  while (world.upstream.calls === 0) await Bun.sleep(1);
  world.restart();
  const { due, done } = await reconcile(world);
  expect({ due, done }).toEqual({ due: { keys: 0, revocations: 0 }, done: { keys: 0, revocations: 0 } });
  expect(findKey(world.db.read, user.id)?.nextAttemptAtMs).toBe(world.clock.nowMs() + ATTEMPT_LEASE_MS);
  world.upstream.letGo();
  expect((await first).key.state).toBe("ready");
});

test("an aborted reconciliation leaves the rest due for the service", async () => {
  await using world = await createGatewayWorld();
  const [user, gone] = [await world.addUser("ana@example.org"), await world.addUser("ben@example.org")];
  for (const each of [user, gone]) await ensure(world, each);
  await retire(world, gone);
  expect(await reconcile(world, AbortSignal.abort())).toMatchObject({
    due: { keys: 1, revocations: 1 },
    done: { keys: 0, revocations: 0 },
  });
  expect(findKey(world.db.read, user.id)?.nextAttemptAtMs).toBe(world.clock.nowMs());
});
