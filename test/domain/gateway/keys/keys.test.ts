// The life of a gateway key: created, reconciled, lost, replaced, revoked. The gateway is
// test/domain/gateway/provisioners/litellm/upstream.ts.
import { describe, expect, spyOn, test } from "bun:test";
import * as store from "../../../../src/domain/gateway/keys/store.ts";
import {
  ATTEMPT_LEASE_MS,
  REPLACEMENT_WINDOW_MS,
  REPLACEMENTS_MAX,
  RETRY_BASE_MS,
  RETRY_MAX_MS,
  ROTATION_OVERLAP_MS,
  VALIDATE_EVERY_MS,
} from "../../../../src/domain/gateway/model.ts";
import { openCredential } from "../../../../src/domain/gateway/sealing/sealed-credential.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../../../src/platform/clock.ts";
import { markTopicChanged } from "../../../../src/platform/database/changed-topics.ts";
import { openDatabase } from "../../../../src/platform/database/database.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { actorOf, reasonOf } from "../../../support/identity-world.ts";
import { changeRow, createGatewayWorld, type GatewayWorld, retire } from "../gateway-world.ts";

const ensure = (world: GatewayWorld, user: User, manual = false) =>
  world.gateway.keys.ensure({ actor: actorOf(user), user, manual });
const validate = (world: GatewayWorld, user: User) =>
  world.gateway.keys.validate({ actor: actorOf(user), user });
const reconcile = (world: GatewayWorld) => world.gateway.reconciler?.run(new AbortController().signal);
const secretOf = (world: GatewayWorld, user: User): string | undefined => {
  const row = store.findKey(world.db.read, user.id);
  return row && openCredential(world.sealing, row)?.reveal();
};
const outbox = (world: GatewayWorld) =>
  store.dueRevocations(
    world.db.read,
    { untilMs: Number.MAX_SAFE_INTEGER, fromMs: Number.MAX_SAFE_INTEGER },
    100,
  );

const EVERY_MEMBER = [
  ...["enabled", "email", "status", "alias", "external_id", "expires_at", "last_reconciled_at", "error"],
  ...["invalidated_at", "invalidation_reason", "next_retry_at"],
];

test("reports in every operation that gateway mode is off, and calls no provisioner", async () => {
  await using world = await createGatewayWorld({ isOff: true });
  const user = await world.addUser("ana@example.org");
  const off = { enabled: false, email: "ana@example.org", status: "missing", error: null };
  expect(world.gateway.keys.status(user)).toMatchObject(off);
  expect((await ensure(world, user)).status).toMatchObject(off);
  expect((await validate(world, user)).status).toMatchObject(off);
  const rotated = () => world.gateway.keys.rotate({ actor: world.operator, user });
  expect(await reasonOf(rotated)).toBe("gateway.off");
  expect(world.upstream.calls).toBe(0);
});

test("the first ensure creates a key; the status has every member and nothing of the secret", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  expect(world.gateway.keys.status(user)).toMatchObject({ enabled: true, status: "missing", alias: null });
  const { status } = await ensure(world, user);
  expect(status).toMatchObject({
    status: "ready",
    alias: "ana@example.org",
    external_id: "key-1",
    error: null,
  });
  expect(Object.keys(status)).toEqual(EVERY_MEMBER);
  expect(secretOf(world, user)).toBe("sk-1");
  expect(JSON.stringify(status)).not.toContain("sk-1");
  expect(world.audited()).toContain("gateway_key.provision");
});

