// The lease in a small S3 store: it has one holder at a time, who stops before another one may start. The tests set the time.
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { LeaseKeeper, type LeaseOptions } from "../../../src/app/standby/lease/lease-keeper.ts";
import { type LeaseObject, leaseObjectIn } from "../../../src/app/standby/lease/lease-object.ts";
import { elapsedMs, LEASE_MS, MARGIN_MS } from "../../../src/app/standby/lease/lease-times.ts";
import type { DomainError } from "../../../src/platform/errors.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createS3Server, type S3Server } from "../../support/object-store/s3-server.ts";
import { bucketAt } from "../../support/object-store/test-bucket.ts";

const KEY = "standby/lease.json";
const signal = new AbortController().signal;

let store: S3Server;
let object: LeaseObject;
let nowMs: number;
beforeEach(() => {
  store = createS3Server();
  object = leaseObjectIn(bucketAt(store.origin), "standby/");
  nowMs = 1_000_000;
});
afterEach(() => store[Symbol.asyncDispose]());

interface Machine {
  keeper: LeaseKeeper;
  events: string[];
  lost: DomainError[];
  renewedUntil: number[];
}

function machine(number: number, name: string, more: Partial<LeaseOptions> = {}): Machine {
  const [events, lost, renewedUntil]: [string[], DomainError[], number[]] = [[], [], []];
  const write = (line: string) => void events.push(JSON.parse(line).event);
  const keeper = new LeaseKeeper({
    command: (words) => `quartermaster ${words} --config standby.yaml`,
    object,
    own: { term: `t0000000${number}-00000${number}`, holder: name },
    machine: name,
    log: createLog({ level: "debug", format: "json", write, clock: { nowMs: () => nowMs } }),
    onLost: (error) => void lost.push(error),
    onRenewed: (untilMs) => void renewedUntil.push(untilMs),
    now: () => ({ monotonicMs: nowMs, wallMs: nowMs }),
    wait: async (ms) => {
      nowMs += ms;
      await Bun.sleep(0);
    },
    ...more,
  });
  return { keeper, events, lost, renewedUntil };
}

const stored = () => JSON.parse(Buffer.from(store.buckets.get("sessions")?.get(KEY)?.bytes ?? "").toString());
const down = () => new Response(null, { status: 503 });

/** Waits until the loop of a keeper has finished its step. */
async function until(isDone: () => boolean): Promise<void> {
  for (let turn = 0; !isDone(); turn += 1) {
    if (turn > 5_000) throw new Error("it did not happen");
    await Bun.sleep(1);
  }
}

