// Attempts that overlap: with a newer attempt for the same user, with the end of the user's access, and with callers between the
// registration of an attempt and its first write.
import { describe, expect, test } from "bun:test";
import * as store from "../../../../src/domain/gateway/keys/store.ts";
import {
  ATTEMPT_LEASE_MS,
  REPLACEMENTS_MAX,
  RETRY_MAX_MS,
  ROTATION_OVERLAP_MS,
  VALIDATE_EVERY_MS,
} from "../../../../src/domain/gateway/model.ts";
import { gatewayRevocations } from "../../../../src/domain/gateway/tables.ts";
import type { User } from "../../../../src/domain/identity/service.ts";
import { actorOf } from "../../../support/identity-world.ts";
import { createGatewayWorld, type GatewayWorld, retire } from "../gateway-world.ts";

const ask = (world: GatewayWorld, user: User, manual = false) =>
  world.gateway.keys.ensure({ actor: actorOf(user), user, manual });
const rotate = (world: GatewayWorld, user: User) =>
  world.gateway.keys.rotate({ actor: world.operator, user });
const validate = (world: GatewayWorld, user: User) =>
  world.gateway.keys.validate({ actor: actorOf(user), user });
const reconcile = (world: GatewayWorld) =>
  world.gateway.reconciler?.run(new AbortController().signal) ??
  Promise.reject(new Error("gateway mode is off"));
const rowOf = (world: GatewayWorld, { id }: User) => store.findKey(world.db.read, id);
const queued = ({ db }: GatewayWorld) =>
  db.read
    .select({ externalId: gatewayRevocations.externalId, reason: gatewayRevocations.reason })
    .from(gatewayRevocations)
    .limit(10)
    .all();
const revokeCalls = ({ calls }: GatewayWorld) =>
  calls.filter(({ operation }) => operation === "revoke").length;

/** A call whose response the test provides; `answer` resolves when the caller has received it and the row is settled. */
interface HeldCall {
  answer(): Promise<void>;
}

/** Starts an attempt whose response is delayed, as from a slow gateway. */
async function heldAttempt(world: GatewayWorld, start: () => Promise<unknown>): Promise<HeldCall> {
  const before = world.upstream.calls;
  world.upstream.hold();
  const { attempts } = world.gateway.keys;
  const pending = start().catch(() => {});
  while (world.upstream.calls === before) await Bun.sleep(0);
  const held = world.upstream.held ?? [];
  world.upstream.held = undefined;
  const answer = async (): Promise<void> => {
    while (held.length === 0) await Bun.sleep(0);
    for (const go of held) go();
    await pending;
    await attempts?.drain();
  };
  return { answer };
}

/** The late attempt belongs to a process that still runs after another one has taken over. */
async function overlapping(start: (world: GatewayWorld, user: User) => Promise<unknown>) {
  const world = await createGatewayWorld();
  const user = await world.addUser("ana@example.org");
  if (start !== ask) await ask(world, user);
  world.clock.advance(VALIDATE_EVERY_MS);
  const late = await heldAttempt(world, () => start(world, user));
  world.restart();
  world.clock.advance(ATTEMPT_LEASE_MS);
  const newer = await heldAttempt(world, () => start(world, user));
  return { world, user, late, newer };
}

describe.each([true, false])("a key that was marked as due during a rotation stays due (%p)", (isMarked) => {
  test.each([
    ["a success", undefined, "key-2"],
    ["a failure", "unavailable", "key-1"],
  ] as const)("stays due after %s", async (_name, lateFailure, externalId) => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ask(world, user);
    world.clock.advance(VALIDATE_EVERY_MS);
    world.upstream.lateFailure = lateFailure;
    const rotation = await heldAttempt(world, () => rotate(world, user));
    const nowMs = world.clock.nowMs();
    if (isMarked) await world.db.write((tx) => store.makeDue(tx, { userIds: [user.id], nowMs }));
    await rotation.answer();
    expect(rowOf(world, user)).toMatchObject({ state: "ready", externalId });
    expect((rowOf(world, user)?.nextAttemptAtMs ?? 0) <= nowMs).toBe(isMarked);
  });
});