test("the status immediately shows every change of the key, a user or a group, also from another process", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  const shown = () => world.gateway.keys.status(user).alias;
  await ensure(world, user);
  const row = store.findKey(world.db.read, user.id);
  if (!row) throw new Error("the key is stored");
  for (const alias of ["gateway", "access", "provisioning"] as const) {
    expect(shown()).not.toBe(alias);
    await world.db.write((tx) => store.putKey(tx, { ...row, alias }), alias);
    expect(shown()).toBe(alias);
  }
  for (const [topic, also] of [
    ["gateway", "access"],
    ["access", "provisioning"],
    ["provisioning", "gateway"],
  ] as const) {
    const alias = `${topic} and ${also}`;
    await world.db.write((tx) => {
      markTopicChanged(tx, also);
      store.putKey(tx, { ...row, alias });
    }, topic);
    expect(shown()).toBe(alias);
  }
  const beside = openDatabase(world.file);
  await beside.write((tx) => store.putKey(tx, { ...row, alias: "elsewhere" }), "gateway");
  await beside.close();
  expect(shown()).toBe("elsewhere");
});

test("a healthy key needs no call, also for a manual request", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  await ensure(world, user);
  await ensure(world, user, true);
  expect(world.upstream.calls).toBe(1);
});

test("ten concurrent callers cause one call and get the same response", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  const responses = await Promise.all(Array.from({ length: 10 }, () => ensure(world, user)));
  expect(world.upstream.calls).toBe(1);
  expect(new Set(responses.map(({ status }) => JSON.stringify(status))).size).toBe(1);
});

test("a caller who disconnects loses nothing: the key is stored anyway", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.hold();
  const pending = ensure(world, user);
  await Bun.sleep(0);
  await world.gateway.keys.attempts?.isRunning(user.id);
  world.upstream.letGo();
  await world.gateway.keys.attempts?.drain();
  expect(world.gateway.keys.status(user).status).toBe("ready");
  expect((await pending).status.status).toBe("ready");
});

test("a failed first attempt is an error with its text and the time of the next one, which succeeds", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.failure = "unavailable";
  expect(await reasonOf(() => ensure(world, user))).toBe("gateway.unavailable");
  const failed = world.gateway.keys.status(user);
  expect(failed.status).toBe("error");
  expect(failed.error).toContain("gateway is unavailable");
  expect(failed.next_retry_at).not.toBeNull();
  const waiting = await ensure(world, user);
  expect(waiting.status.status).toBe("error");
  expect(waiting.retryAfterSeconds).toBeGreaterThan(0);
  expect(world.upstream.calls).toBe(1);
  world.upstream.failure = undefined;
  world.clock.advance(RETRY_BASE_MS * 1.2);
  await reconcile(world);
  expect(world.gateway.keys.status(user)).toMatchObject({
    status: "ready",
    error: null,
    next_retry_at: null,
  });
  expect(store.findKey(world.db.read, user.id)?.failures).toBe(0); // the next failure waits the shortest time again
});

test.each([
  [1, 1],
  [1_000, 1],
  [1_001, 2],
  [2_000, 2],
])("an attempt in %d ms is announced in %d seconds, which are never too few", async (waitMs, seconds) => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.failure = "unavailable";
  await reasonOf(() => ensure(world, user));
  await changeRow(world, user, { nextAttemptAtMs: world.clock.nowMs() + waitMs });
  expect((await ensure(world, user)).retryAfterSeconds).toBe(seconds);
});

test("every call is reported with its user and its outcome", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.failure = "unavailable";
  await reasonOf(() => ensure(world, user));
  world.upstream.failure = undefined;
  await ensure(world, user, true);
  const outcomes = world.calls.map(({ operation, userId, outcome }) => [operation, userId, outcome]);
  expect(outcomes).toEqual([
    ["provision", user.id, "unavailable"],
    ["provision", user.id, "succeeded"],
  ]);
});

test("a manual call skips the wait", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.failure = "unavailable";
  await reasonOf(() => ensure(world, user));
  world.upstream.failure = undefined;
  expect((await ensure(world, user, true)).status.status).toBe("ready");
});

test("an outage never turns a working key into an error; the problem is shown with it", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.upstream.failure = "unavailable";
  world.clock.advance(DAY_MS);
  const { status } = await ensure(world, user);
  expect(status).toMatchObject({ status: "ready", external_id: "key-1" });
  expect(status.error).toContain("gateway is unavailable");
  world.clock.advance(2 * VALIDATE_EVERY_MS);
  expect((await validate(world, user)).status.status).toBe("ready");
  world.upstream.failure = undefined;
  world.clock.advance(RETRY_MAX_MS * 1.2);
  await reconcile(world);
  expect(world.gateway.keys.status(user)).toMatchObject({ status: "ready", error: null });
});

