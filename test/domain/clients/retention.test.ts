// The jobs: workstations not seen for long are removed, and verdicts of earlier versions are renewed.

import { describe, expect, test } from "bun:test";
import { auditEntries } from "../../../src/domain/audit/tables.ts";
import { BATCH_ROWS } from "../../../src/domain/clients/limits.ts";
import { VerdictRenewal } from "../../../src/domain/clients/retention.ts";
import { clientReports } from "../../../src/domain/clients/tables.ts";
import { rulesOf } from "../../../src/domain/clients/verdict/verdict-cache.ts";
import { BUILT_IN } from "../../../src/domain/harnesses/harness-facts.ts";
import { HARNESSES } from "../../../src/domain/harnesses/harnesses.ts";
import { DAY_MS } from "../../../src/platform/clock.ts";
import { type ClientsWorld, createClientsWorld } from "./clients-world.ts";
import { reportedHarness } from "./policies.ts";

const never = () => new AbortController().signal;
const forget = ({ domain, world }: ClientsWorld, signal = never()) =>
  domain.clients.forgetUnseen(world.system, { retentionDays: 365, signal });

/** Stores this many reports, in few commits. */
const reportMany = (clients: ClientsWorld, count: number) =>
  Promise.all(Array.from({ length: count }, (_, number) => clients.report({ instance_id: `i${number}` })));

describe("clients that no longer report", () => {
  test("removes clients after the retention and not before", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    clients.world.clock.advance(365 * DAY_MS);
    const total = () => clients.domain.clients.inventory.list(clients.organizationId, {}).total;
    expect(await forget(clients)).toBe(0);
    expect(total()).toBe(1);
    clients.world.clock.advance(1);
    expect(await forget(clients)).toBe(1);
    expect(clients.listed()).toEqual([]);
    expect(total()).toBe(0);
  });

  test.each([BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1])(
    "forgets all clients, %d of them",
    async (count) => {
      await using clients = await createClientsWorld();
      await reportMany(clients, count);
      clients.world.clock.advance(366 * DAY_MS);
      expect(await forget(clients)).toBe(count);
      const entries = clients.world.db.read.select().from(auditEntries).all();
      const counts = entries
        .filter(({ action }) => action === "client.forget")
        .map(({ after }) => JSON.parse(after ?? "").removed);
      expect(counts.reduce((sum, removed) => sum + removed, 0)).toBe(count);
      expect(counts).not.toContain(0); // a run that removes nothing is not audited
    },
  );

  test("stay if the run is aborted", async () => {
    await using clients = await createClientsWorld();
    await clients.report();
    clients.world.clock.advance(366 * DAY_MS);
    expect(await forget(clients, AbortSignal.abort())).toBe(0);
    expect(clients.listed()).toHaveLength(1);
  });
});

describe("verdicts", () => {
  // A run that found no verdict of earlier rules is the last one of its process, so each test has its own server.

  /** In the form in which an earlier version stored them. */
  const age = ({ world }: ClientsWorld, evaluatedBy = "earlier rules") =>
    world.db.write((tx) => {
      const former = { evaluatedBy, verdict: "differs" as const, reasons: '["a former rule"]' };
      tx.update(clientReports).set(former).run();
    }, "clients");

  test.each(["", "\u{10ffff}"])(
    "computes verdicts of rules that sort before or after today's again (%p)",
    async (evaluatedBy) => {
      await using clients = await createClientsWorld({ isOwn: true });
      await clients.report();
      const before = clients.listed();
      await age(clients, evaluatedBy);
      expect(clients.listed()).not.toEqual(before);
      expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(1);
      expect(clients.listed()).toEqual(before);
    },
  );

  test("computes verdicts of earlier rules again from the report", async () => {
    await using clients = await createClientsWorld({ isOwn: true });
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

  test("computes nothing for clients that have reported since", async () => {
    await using clients = await createClientsWorld({ isOwn: true });
    await clients.report();
    const before = clients.listed();
    await age(clients);
    await clients.report();
    expect(clients.listed()).toEqual(before);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(0);
  });

  test("computes verdicts again after the harness facts have changed", async () => {
    let facts = BUILT_IN;
    await using clients = await createClientsWorld({ readHarnesses: () => facts });
    const revision = await clients.publish();
    const harnesses = [reportedHarness({ version: "0.155.0" })];
    await clients.report({ config_revision: revision, harnesses });
    expect(clients.listed()).toMatchObject([{ reasons: [expect.stringContaining("is not certified")] }]);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(0);
    const source = { file: "agents.yaml", sha256: "0".repeat(64), signer: "1".repeat(64) };
    facts = { extension: { codex: { verified_before: "0.160.0-0", generations: [] } }, source };
    clients.domain.harnesses.reload();
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(1);
    expect(clients.listed()).toMatchObject([{ reasons: [] }]);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(0);
  });

  test.each([BATCH_ROWS - 1, BATCH_ROWS, BATCH_ROWS + 1])(
    "recomputes every verdict, %d of them",
    async (count) => {
      await using clients = await createClientsWorld({ isOwn: true });
      await reportMany(clients, count);
      await age(clients);
      expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(count);
      expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(0);
    },
  );

  test("leaves the computation of an aborted run to the next run", async () => {
    await using clients = await createClientsWorld({ isOwn: true });
    await clients.report();
    await age(clients);
    expect(await clients.domain.clients.verdictRenewal.run(AbortSignal.abort())).toBe(0);
    expect(await clients.domain.clients.verdictRenewal.run(never())).toBe(1);
  });

  test("reads rows and evaluates verdicts in separate turns, so that requests run in between", async () => {
    await using clients = await createClientsWorld({ isOwn: true });
    await reportMany(clients, BATCH_ROWS + 1);
    await age(clients);
    let [turn, readInTurn, batches, isDone] = [0, 0, 0, false];
    const countTurns = () => {
      turn += 1;
      if (!isDone) setImmediate(countTurns);
    };
    setImmediate(countTurns);
    const renewal = new VerdictRenewal({
      db: clients.world.db,
      rules: () => {
        readInTurn = turn;
        batches += 1;
        return rulesOf(HARNESSES);
      },
      evaluate: () => {
        expect(turn).toBeGreaterThan(readInTurn);
        return { verdict: "differs", reasons: [] };
      },
    });
    expect(await renewal.run(never())).toBe(BATCH_ROWS + 1);
    isDone = true;
    expect(batches).toBe(3); // two, and the query for more
  });

  test("keeps the verdict of a report that arrives during recomputation", async () => {
    await using clients = await createClientsWorld({ isOwn: true });
    const revision = await clients.publish();
    await clients.report();
    await age(clients);
    clients.world.clock.advance(1);
    let arriving: Promise<void> | undefined;
    const renewal = new VerdictRenewal({
      rules: () => rulesOf(HARNESSES),
      db: clients.world.db,
      evaluate: () => {
        arriving ??= clients.report({ config_revision: revision });
        return { verdict: "differs", reasons: ["too late"] };
      },
    });
    expect(await renewal.run(never())).toBe(1);
    await arriving;
    expect(clients.listed()).toMatchObject([{ health: "current", reasons: [] }]);
  });
});