describe("a late response", () => {
  test("does not settle the row of a first key that a newer attempt has leased", async () => {
    const { world, user, late, newer } = await overlapping(ask);
    await using _ = world;
    const leased = rowOf(world, user);
    await late.answer();
    expect(rowOf(world, user)).toEqual(leased);
    expect(queued(world)).toEqual([{ externalId: "key-1", reason: "unsettled" }]);
    await newer.answer();
    expect(rowOf(world, user)).toMatchObject({
      state: "ready",
      externalId: "key-2",
      recoveringUntilMs: null,
    });
    await reconcile(world);
    expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
  });

  test("does not settle the row of a rotation that a newer attempt has leased", async () => {
    const { world, user, late, newer } = await overlapping(rotate);
    await using _ = world;
    const leased = rowOf(world, user);
    await late.answer();
    expect(rowOf(world, user)).toEqual(leased);
    expect(queued(world)).toEqual([{ externalId: "key-2", reason: "unsettled" }]);
    await newer.answer();
    expect(rowOf(world, user)).toMatchObject({ state: "ready", externalId: "key-3" });
    world.clock.advance(ROTATION_OVERLAP_MS);
    await reconcile(world);
    expect([...world.upstream.keys.keys()]).toEqual(["key-3"]);
  });

  test("does not replace the key that a newer attempt has stored", async () => {
    const { world, user, late, newer } = await overlapping(rotate);
    await using _ = world;
    await newer.answer();
    const stored = rowOf(world, user);
    await late.answer();
    expect(rowOf(world, user)).toEqual(stored);
    world.clock.advance(ROTATION_OVERLAP_MS);
    await reconcile(world);
    expect([...world.upstream.keys.keys()]).toEqual(["key-3"]);
  });

  test("does not settle a row that was created again in the same millisecond", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    const late = await heldAttempt(world, () => ask(world, user));
    await world.gateway.keys.revoke({ actor: world.operator, user });
    world.restart();
    const newer = await heldAttempt(world, () => ask(world, user));
    const leased = rowOf(world, user);
    await late.answer();
    expect(rowOf(world, user)).toEqual(leased);
    await newer.answer();
    expect(rowOf(world, user)).toMatchObject({ state: "ready", externalId: "key-2" });
  });

  test("does not queue the key that is stored in the row", async () => {
    const { world, late, newer } = await overlapping(validate);
    await using _ = world;
    await late.answer();
    expect(queued(world)).toEqual([]);
    await newer.answer();
    await reconcile(world);
    expect([...world.upstream.keys.keys()]).toEqual(["key-1"]);
  });
});

describe("a late failure", () => {
  test.each(["unavailable", "invalid_config", "credential_invalid"] as const)(
    "(%s) leaves the row to the newer attempt that has leased it",
    async (code) => {
      for (const start of [ask, rotate]) {
        const { world, user, late, newer } = await overlapping(start);
        await using _ = world;
        const leased = rowOf(world, user);
        world.upstream.lateFailure = code;
        await late.answer();
        expect(rowOf(world, user)).toEqual(leased);
        expect(queued(world)).toEqual([]);
        world.upstream.lateFailure = undefined;
        await newer.answer();
        expect(rowOf(world, user)).toMatchObject({ state: "ready", problem: null, recoveringUntilMs: null });
      }
    },
  );
});