test.each(["account_missing", "invalid_config", "conflict"] as const)(
  "%s immediately waits the maximum time and does not lengthen the waits after outages",
  async (code) => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    world.upstream.failure = code;
    for (let round = 0; round < 8; round += 1) {
      expect(await reasonOf(() => ensure(world, user, true))).toBe(`gateway.${code}`);
    }
    expect(store.findKey(world.db.read, user.id)?.failures).toBe(0);
    world.upstream.failure = undefined;
    world.clock.advance(RETRY_MAX_MS);
    await reconcile(world);
    expect(world.gateway.keys.status(user).status).toBe("ready");
  },
);

test("outages are retried after increasing waits of at most an hour, without end", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.failure = "unavailable";
  await reasonOf(() => ensure(world, user));
  for (let round = 1; round < 12; round += 1) {
    const row = store.findKey(world.db.read, user.id);
    const waitMs = (row?.nextAttemptAtMs ?? 0) - world.clock.nowMs();
    const longestMs = Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** (round - 1));
    expect(waitMs).toBeGreaterThanOrEqual(longestMs * 0.8);
    expect(waitMs).toBeLessThanOrEqual(longestMs * 1.2);
    world.clock.advance(waitMs);
    await reconcile(world);
    expect(world.upstream.calls).toBe(round + 1);
  }
});

describe.each([
  ["a user", ensure, 0],
  ["the reconciler", reconcile, 2],
] as const)("an attempt that %s makes", (_who, attempt, inBackground) => {
  test("replaces a key that the gateway rejects in the same call, and its known remains are revoked", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ensure(world, user);
    for (const key of world.upstream.keys.values()) key.blocked = true;
    world.clock.advance(DAY_MS);
    await attempt(world, user);
    const status = world.gateway.keys.status(user);
    expect(status).toMatchObject({ status: "ready", external_id: "key-2", invalidated_at: null });
    await reconcile(world);
    expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
  });

  test(`makes ${inBackground} writes that may wait for others`, async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ensure(world, user);
    world.clock.advance(DAY_MS);
    using background = spyOn(world.db, "writeInBackground");
    const before = world.upstream.calls;
    await attempt(world, user);
    expect(world.upstream.calls).toBe(before + 1);
    expect(background).toHaveBeenCalledTimes(inBackground);
  });
});

test("validation clears a rejected key and leaves its replacement to a later turn", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.upstream.keys.clear();
  world.clock.advance(VALIDATE_EVERY_MS);
  const { status } = await validate(world, user);
  expect(status).toMatchObject({ status: "invalid", external_id: null, error: null });
  expect(status.invalidation_reason).not.toBeNull();
  expect(outbox(world)).toMatchObject([{ externalId: "key-1", reason: "disowned" }]);
  expect(world.audited()).toContain("gateway_key.invalidate");
  await reconcile(world);
  expect(world.gateway.keys.status(user).status).toBe("ready");
});

test.each([
  [VALIDATE_EVERY_MS - 1, 1],
  [VALIDATE_EVERY_MS, 2],
  [VALIDATE_EVERY_MS + 1, 2],
])("validation %d ms after the last makes %d calls in all", async (ms, calls) => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.clock.advance(ms);
  await validate(world, user);
  expect(world.upstream.calls).toBe(calls);
});

test("a key that is blocked repeatedly is replaced a few times a day, then only on request", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  const blockAndValidate = async () => {
    for (const key of world.upstream.keys.values()) key.blocked = true;
    world.clock.advance(VALIDATE_EVERY_MS);
    await validate(world, user);
    await reconcile(world);
    return world.gateway.keys.status(user).status;
  };
  for (let round = 0; round < REPLACEMENTS_MAX; round += 1) expect(await blockAndValidate()).toBe("ready");
  expect(await blockAndValidate()).toBe("invalid");
  expect((await ensure(world, user)).status.status).toBe("invalid");
  world.clock.advance(REPLACEMENT_WINDOW_MS);
  await reconcile(world);
  expect(world.gateway.keys.status(user).status).toBe("ready");
});

