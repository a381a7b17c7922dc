// Random sequences of all events of gateway keys: users who request a key, outages, blocked keys, lost access, other
// groups, crashes in the middle of a call, a clock that jumps. After each step every key is in a state that the table
// allows. Once the causes are gone every user has a key, and the gateway has no key without a user. A failure prints
// seed and path. Pass both to `fc.assert` to reproduce it.
import { expect, test } from "bun:test";
import fc from "fast-check";
import * as store from "../../src/domain/gateway/keys/store.ts";
import { KEY_STATES, type KeyState, TRANSITIONS } from "../../src/domain/gateway/model.ts";
import { openCredential } from "../../src/domain/gateway/sealing/sealed-credential.ts";
import type { User } from "../../src/domain/identity/service.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS } from "../../src/platform/clock.ts";
import { changeRow, createGatewayWorld, type GatewayWorld, retire } from "../domain/gateway/gateway-world.ts";
import { actorOf, reasonOf } from "../support/identity-world.ts";

const SEQUENCES = 15;
const [STEPS_MIN, STEPS_MAX] = [10, 40];
const USERS = 3;
/** rounds of an hour until everything works again: delays are at most 72 minutes, a replacement window is a day */
const CALM_ROUNDS = 30;
const TIME_LIMIT_MS = 60_000;

const user = fc.nat({ max: USERS - 1 });
const op = <Name extends string>(name: Name) => fc.constant(name);

/** Lifetimes in whole milliseconds, including odd ones. Values derived from a lifetime must fit their column. */
const LIVES = fc.option(fc.integer({ min: MINUTE_MS, max: 3 * DAY_MS }));