describe("a key that an attempt without a response left for a user who lost access", () => {
  async function leftBehind() {
    const world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await heldAttempt(world, () => ask(world, user)); // its process dies
    world.restart();
    await world.setUser(user.id, { status: "suspended" });
    await retire(world, user);
    return { world, user };
  }

  test.each([
    [-1, 1],
    [0, 0],
    [1, 0],
  ])("is revoked once the attempt can no longer run (%d ms after its lease)", async (stepMs, left) => {
    const { world, user } = await leftBehind();
    await using _ = world;
    await reconcile(world);
    expect(world.upstream.keysOf(user.id)).toHaveLength(1);
    world.clock.advance(ATTEMPT_LEASE_MS + stepMs);
    await reconcile(world);
    expect(world.upstream.keysOf(user.id)).toHaveLength(left);
    expect(queued(world)).toHaveLength(left);
  });

  test("is revoked immediately if no attempt can still run", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    world.upstream.lateFailure = "unavailable"; // the key is created and the response is lost
    await ask(world, user).catch(() => {});
    await world.setUser(user.id, { status: "suspended" });
    await retire(world, user);
    expect(world.upstream.keysOf(user.id)).toHaveLength(1);
    world.upstream.lateFailure = undefined;
    await reconcile(world);
    expect(world.upstream.keysOf(user.id)).toEqual([]);
  });

  test("is left to an attempt that is registered but not yet written", async () => {
    const { world, user } = await leftBehind();
    await using _ = world;
    world.clock.advance(ATTEMPT_LEASE_MS);
    await world.setUser(user.id, { status: "active" });
    const pending = ask(world, user);
    expect(rowOf(world, user)).toBeUndefined(); // registered by the call, written in a later turn
    await reconcile(world);
    expect((await pending).status).toMatchObject({ status: "ready", external_id: "key-2" });
    expect(revokeCalls(world)).toBe(0);
    expect(queued(world)).toEqual([]);
    expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
  });

  test("is left to an attempt that another process has written", async () => {
    const { world, user } = await leftBehind();
    await using _ = world;
    world.clock.advance(ATTEMPT_LEASE_MS);
    await world.setUser(user.id, { status: "active" });
    const attempt = await heldAttempt(world, () => ask(world, user));
    world.restart();
    await reconcile(world);
    await attempt.answer();
    expect(revokeCalls(world)).toBe(0);
    expect([...world.upstream.keys.keys()]).toEqual(["key-2"]);
  });
});

describe("an attempt that is registered but not yet written", () => {
  test("is joined by a caller who would otherwise have to wait", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    world.upstream.failure = "unavailable";
    await ask(world, user).catch(() => {});
    world.upstream.failure = undefined;
    const before = world.upstream.calls;
    const manual = ask(world, user, true);
    expect(rowOf(world, user)?.state).toBe("error");
    const [first, second] = await Promise.all([manual, ask(world, user)]);
    expect(first.status.status).toBe("ready");
    expect(second).toEqual(first);
    expect(world.upstream.calls).toBe(before + 1);
  });

  test("is also joined once it is written", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    const attempt = await heldAttempt(world, () => ask(world, user));
    const joined = ask(world, user);
    await attempt.answer();
    expect((await joined).status.status).toBe("ready");
    expect(world.upstream.calls).toBe(1);
  });

  test("does not delay a caller with a usable key", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ask(world, user);
    const attempt = await heldAttempt(world, () => rotate(world, user));
    let told: unknown;
    void ask(world, user).then(({ status }) => {
      told = status.external_id;
    });
    for (let turn = 0; turn < 10; turn += 1) await Bun.sleep(0);
    expect(told).toBe("key-1");
    await attempt.answer();
  });

  test("is made once for all callers of one turn", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    const request = [ask(world, user), ask(world, user, true), rotate(world, user)];
    expect(world.gateway.keys.attempts?.isRunning(user.id)).toBe(true);
    for (const { status } of await Promise.all(request)) expect(status.external_id).toBe("key-1");
    expect(world.upstream.calls).toBe(1);
    expect(world.gateway.keys.attempts?.isRunning(user.id)).toBe(false);
  });
});