test("an expiring key is renewed ahead of time, and an expired one does not count", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.lifeMs = 2 * HOUR_MS;
  await ensure(world, user);
  world.clock.advance(HOUR_MS);
  await reconcile(world);
  expect(world.upstream.calls).toBe(2);
  world.upstream.failure = "unavailable";
  world.clock.advance(3 * HOUR_MS);
  expect(await reasonOf(() => ensure(world, user))).toBe("gateway.unavailable");
  expect(world.gateway.keys.status(user)).toMatchObject({ status: "error", external_id: null });
});

test("an expired key is revoked at the gateway before its replacement exists", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.lifeMs = 2 * HOUR_MS;
  await ensure(world, user);
  world.upstream.failure = "unavailable";
  world.clock.advance(3 * HOUR_MS);
  expect(await reasonOf(() => ensure(world, user))).toBe("gateway.unavailable");
  expect(outbox(world)).toMatchObject([{ externalId: "key-1", userId: user.id, reason: "expired" }]);
});

test("a key that expires during an outage is an error from that moment on", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.lifeMs = 2 * HOUR_MS;
  await ensure(world, user);
  world.upstream.failure = "account_missing";
  world.clock.advance(HOUR_MS + 59 * MINUTE_MS);
  await reconcile(world);
  world.clock.advance(MINUTE_MS);
  expect(world.gateway.keys.status(user)).toMatchObject({
    status: "error",
    error: "your key has expired and is being replaced",
    external_id: null,
    next_retry_at: new Date(world.clock.nowMs()).toISOString(),
  });
  world.upstream.failure = undefined;
  await reconcile(world);
  expect(world.gateway.keys.status(user)).toMatchObject({ status: "ready", external_id: "key-2" });
});

test("accepts a life with an odd number of milliseconds", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.lifeMs = 2 * HOUR_MS + 1;
  const { status } = await ensure(world, user);
  expect(status).toMatchObject({ status: "ready", error: null });
  const dueAtMs = store.findKey(world.db.read, user.id)?.nextAttemptAtMs;
  expect(dueAtMs).toBe(world.clock.nowMs() + HOUR_MS);
});

test("a storage failure ends reconciling as such, and is not a bug of one key", async () => {
  await using world = await createGatewayWorld();
  const { reconciler, keys } = world.gateway;
  if (!reconciler || !keys.attempts) throw new Error("gateway mode is on");
  await ensure(world, await world.addUser("ana@example.org"));
  world.clock.advance(DAY_MS);
  const full = new DomainError("unavailable", "storage.full", "the disk is full");
  const failing = spyOn(keys.attempts, "run").mockRejectedValue(full);
  await expect(reconciler.run(new AbortController().signal)).rejects.toBe(full);
  expect(failing).toHaveBeenCalledTimes(1);
});

test("a bug with the key of one user prevents no other user from getting a key", async () => {
  await using world = await createGatewayWorld();
  const users = await Promise.all(
    Array.from({ length: 12 }, (_, n) => world.addUser(`user-${n}@example.org`)),
  );
  for (const user of users) await ensure(world, user);
  const [broken, ...others] = users;
  world.upstream.unstorable.add(broken?.id ?? "");
  world.clock.advance(DAY_MS);
  const outcome = await reconcile(world)?.catch((error: unknown) => error);
  expect(outcome).toMatchObject({
    message: "1 of 12 keys could not be settled",
    cause: expect.any(Error),
  });
  for (const user of others)
    expect(store.findKey(world.db.read, user.id)?.reconciledAtMs).toBe(world.clock.nowMs());
});

test("a changed configuration makes every key due once", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.restart("second");
  expect(await world.gateway.reconciler?.applyConfiguration()).toBe(1);
  await reconcile(world);
  expect(world.upstream.calls).toBe(2);
  expect(await world.gateway.reconciler?.applyConfiguration()).toBe(0);
});

