// The position up to which the log was forwarded: what advances it, what does not, and which entries wait.
import { expect, test } from "bun:test";
import { AuditForwarding } from "../../../../src/domain/audit/forwarding/forwarding.ts";
import {
  BATCH_BYTES_MAX,
  BATCH_ENTRIES_MAX,
  batchOf,
  type Receiver,
} from "../../../../src/domain/audit/forwarding/receiver.ts";
import { AuditLog } from "../../../../src/domain/audit/log.ts";
import { DAY_MS } from "../../../../src/platform/clock.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createWorld, START_MS, type World } from "../../../support/world.ts";

const signal = new AbortController().signal;

const record = ({ db, audit, system }: World, entries: number): Promise<void> =>
  db.write((tx) => {
    const targets = Array.from({ length: entries }, (_, index) => String(index));
    audit.recordAll(tx, { actor: system, action: "user.update", targets });
  });

/** A receiver that accepts entries until the test makes it fail. */
function createReceiver() {
  const taken: number[] = [];
  let failure: string | undefined;
  const receiver: Receiver = {
    async send(entries) {
      if (failure !== undefined) throw new DomainError("unavailable", "outbound.failed", failure);
      taken.push(...entries.map(({ id }) => id));
    },
  };
  const fail = (message: string | undefined): void => {
    failure = message;
  };
  return { receiver, taken, fail };
}

const forwardingTo = (world: World, auditReceiver: Receiver | undefined) =>
  new AuditForwarding({ ...world, auditLog: new AuditLog(world), auditReceiver });

test("FWD-1 every entry is sent in order, in batches, and only once without failures", async () => {
  await using world = await createWorld();
  const { receiver, taken } = createReceiver();
  await record(world, BATCH_ENTRIES_MAX + 1);
  expect(await forwardingTo(world, receiver).run(signal)).toMatchObject({ entries: BATCH_ENTRIES_MAX + 1 });
  await record(world, 1);
  const next = forwardingTo(world, receiver); // after a restart
  expect(await next.run(signal)).toEqual({ entries: 1, failure: undefined, isStateChange: false });
  expect(taken).toEqual(Array.from({ length: BATCH_ENTRIES_MAX + 2 }, (_, index) => index + 1));
  expect(next.state()).toMatchObject({ lastId: BATCH_ENTRIES_MAX + 2, waiting: 0, waitingSinceMs: null });
});

test("FWD-2 a batch that a shutdown interrupts does not count as a failure of the receiver", async () => {
  await using world = await createWorld();
  await record(world, 1);
  const stop = new AbortController();
  const forwarding = forwardingTo(world, {
    async send() {
      stop.abort();
      throw new DomainError("unavailable", "outbound.failed", "interrupted");
    },
  });
  expect(await forwarding.run(stop.signal)).toEqual({ entries: 0, failure: undefined, isStateChange: false });
  expect(forwarding.state()).toMatchObject({ waiting: 1, failingSinceMs: null, error: null });
});

test("FWD-2 a receiver that is down for a day loses nothing, and only changes of the reason are logged", async () => {
  await using world = await createWorld();
  const { receiver, taken, fail } = createReceiver();
  const forwarding = forwardingTo(world, receiver);
  fail("no route");
  await record(world, 1);
  expect(await forwarding.run(signal)).toEqual({ entries: 0, failure: "no route", isStateChange: true });
  world.clock.advance(DAY_MS);
  await record(world, 1);
  expect(await forwarding.run(signal)).toEqual({ entries: 0, failure: "no route", isStateChange: false });
  const since = { waitingSinceMs: START_MS, failingSinceMs: START_MS };
  expect(forwarding.state()).toMatchObject({ waiting: 2, ...since, error: "no route" });
  fail(undefined);
  expect(await forwarding.run(signal)).toEqual({ entries: 2, failure: undefined, isStateChange: true });
  expect(taken).toEqual([1, 2]);
  expect(forwarding.state()).toMatchObject({ waiting: 0, failingSinceMs: null, error: null });
  expect(forwarding.figures).toEqual({ entries: 2, failures: 2 });
});

test("FWD-2 retention keeps the entries that wait", async () => {
  await using world = await createWorld();
  const { receiver, fail } = createReceiver();
  const forwarding = forwardingTo(world, receiver);
  await record(world, 2);
  await forwarding.run(signal);
  fail("no route");
  await record(world, 2);
  world.clock.advance(31 * DAY_MS);
  const forget = () =>
    new AuditLog(world).forget(world.system, { retentionDays: 30, keptAfter: forwarding.sentUpTo(), signal });
  expect(await forget()).toBe(2);
  fail(undefined);
  await forwarding.run(signal);
  expect(await forget()).toBe(2);
  expect(forwardingTo(world, undefined).sentUpTo()).toBeUndefined();
});

test("an entry that is recorded while the receiver takes a batch is sent next", async () => {
  await using world = await createWorld();
  const { receiver, taken } = createReceiver();
  const during: Receiver = {
    async send(entries, stop) {
      if (taken.length === 0) await record(world, 1);
      await receiver.send(entries, stop);
    },
  };
  await record(world, 1);
  await forwardingTo(world, during).run(signal);
  expect(taken).toEqual([1, 2]);
});

test("FWD-6 entries are sent again after a position that was sent, which is audited", async () => {
  await using world = await createWorld();
  const { receiver, taken } = createReceiver();
  const forwarding = forwardingTo(world, receiver);
  await record(world, 3);
  await forwarding.run(signal);
  expect(await forwarding.resend(world.system, 3)).toBe(3); // changes nothing
  expect(await forwarding.resend(world.system, 1)).toBe(3);
  await forwarding.run(signal);
  expect(taken).toEqual([1, 2, 3, 2, 3, 4]);
  const [entry] = new AuditLog(world).list(world.organizationId, {}).items;
  expect(entry).toMatchObject({ id: 4, action: "audit.resend", after: '{"sent_up_to":1}' });
});

test("FWD-6 entries that were not sent yet cannot be skipped", async () => {
  await using world = await createWorld();
  await record(world, 2);
  const skip = forwardingTo(world, createReceiver().receiver).resend(world.system, 1);
  expect(skip).rejects.toMatchObject({ kind: "conflict", reason: "audit.not_sent" });
});

test.each([
  [BATCH_BYTES_MAX / 2 - 1, 2],
  [BATCH_BYTES_MAX / 2, 2],
  [BATCH_BYTES_MAX / 2 + 1, 1],
  [BATCH_BYTES_MAX + 1, 1],
])("a batch of entries with summaries of %d bytes has %d entries", async (bytes, expected) => {
  await using world = await createWorld();
  await record(world, 1);
  const [entry] = new AuditLog(world).list(world.organizationId, {}).items;
  if (!entry) throw new Error("nothing was recorded");
  const large = { ...entry, after: "x".repeat(bytes) };
  expect(batchOf([large, large, large])).toHaveLength(expected);
});