describe("STB-4 a lease", () => {
  const hostile = () => JSON.stringify({ ...stored(), machine: "\u001b[2J", released: true });

  test.each([() => "{}", hostile])(
    "ends the service until its next start if another program has replaced the lease",
    async (text) => {
      const one = machine(1, "one");
      await one.keeper.take(signal);
      const found = store.buckets.get("sessions")?.get(KEY);
      if (found) store.buckets.get("sessions")?.set(KEY, { ...found, bytes: Buffer.from(text()) });
      one.keeper.start();
      await until(() => one.lost.length > 0);
      expect(one.lost).toMatchObject([{ kind: "unavailable", reason: "standby.lease_damaged" }]);
      const next = machine(1, "one");
      await next.keeper.take(signal);
      expect(next.keeper.isHeld).toBe(true);
    },
  );

  test("is renewed even if its holder cannot tell other processes, which is logged once", async () => {
    const onRenewed = () => {
      throw new Error("no space left on device");
    };
    const one = machine(1, "one");
    await one.keeper.take(signal);
    const full = machine(1, "one", { onRenewed });
    expect(full.keeper.take(signal)).rejects.toThrow("no space left");
    full.keeper.start();
    await until(() => full.events.length > 0 && nowMs > 1_050_000);
    expect(full.events).toEqual(["standby.lease_not_renewed"]);
    expect(full.keeper.isHeld).toBe(true);
    await full.keeper.release();
  });

  test("is taken immediately if there is none, with its holder and the end of the audit log", async () => {
    const one = machine(1, "one", { auditEnd: () => ({ id: 7, atMs: 0 }) });
    expect(one.keeper.isHeld).toBe(false);
    await one.keeper.take(signal);
    expect(one.keeper.isHeld).toBe(true);
    expect(one.renewedUntil).toEqual([1_000_000 + LEASE_MS - MARGIN_MS]);
    expect(stored()).toMatchObject({ machine: "one", released: false, audit: { id: 7 } });
  });

  test("is taken from a failed machine only after its whole duration on the local clock", async () => {
    await machine(1, "one").keeper.take(signal);
    const seenAtMs = nowMs;
    const two = machine(2, "two");
    await two.keeper.take(signal);
    expect(nowMs - seenAtMs).toBeGreaterThanOrEqual(LEASE_MS);
    expect(two.keeper.replaced).toMatchObject({ machine: "one" });
    expect(two.keeper.isHeld).toBe(true);
  });

  test.each([60_000, -60_000])(
    "is not taken earlier because the wall clock was corrected by %d ms meanwhile",
    async (correctionMs) => {
      await machine(1, "one").keeper.take(signal);
      const seenAtMs = nowMs;
      const now = () => ({ monotonicMs: nowMs, wallMs: nowMs + (nowMs > seenAtMs ? correctionMs : 0) });
      await machine(2, "two", { now }).keeper.take(signal);
      expect(nowMs - seenAtMs).toBeGreaterThanOrEqual(LEASE_MS);
    },
  );

  test("is never held twice: the holder stops before another machine may take it", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    const takenAtMs = nowMs;
    nowMs = takenAtMs + LEASE_MS - MARGIN_MS - 1;
    expect(() => one.keeper.admit()).not.toThrow();
    nowMs = takenAtMs + LEASE_MS - MARGIN_MS;
    expect(() => one.keeper.admit()).toThrow(
      expect.objectContaining({ kind: "unavailable", reason: "standby.no_lease", retryAfterSeconds: 5 }),
    );
  });

  test("is not taken from a machine that renews it", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    const two = machine(2, "two", {
      wait: async (ms) => {
        nowMs += ms;
        if (nowMs % 5_000 === 0) await one.keeper.take(signal);
      },
    });
    await expect(two.keeper.take(signal)).rejects.toMatchObject({
      kind: "conflict",
      reason: "standby.still_active",
    });
  });

  test("takes its own lease, or a released one, without waiting", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    await machine(1, "one").keeper.take(signal); // after a restart
    expect(nowMs).toBe(1_000_000);
    const again = machine(1, "one");
    await again.keeper.take(signal);
    again.keeper.start();
    await again.keeper.release();
    expect(stored()).toMatchObject({ released: true });
    expect(again.keeper.isHeld).toBe(false);
    const waitedMs = nowMs;
    await machine(2, "two").keeper.take(signal);
    expect(nowMs).toBe(waitedMs);
  });

  test("does not change the lease of a newer term, because this machine was taken over", async () => {
    await machine(2, "two").keeper.take(signal);
    await expect(machine(1, "one").keeper.take(signal)).rejects.toMatchObject({
      reason: "standby.taken_over",
    });
  });

  test("treats an unreadable lease as held", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    const kept = store.buckets.get("sessions")?.get(KEY);
    if (kept) kept.bytes = new TextEncoder().encode("{");
    await machine(2, "two").keeper.take(signal);
    expect(nowMs).toBeGreaterThanOrEqual(1_000_000 + LEASE_MS);
  });
});

describe("STB-5 a holder", () => {
  test("stops accepting changes while the lease cannot be renewed, and accepts them again afterwards", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    store.instead = down;
    one.keeper.start();
    await until(() => !one.keeper.isHeld);
    store.instead = undefined;
    await until(() => one.keeper.isHeld);
    await one.keeper.release();
    expect(one.lost).toEqual([]);
    expect(one.events).toEqual(["standby.lease_not_renewed", "standby.lease_renewed"]);
  });

  test("learns that another machine has taken over, and never accepts a change again", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    await machine(2, "two").keeper.take(signal);
    one.keeper.start();
    await until(() => one.lost.length > 0);
    expect(one.lost[0]).toMatchObject({
      kind: "conflict",
      reason: "standby.taken_over",
      hint: expect.stringContaining("quartermaster takeover --config standby.yaml"),
    });
    expect(one.keeper.isHeld).toBe(false);
    await one.keeper.release();
    expect(stored()).toMatchObject({ machine: "two", released: false });
  });

  test("recognizes its own renewal if the response was lost", async () => {
    const one = machine(1, "one");
    await one.keeper.take(signal);
    let losses = 1;
    const change = object.change;
    object.change = async (...request) => {
      const etag = await change(...request);
      losses -= 1;
      return losses >= 0 ? undefined : etag;
    };
    one.keeper.start();
    await until(() => one.renewedUntil.length > 1);
    await one.keeper.release();
    expect(one.lost).toEqual([]);
  });
});

test.each([
  [{ monotonicMs: 5, wallMs: 9 }, 9],
  [{ monotonicMs: 9, wallMs: 5 }, 9],
  [{ monotonicMs: 9, wallMs: -MARGIN_MS }, 9],
  [{ monotonicMs: 9, wallMs: -MARGIN_MS - 1 }, Number.POSITIVE_INFINITY],
])("STB-5 measures from %p that %d milliseconds have passed", (now, expected) => {
  expect(elapsedMs({ monotonicMs: 0, wallMs: 0 }, now)).toBe(expected);
});