test("a change that could not be applied is reported until it is, after the usual waits", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.restart("second");
  await world.gateway.reconciler?.applyConfiguration();
  world.upstream.failure = "unavailable";
  await reconcile(world);
  await ensure(world, user);
  const reasons = () => world.upstream.requests.map(({ reason }) => reason);
  expect(reasons()).toEqual(["missing", "configuration_changed"]);
  world.upstream.failure = undefined;
  world.clock.advance(RETRY_MAX_MS);
  await reconcile(world);
  expect(reasons().slice(2)).toEqual(["configuration_changed"]);
  world.clock.advance(DAY_MS);
  await reconcile(world);
  expect(reasons().slice(3)).toEqual(["reconciliation_due"]);
});

test("a process that dies during an attempt leaves `recovering`; another process creates the key after the lease", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.hold();
  void ensure(world, user).catch(() => {});
  while (world.upstream.calls === 0) await Bun.sleep(1);
  world.upstream.held = undefined; // the dead process never receives the response
  world.restart();
  expect((await ensure(world, user)).status.status).toBe("recovering");
  world.clock.advance(ATTEMPT_LEASE_MS);
  await reconcile(world);
  expect(world.gateway.keys.status(user)).toMatchObject({ status: "ready", external_id: "key-2" });
  expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
});

test("the service immediately takes over the attempt of a dead service, but not an attempt of a command", async () => {
  await using world = await createGatewayWorld();
  const [ana, ben] = [await world.addUser("ana@example.org"), await world.addUser("ben@example.org")];
  world.upstream.hold();
  void ensure(world, ana).catch(() => {});
  const byCommand = world.beside().keys.ensure({ actor: actorOf(ben), user: ben, manual: false });
  while (world.upstream.calls < 2) await Bun.sleep(1);
  const responses = world.upstream.held;
  world.upstream.held = undefined;
  world.restart();
  expect(await world.gateway.reconciler?.takeOverAttempts()).toBe(1);
  expect(store.findKey(world.db.read, ben.id)?.recoveringBy).toBe("command");
  await reconcile(world);
  expect(world.gateway.keys.status(ana).status).toBe("ready");
  expect(world.gateway.keys.status(ben).status).toBe("recovering");
  for (const go of responses ?? []) go();
  expect((await byCommand).status.status).toBe("ready");
  expect(world.upstream.keysOf(ben.id)).toHaveLength(1);
  expect(await world.gateway.reconciler?.takeOverAttempts()).toBe(0);
});

test("a key created for a user who has lost access is revoked and not stored", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.hold();
  const pending = ensure(world, user);
  while (world.upstream.calls === 0) await Bun.sleep(1);
  await world.setUser(user.id, { status: "suspended" });
  await retire(world, user);
  world.upstream.letGo();
  expect((await pending).status.status).toBe("missing");
  world.clock.advance(ATTEMPT_LEASE_MS);
  await reconcile(world);
  expect(world.upstream.keysOf(user.id)).toEqual([]);
  expect(outbox(world)).toEqual([]);
});

test("a failed revocation is tried again until it succeeds", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.upstream.failure = "unavailable";
  expect(await world.gateway.keys.revoke({ actor: world.operator, user })).toBe(true);
  expect(world.audited().slice(-1)).toEqual(["gateway_key.revoke"]);
  expect(world.gateway.keys.status(user).status).toBe("missing");
  for (let round = 0; round < 10; round += 1) {
    await reconcile(world);
    world.clock.advance(RETRY_MAX_MS * 1.2);
  }
  const waiting = { externalId: "key-1", email: "ana@example.org", userId: user.id, attempts: 10 };
  expect(outbox(world)).toMatchObject([waiting]);
  world.upstream.failure = undefined;
  await reconcile(world);
  expect(outbox(world)).toEqual([]);
  expect(world.upstream.keys.size).toBe(0);
});