describe("whether a user without a key gets one now:", () => {
  const recover = (world: GatewayWorld, user: User) => world.gateway.keys.recover(user);
  /** The first attempt of a user failed, and the next one is not due yet. */
  async function failedOnce() {
    const world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    world.upstream.failure = "unavailable";
    await ask(world, user).catch(() => {});
    world.upstream.failure = undefined;
    return { world, user };
  }

  test("gives no key without gateway mode", async () => {
    await using world = await createGatewayWorld({ isOff: true });
    expect(recover(world, await world.addUser("ana@example.org"))).toBe(false);
  });

  test("gives a key at the first request, which starts the only attempt", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    expect([recover(world, user), recover(world, user)]).toEqual([true, true]);
    await world.gateway.keys.attempts?.drain();
    expect([rowOf(world, user)?.state, world.upstream.calls]).toEqual(["ready", 1]);
  });

  test("gives no key until the next attempt after a failure is due", async () => {
    const { world, user } = await failedOnce();
    await using _ = world;
    expect(recover(world, user)).toBe(false);
    world.clock.advance(RETRY_MAX_MS);
    expect(recover(world, user)).toBe(true);
    await world.gateway.keys.attempts?.drain();
    expect([rowOf(world, user)?.state, world.upstream.calls]).toEqual(["ready", 2]);
  });

  test("gives a key while a requested attempt is registered but not yet written", async () => {
    const { world, user } = await failedOnce();
    await using _ = world;
    const manual = ask(world, user, true);
    expect([rowOf(world, user)?.state, recover(world, user)]).toEqual(["error", true]);
    await manual;
    expect(world.upstream.calls).toBe(2);
  });

  test("gives a key while the attempt of another process can still settle, and starts no other", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    const attempt = await heldAttempt(world, () => ask(world, user));
    world.restart();
    for (const [ms, calls] of [
      [0, 1],
      [ATTEMPT_LEASE_MS - 1, 1],
      [1, 2],
    ] as const) {
      world.clock.advance(ms);
      expect(recover(world, user)).toBe(true);
      await world.gateway.keys.attempts?.drain();
      expect(world.upstream.calls).toBe(calls);
    }
    await attempt.answer();
  });
});

describe("after a settled attempt", () => {
  test.each([
    [-1, "error"],
    [0, "error"],
    [1, "ready"],
  ])("a new key that lives %d ms is scheduled", async (lifeMs, status) => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    world.upstream.lifeMs = lifeMs;
    await ask(world, user).catch(() => {});
    expect(rowOf(world, user)?.state).toBe(status === "ready" ? "ready" : "error");
    expect(queued(world)).toHaveLength(status === "ready" ? 0 : 1);
  });

  test("a key to be revoked that is stored again is not revoked", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ask(world, user);
    const { organizationId, email } = user;
    const nowMs = world.clock.nowMs();
    const entry = {
      id: world.ids.uuid(),
      organizationId,
      email,
      userId: user.id,
      reason: "unsettled",
      attempts: 0,
    };
    const due = { externalId: "key-1", problem: null, createdAtMs: nowMs, nextAttemptAtMs: nowMs };
    await world.db.write((tx) => store.insertRevocation(tx, { ...entry, ...due }));
    world.clock.advance(VALIDATE_EVERY_MS);
    await validate(world, user);
    expect(queued(world)).toEqual([]);
    await reconcile(world);
    expect([...world.upstream.keys.keys()]).toEqual(["key-1"]);
  });

  test("a revocation counts only once it is done", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ask(world, user);
    await world.gateway.keys.revoke({ actor: world.operator, user });
    world.upstream.failure = "unavailable";
    expect(await reconcile(world)).toEqual({ keys: 0, revocations: 0 });
    world.upstream.failure = undefined;
    world.clock.advance(RETRY_MAX_MS * 1.2);
    expect(await reconcile(world)).toEqual({ keys: 0, revocations: 1 });
  });

  test("replacements after reports of the proxy count as automatic ones", async () => {
    await using world = await createGatewayWorld();
    const user = await world.addUser("ana@example.org");
    await ask(world, user);
    for (let round = 1; round <= REPLACEMENTS_MAX + 1; round += 1) {
      const { credentialVersion = "" } = rowOf(world, user) ?? {};
      const report = {
        actor: world.operator,
        userId: user.id,
        reason: "blocked",
        credentialVersion,
      } as const;
      expect(await world.gateway.keys.reportRejected(report)).toBe(true);
      await world.gateway.keys.attempts?.drain();
      expect(rowOf(world, user)?.state).toBe(round <= REPLACEMENTS_MAX ? "ready" : "invalid");
    }
  });
});
