// The jobs: clients that never came back are forgotten, verdicts of earlier builds are given anew.
import { describe, expect, test } from "bun:test";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { BATCH_ROWS } from "../../../src/domain/clients/caps.ts";
import { VerdictRenewal } from "../../../src/domain/clients/retention.ts";
import { clientReports } from "../../../src/domain/clients/tables.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";

const never = () => new AbortController().signal;
const forget = ({ domain, world }: ClientsWorld, signal = never()) =>
  domain.clients.forgetUnseen(world.system, { retentionDays: 365, signal });

/** As many reports as that, in few commits. */
const reportMany = (clients: ClientsWorld, count: number) =>
  Promise.all(Array.from({ length: count }, (_, number) => clients.report({ instance_id: `i${number}` })));

describe("clients that never came back", () => {
  test("are forgotten after the retention, not before", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    clients.world.clock.advance(365 * DAY_MS);
    expect(await forget(clients)).toBe(0);
    clients.world.clock.advance(1);
    expect(await forget(clients)).toBe(1);
    expect(clients.listed()).toEqual([]);
  });

  test.each([BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1])("are all forgotten, %d of them", async (count) => {
    await using clients = await createClientsWorld();
    await reportMany(clients, count);
    clients.world.clock.advance(366 * DAY_MS);
    expect(await forget(clients)).toBe(count);
    const entries = clients.world.db.read.select().from(auditEntries).all();
    const counts = entries
      .filter(({ action }) => action === "client.forget")
      .map(({ after }) => JSON.parse(after ?? "").removed);
    expect(counts.reduce((sum, removed) => sum + removed, 0)).toBe(count);
  });

  test("stay when the run is stopped", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    clients.world.clock.advance(366 * DAY_MS);
    expect(await forget(clients, AbortSignal.abort())).toBe(0);
    expect(clients.listed()).toHaveLength(1);
  });
});

describe("verdicts", () => {
  /** As an earlier build would have left them. */
  const age = ({ world }: ClientsWorld, judgedBy = "earlier rules") =>
    world.db.write((tx) => {
      const former = { judgedBy, verdict: "differs" as const, reasons: '["a former rule"]' };
      tx.update(clientReports).set(former).run();
    }, "clients");

  test.each(["", "\u{10ffff}"])(
    "of rules that sort before or after today's are given anew (%p)",
    async (judgedBy) => {
      await using clients = await createClientsWorld();
      await clients.report();
      const before = clients.listed();
      await age(clients, judgedBy);
      expect(clients.listed()).not.toEqual(before);
      expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(1);
      expect(clients.listed()).toEqual(before);
    },
  );

  test("of earlier rules are given anew, from what was reported", async () => {
    await using clients = await createClientsWorld();
    const revision = await clients.publish();
    const attempt = { harness: "codex", revision };
    const failed = { config_revision: null, reconciliation_attempt: attempt, error: "why" };
    await clients.report({ instance_id: "good", config_revision: revision });
    await clients.report({ instance_id: "failed", ...failed });
    const before = clients.listed();
    await age(clients);
    expect(clients.listed()).toMatchObject([{ reasons: ["a former rule"] }, { health: "attention" }]);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(2);
    expect(clients.listed()).toEqual(before);
  });

  test.each([BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1])("are all given anew, %d of them", async (count) => {
    await using clients = await createClientsWorld();
    await reportMany(clients, count);
    await age(clients);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(count);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(0);
  });

  test("are not given anew when the run is stopped, but by the next", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    await age(clients);
    expect(await clients.domain.clients.verdictRenewal.run(AbortSignal.abort())).toBe(0);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(1);
  });

  test("of a report that comes while they are given anew are that report's own", async () => {
    await using clients = await createClientsWorld();
    const revision = await clients.publish();
    await clients.report();
    await age(clients);
    clients.world.clock.advance(1);
    let arriving: Promise<void> | undefined;
    const renewal = new VerdictRenewal({
      db: clients.world.db,
      judge: () => {
        arriving ??= clients.report({ config_revision: revision });
        return { verdict: "differs", reasons: ["too late"] };
      },
    });
    expect(await renewal.run(never())).toBe(1);
    await arriving;
    expect(clients.listed()).toMatchObject([{ health: "current", reasons: [] }]);
  });
});