test("due keys, keys with a problem and pending revocations are counted", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  const counted = () => {
    const { due, problems, revocationsPending } = world.gateway.figures();
    return { due, problems, revocationsPending };
  };
  await ensure(world, user);
  expect(counted()).toEqual({ due: 0, problems: 0, revocationsPending: 0 });
  world.clock.advance(DAY_MS);
  expect(counted()).toMatchObject({ due: 1, problems: 0 });
  world.upstream.failure = "unavailable";
  await reconcile(world);
  expect(counted()).toMatchObject({ due: 0, problems: 1 });
  await world.gateway.keys.revoke({ actor: world.operator, user });
  expect(counted()).toEqual({ due: 0, problems: 0, revocationsPending: 1 });
});

test("USE-3 rotation keeps the user's one key by its id, and the old secret works until the overlap ends", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.upstream.failure = "unavailable";
  const refused = await world.gateway.keys.rotate({ actor: world.operator, user });
  expect(refused.status).toMatchObject({ status: "ready", external_id: "key-1" });
  world.upstream.failure = undefined;
  const { status } = await world.gateway.keys.rotate({ actor: world.operator, user });
  expect(status).toMatchObject({ status: "ready", external_id: "key-2" });
  await ensure(world, user); // as a new sign-in does
  world.clock.advance(ROTATION_OVERLAP_MS - 1);
  await reconcile(world);
  expect([...world.upstream.keys.keys()]).toEqual(["key-1", "key-2"]);
  world.clock.advance(1);
  await reconcile(world);
  expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
  const { items, total } = world.gateway.directory.list(world.organizationId, {});
  expect([total, items[0]?.userId]).toEqual([1, user.id]);
});

test("USE-2 the overlap of a rotated key ends with its user's access", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  await world.gateway.keys.rotate({ actor: world.operator, user });
  await world.setUser(user.id, { status: "suspended" });
  await retire(world, user);
  await reconcile(world);
  expect([...world.upstream.keys.keys()]).toEqual([]);
});

test("keys that are marked as due are the ready ones of the named users", async () => {
  await using world = await createGatewayWorld();
  const [ana, bob] = [await world.addUser("ana@example.org"), await world.addUser("bob@example.org")];
  const eve = await world.addUser("eve@example.org");
  for (const user of [ana, bob, eve]) await ensure(world, user);
  await changeRow(world, eve, { state: "invalid" });
  world.clock.advance(1);
  const nowMs = world.clock.nowMs();
  await world.db.write((tx) => store.makeDue(tx, { userIds: [ana.id, eve.id], nowMs }));
  const due = [ana, bob, eve].map(({ id }) => store.findKey(world.db.read, id)?.nextAttemptAtMs === nowMs);
  expect(due).toEqual([true, false, false]);
});

test("USE-2 the end of access makes only keys in their overlap due, not retries or keys that wait for another reason", async () => {
  await using world = await createGatewayWorld();
  const [user, other] = [await world.addUser("ana@example.org"), await world.addUser("bob@example.org")];
  const nowMs = world.clock.nowMs();
  const entry = { ...user, email: user.email, userId: user.id, problem: null, createdAtMs: nowMs };
  const waiting = { reason: "superseded" as const, attempts: 0, nextAttemptAtMs: nowMs + HOUR_MS };
  const queued = {
    overlap: waiting,
    retried: { ...waiting, attempts: 1 },
    unsettled: { ...waiting, reason: "unsettled" as const },
    "due before": { ...waiting, nextAttemptAtMs: nowMs - 1 },
    "of another": { ...waiting, userId: other.id },
  };
  await world.db.write((tx) => {
    for (const [externalId, row] of Object.entries(queued))
      store.insertRevocation(tx, { ...entry, ...row, id: world.ids.uuid(), externalId });
    store.endOverlaps(tx, { userId: user.id, nowMs });
  });
  const due = store.dueRevocations(
    world.db.read,
    { untilMs: nowMs + DAY_MS, fromMs: Number.MAX_SAFE_INTEGER },
    10,
  );
  expect(Object.fromEntries(due.map((row) => [row.externalId, row.nextAttemptAtMs - nowMs]))).toEqual({
    "due before": -1,
    overlap: 0,
    retried: HOUR_MS,
    unsettled: HOUR_MS,
    "of another": HOUR_MS,
  });
});