const step = fc.oneof(
  { weight: 8, arbitrary: fc.record({ op: op("ensure"), user, manual: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ op: op("validate"), user }) },
  { weight: 4, arbitrary: fc.record({ op: op("reconcile") }) },
  { weight: 2, arbitrary: fc.record({ op: op("rotate"), user }) },
  { weight: 2, arbitrary: fc.record({ op: op("revoke"), user }) },
  { weight: 2, arbitrary: fc.record({ op: op("suspend"), user }) },
  { weight: 3, arbitrary: fc.record({ op: op("resume"), user }) },
  { weight: 2, arbitrary: fc.record({ op: op("block"), user }) },
  { weight: 2, arbitrary: fc.record({ op: op("report"), user }) },
  { weight: 1, arbitrary: fc.record({ op: op("unseal"), user }) },
  { weight: 2, arbitrary: fc.record({ op: op("stranger"), user }) },
  { weight: 2, arbitrary: fc.record({ op: op("change"), user }) },
  { weight: 3, arbitrary: fc.record({ op: op("die"), user, rotates: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ op: op("reconfigure"), to: fc.constantFrom("first", "second") }) },
  {
    weight: 3,
    arbitrary: fc.record({
      op: op("fail"),
      with: fc.constantFrom(
        "unavailable" as const,
        "rejected" as const,
        "invalid_config" as const,
        undefined,
      ),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: op("live"), ms: LIVES }) },
  {
    weight: 6,
    arbitrary: fc.record({
      op: op("advance"),
      ms: fc.constantFrom(999, MINUTE_MS, 2 * MINUTE_MS, HOUR_MS, DAY_MS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ op: op("advance"), ms: fc.constantFrom(-HOUR_MS, -DAY_MS) }) },
);
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never;

/** Random sequences may miss a rare state. This sequence reaches all states. */
const TO_EVERY_STATE: Step[] = [
  { op: "ensure", user: 0, manual: false },
  { op: "block", user: 0 },
  { op: "advance", ms: 2 * MINUTE_MS },
  { op: "validate", user: 0 },
  { op: "die", user: 1, rotates: false },
  { op: "fail", with: "invalid_config" },
  { op: "ensure", user: 2, manual: false },
];

/** All states reachable with one or more events, from each state. */
const REACHABLE = new Map(KEY_STATES.map((state) => [state, reachableFrom(state)]));

function reachableFrom(start: KeyState): Set<KeyState> {
  const found = new Set<KeyState>([start]);
  for (const state of found) for (const next of Object.values(TRANSITIONS[state])) found.add(next);
  return found;
}

class Run {
  constructor(
    readonly world: GatewayWorld,
    readonly users: readonly User[],
    readonly met: Set<KeyState>,
  ) {}

  userAt(index: number): User {
    const found = this.users[index];
    if (!found) throw new Error(`there is no user ${index}`);
    return found;
  }

  stateOf(user: User): KeyState {
    return this.world.gateway.keys.status(user).status;
  }

  async take(step: Step): Promise<void> {
    const before = this.users.map((one) => this.stateOf(one));
    await this.perform(step);
    for (const [index, one] of this.users.entries()) {
      const state = this.stateOf(one);
      this.met.add(state);
      expect(REACHABLE.get(before[index] ?? "missing")?.has(state)).toBe(true);
      this.checkRow(one);
    }
  }

  /** Only a ready key has the members of a key. */
  checkRow({ id }: User): void {
    const row = store.findKey(this.world.db.read, id);
    if (!row) return;
    const isReady = row.state === "ready";
    expect([row.sealedCredential !== null, row.externalId !== null, row.alias !== null]).toEqual([
      isReady,
      isReady,
      isReady,
    ]);
    expect(row.nextAttemptAtMs).not.toBeNull();
  }

  async perform(step: Step): Promise<void> {
    const { gateway, upstream, clock, db } = this.world;
    if (step.op === "advance") return clock.advance(step.ms);
    if (step.op === "fail") upstream.failure = step.with;
    else if (step.op === "live") upstream.lifeMs = step.ms;
    else if (step.op === "reconcile") await this.reconcile();
    else if (step.op === "reconfigure") {
      this.world.restart(step.to);
      await this.world.gateway.reconciler?.applyConfiguration();
    } else {
      const one = this.userAt(step.user);
      const request = { actor: actorOf(one), user: one };
      if (step.op === "ensure" && this.isActive(one))
        await reasonOf(() => gateway.keys.ensure({ ...request, manual: step.manual }));
      else if (step.op === "validate" && this.isActive(one))
        await reasonOf(() => gateway.keys.validate(request));
      else if (step.op === "rotate" && this.isActive(one)) await reasonOf(() => gateway.keys.rotate(request));
      else if (step.op === "revoke") await gateway.keys.revoke(request);
      else if (step.op === "suspend") await this.suspend(one);
      else if (step.op === "resume") await this.world.setUser(one.id, { status: "active" });
      else if (step.op === "block") for (const key of upstream.keysOf(one.id)) key.blocked = true;
      else if (step.op === "report") await this.report(one);
      else if (step.op === "unseal") await this.unseal(one);
      else if (step.op === "stranger") this.toggleStranger(one);
      else if (step.op === "change") {
        await db.write((tx) => store.makeDue(tx, { userIds: [one.id], nowMs: clock.nowMs() }), "gateway");
      } else if (step.op === "die") await this.die(one, step);
    }
  }

  isActive({ id }: User): boolean {
    return this.world.identity.findUserById(this.world.db.read, id)?.status === "active";
  }

  async reconcile(): Promise<void> {
    await this.world.gateway.reconciler?.run(new AbortController().signal);
  }

  async suspend(one: User): Promise<void> {
    await this.world.setUser(one.id, { status: "suspended" });
    await retire(this.world, one);
  }

  async report({ id: userId }: User): Promise<void> {
    const { credentialVersion = "" } = store.findKey(this.world.db.read, userId) ?? {};
    const { keys } = this.world.gateway;
    await keys.reportRejected({ actor: this.world.operator, userId, credentialVersion, reason: "blocked" });
    await keys.attempts?.drain();
  }

  async unseal(user: User): Promise<void> {
    const row = store.findKey(this.world.db.read, user.id);
    if (row?.state === "ready") await changeRow(this.world, user, { sealedCredential: "gone.AAAA" });
  }

  toggleStranger({ id }: User): void {
    const { strangers } = this.world.upstream;
    if (!strangers.delete(id)) strangers.add(id);
  }

  /** The service dies after the gateway has completed the request and before the response arrives. */
  async die(one: User, { rotates }: { rotates: boolean }): Promise<void> {
    const { upstream, gateway } = this.world;
    if (!this.isActive(one)) return;
    upstream.hold();
    const { calls } = upstream;
    const options = { actor: actorOf(one), user: one };
    const pending = rotates
      ? gateway.keys.rotate(options)
      : gateway.keys.ensure({ ...options, manual: true });
    pending.catch(() => {});
    for (let turn = 0; turn < 20 && upstream.calls === calls; turn += 1) await Bun.sleep(0);
    upstream.held = undefined;
    this.world.restart();
  }

  /** Everything works again, and every user with access requests a key once. */
  async calm(): Promise<void> {
    const { upstream, clock } = this.world;
    upstream.failure = undefined;
    upstream.lifeMs = null;
    upstream.strangers.clear();
    for (let round = 0; round < CALM_ROUNDS; round += 1) {
      for (const one of this.users) {
        if (this.isActive(one))
          await reasonOf(() =>
            this.world.gateway.keys.ensure({ actor: actorOf(one), user: one, manual: false }),
          );
      }
      await this.reconcile();
      clock.advance(HOUR_MS);
    }
  }

  checkCalm(): void {
    const { db, upstream, sealing } = this.world;
    const held = this.users
      .filter((one) => this.isActive(one))
      .map(({ id }) => {
        const row = store.findKey(db.read, id);
        expect(row?.state).toBe("ready");
        const key = upstream.keys.get(row?.externalId ?? "");
        expect(key).toMatchObject({ userId: id, blocked: false });
        expect(row && openCredential(sealing, row)?.reveal()).toBe(key?.secret);
        return row?.externalId ?? "";
      });
    expect([...upstream.keys.keys()].sort()).toEqual(held.sort());
    expect(store.countRevocations(db.read)).toBe(0);
  }
}

test(
  "sequences of actions never lose state, leak a key upstream, or leave a user without a key after recovery",
  async () => {
    const met = new Set<KeyState>();
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: STEPS_MIN, maxLength: STEPS_MAX }), async (steps) => {
        await using world = await createGatewayWorld();
        const users: User[] = [];
        for (let index = 0; index < USERS; index += 1)
          users.push(await world.addUser(`user-${index}@example.org`));
        const run = new Run(world, users, met);
        for (const one of steps) await run.take(one);
        await run.calm();
        run.checkCalm();
      }),
      { numRuns: SEQUENCES, examples: [[TO_EVERY_STATE]] },
    );
    expect([...met].sort()).toEqual([...KEY_STATES].sort());
  },
  TIME_LIMIT_MS,
);
