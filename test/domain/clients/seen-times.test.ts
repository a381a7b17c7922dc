// Reports that say what the record says already: only their time is stored, and later while they are frequent.
import { expect, test } from "bun:test";
import { DEFERRED_RATE_MIN, TIMES_PER_WRITE_MAX } from "../../../src/domain/clients/seen-times.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";

/** Reports the same at the same time, so often that the next one is deferred. */
async function reportOften(clients: ClientsWorld): Promise<void> {
  for (let sent = 0; sent <= DEFERRED_RATE_MIN; sent++) await clients.report();
}

const seenAt = (clients: ClientsWorld): (number | undefined)[] =>
  clients.listed().map(({ lastSeenAtMs }) => lastSeenAtMs);

test("an unchanged report moves only the time of the record", async () => {
  await using clients = await createClientsWorld();
  await clients.report();
  const [before] = clients.listed();
  clients.world.clock.advance(5_000);
  await clients.report();
  const nowMs = clients.world.clock.nowMs();
  expect(clients.listed()).toEqual([
    expect.objectContaining({ ...before, lastSeenAtMs: nowMs, orderKey: nowMs }),
  ]);
});

test("while unchanged reports are frequent, they are answered before their time is stored", async () => {
  await using clients = await createClientsWorld();
  await reportOften(clients);
  const [before] = seenAt(clients);
  clients.world.clock.advance(1);
  await clients.report();
  expect(seenAt(clients)).toEqual([before]);
  await clients.world.db.write(() => {}); // commits what waits
  expect(seenAt(clients)).toEqual([clients.world.clock.nowMs()]);
});

test("two seconds later each is stored before its answer again", async () => {
  await using clients = await createClientsWorld();
  await reportOften(clients);
  clients.world.clock.advance(2_000);
  await clients.report();
  expect(seenAt(clients)).toEqual([clients.world.clock.nowMs()]);
});

test("a changed report is stored before its answer at any rate, and no earlier time replaces its own", async () => {
  await using clients = await createClientsWorld();
  await reportOften(clients);
  clients.world.clock.advance(1);
  await clients.report();
  clients.world.clock.advance(1);
  await clients.report({ hostname: "renamed" });
  const [renamed] = clients.listed();
  expect([renamed?.hostname, renamed?.lastSeenAtMs]).toEqual(["renamed", clients.world.clock.nowMs()]);
});

test.each([TIMES_PER_WRITE_MAX - 1, TIMES_PER_WRITE_MAX, TIMES_PER_WRITE_MAX + 1])(
  "all of %p deferred times are stored",
  async (count) => {
    await using clients = await createClientsWorld();
    const instance = (number: number) => ({ instance_id: `i${number % 200}` });
    for (let number = 0; number < 200; number++) await clients.report(instance(number));
    await reportOften(clients);
    clients.world.clock.advance(1);
    for (let number = 0; number < count; number++) await clients.report(instance(number));
    await clients.world.db.write(() => {});
    await clients.world.db.write(() => {});
    const nowMs = clients.world.clock.nowMs();
    const seenNow = clients.domain.clients.inventory.list(clients.organizationId, { seenFromMs: nowMs });
    expect(seenNow.total).toBe(Math.min(count, 200));
  },
);

test("a record that was removed meanwhile does not come back", async () => {
  await using clients = await createClientsWorld();
  await reportOften(clients);
  clients.world.clock.advance(1);
  await clients.report();
  await clients.domain.clients.removals.remove(clients.world.system, String(clients.listed()[0]?.id));
  await clients.world.db.write(() => {});
  expect(clients.listed()).toEqual([]);
});

test("after a failure each report waits and is refused, until times can be stored again", async () => {
  await using clients = await createClientsWorld();
  const { db, clock } = clients.world;
  const run = (statement: string) => db.write((tx) => void tx.run(statement));
  await reportOften(clients);
  await run(
    "CREATE TRIGGER refuse BEFORE UPDATE ON client_reports BEGIN SELECT RAISE(ABORT, 'refused'); END",
  );
  clock.advance(1);
  await clients.report(); // nobody knows yet
  await db.write(() => {});
  await expect(clients.report()).rejects.toThrow();
  await run("DROP TRIGGER refuse");
  await clients.report();
  expect(seenAt(clients)).toEqual([clock.nowMs()]);
});