test("remains of an interrupted rotation are revoked with their user, also after another rotation", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  world.upstream.hold();
  world.gateway.keys.rotate({ actor: world.operator, user }).catch(() => {}); // still pending when the world is closed
  while (world.upstream.keys.size < 2) await Bun.sleep(0);
  world.upstream.held = undefined;
  world.restart();
  world.clock.advance(ATTEMPT_LEASE_MS);
  await world.gateway.keys.rotate({ actor: world.operator, user });
  world.clock.advance(ROTATION_OVERLAP_MS);
  await reconcile(world);
  expect([...world.upstream.keys.keys()]).toEqual(["key-2", "key-3"]);
  await world.setUser(user.id, { status: "suspended" });
  await retire(world, user);
  await reconcile(world);
  expect(world.upstream.keys.size).toBe(0);
});

test("an attempt after a failed one leaves no remains: with the user, the one key is revoked", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.failure = "unavailable";
  await ensure(world, user).catch(() => {});
  world.upstream.failure = undefined;
  await ensure(world, user, true);
  await retire(world, user);
  expect(outbox(world).map(({ externalId }) => externalId)).toEqual(["key-1"]);
});

test("only a report about the stored version removes a key, and a new one is created", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  const { credentialVersion } = store.findKey(world.db.read, user.id) ?? { credentialVersion: "" };
  const report = { actor: world.operator, userId: user.id, reason: "blocked" } as const;
  expect(await world.gateway.keys.reportRejected({ ...report, credentialVersion: "another" })).toBe(false);
  expect(await world.gateway.keys.reportRejected({ ...report, credentialVersion })).toBe(true);
  await world.gateway.keys.attempts?.drain();
  expect(world.gateway.keys.status(user)).toMatchObject({ status: "ready", external_id: "key-2" });
});

test("the provisioner gets the metadata of its last response again, and null after a response without metadata", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  const request = () => world.upstream.requests.map(({ previous }) => previous);
  await ensure(world, user);
  expect(request()).toEqual([null]);
  for (let round = 0; round < 2; round += 1) {
    world.clock.advance(VALIDATE_EVERY_MS);
    await validate(world, user);
  }
  const key = { externalId: "key-1", alias: "ana@example.org" };
  expect(request().slice(1)).toEqual([
    { ...key, metadata: { n: 1 } },
    { ...key, metadata: null },
  ]);
});

test("a stored key that does not open is replaced, and its counterpart upstream is revoked", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  await ensure(world, user);
  await changeRow(world, user, { sealedCredential: "gone.AAAA" });
  world.clock.advance(DAY_MS);
  const { status } = await ensure(world, user);
  expect(status).toMatchObject({ status: "ready", external_id: "key-2" });
  expect(secretOf(world, user)).toBe("sk-2");
  await reconcile(world);
  expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
});

test("an envelope that is moved to another user's row does not open", async () => {
  await using world = await createGatewayWorld();
  const ana = await world.addUser("ana@example.org");
  const bo = await world.addUser("bo@example.org");
  await ensure(world, ana);
  await ensure(world, bo);
  const { sealedCredential = null } = store.findKey(world.db.read, ana.id) ?? {};
  await changeRow(world, bo, { sealedCredential });
  expect(secretOf(world, bo)).toBeUndefined();
});

test("a clock that goes back does not prevent the takeover of an attempt", async () => {
  await using world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  world.upstream.hold();
  void ensure(world, user).catch(() => {});
  while (world.upstream.calls === 0) await Bun.sleep(1);
  world.upstream.held = undefined;
  world.restart();
  world.clock.advance(-DAY_MS);
  expect((await ensure(world, user)).status.status).toBe("ready");
  world.clock.advance(MINUTE_MS);
});
