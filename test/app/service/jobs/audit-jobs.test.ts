// The jobs of the running service that send the audit log, and remove its old entries.
import { expect, test } from "bun:test";
import { Registry } from "prom-client";
import { registerAuditJob, registerForwardingJob } from "../../../../src/app/service/jobs/audit-jobs.ts";
import { AuditForwarding } from "../../../../src/domain/audit/forwarding/forwarding.ts";
import type { Receiver } from "../../../../src/domain/audit/forwarding/receiver.ts";
import { AuditLog } from "../../../../src/domain/audit/log.ts";
import { NO_EXTENSION } from "../../../../src/domain/harnesses/harness-extension.ts";
import { type HarnessesInForce, HarnessFacts } from "../../../../src/domain/harnesses/harness-facts.ts";
import { DAY_MS, HOUR_MS, SECOND_MS } from "../../../../src/platform/clock.ts";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { AUDIT_RETENTION_DAYS } from "../../../../src/platform/config/settings/retention.ts";
import { DomainError } from "../../../../src/platform/errors.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { createScheduler } from "../../../../src/platform/scheduler/scheduler.ts";
import { createWorld, START_MS } from "../../../support/world.ts";

const SOURCE = { file: "/harnesses.yaml", sha256: "a".repeat(64), signer: "key" };

async function createService(flags: Record<string, string>, auditReceiver?: Receiver) {
  const world = await createWorld();
  const { db, clock, ids, audit, system: actor } = world;
  const metrics = new Registry();
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  const log = createLog({ level: "debug", format: "json", write, clock });
  const scheduler = createScheduler({ db, clock, ids, log });
  const config = loadConfig({ flags, env: {}, cwd: world.directory });
  const auditLog = new AuditLog(world);
  const read = (): HarnessesInForce => ({ extension: NO_EXTENSION, source: SOURCE });
  const harnesses = new HarnessFacts({ db, audit, auditLog, read });
  await harnesses.recordChange(actor);
  const auditForwarding = new AuditForwarding({ ...world, auditLog, auditReceiver });
  registerForwardingJob(scheduler, { auditForwarding }, { log, metrics });
  registerAuditJob(scheduler, { auditLog, auditForwarding, harnesses }, { actor, log, config });
  await db.write((tx) => audit.record(tx, { actor, action: "user.update", target: "old" }));
  const runJobs = async () => {
    await scheduler.runDue(); // plans the first run, or starts one that is due
    clock.advance(HOUR_MS);
    await scheduler.runDue();
  };
  const actions = () => auditLog.list(world.organizationId, {}).items.map(({ action }) => action);
  const stop = () => world[Symbol.asyncDispose]();
  return { clock, lines, metrics, scheduler, runJobs, actions, [Symbol.asyncDispose]: stop };
}

test("entries are deleted after the configured days, and the current harness facts are recorded again", async () => {
  const { min } = AUDIT_RETENTION_DAYS;
  await using service = await createService({ auditRetentionDays: String(min) });
  service.clock.advance((min - 1) * DAY_MS);
  await service.runJobs();
  expect(service.actions()).toEqual(["user.update", "harnesses.change"]);
  service.clock.advance(DAY_MS);
  await service.runJobs();
  expect(service.actions()).toEqual(["harnesses.change", "audit.forget"]);
  expect(service.lines).toContainEqual(
    expect.objectContaining({ event: "audit.forgotten", removed: 2, retention_days: min }),
  );
});

test("entries are kept forever by default", async () => {
  await using service = await createService({});
  service.clock.advance(AUDIT_RETENTION_DAYS.max * DAY_MS);
  await service.runJobs();
  expect(service.actions()).toEqual(["user.update", "harnesses.change"]);
});

test.each([AUDIT_RETENTION_DAYS.min, AUDIT_RETENTION_DAYS.max])("%d days are allowed", (days) => {
  const config = loadConfig({ flags: { auditRetentionDays: String(days) }, env: {}, cwd: "/" });
  expect(config.get("audit.retention_days")).toBe(days);
});

test.each([AUDIT_RETENTION_DAYS.min - 1, AUDIT_RETENTION_DAYS.max + 1])("%d days are refused", (days) => {
  const load = () => loadConfig({ flags: { auditRetentionDays: String(days) }, env: {}, cwd: "/" });
  const { min, max } = AUDIT_RETENTION_DAYS;
  const detail = expect.stringContaining(`${min} to ${max}`);
  expect(load).toThrow(expect.objectContaining({ problems: [expect.objectContaining({ detail })] }));
});

test("FWD-2 FWD-5 a receiver that is down is contacted every ten seconds, logged once, and counted", async () => {
  let isDown = true;
  const receiver: Receiver = {
    async send() {
      if (isDown)
        throw new DomainError("unavailable", "audit.receiver_refused", "audit-receiver answered 503");
    },
  };
  await using service = await createService({}, receiver);
  await service.runJobs();
  const runLater = async () => {
    service.clock.advance(11 * SECOND_MS);
    await service.scheduler.runDue();
  };
  await runLater();
  const figureOf = async (name: string) =>
    (await service.metrics.metrics()).match(
      new RegExp(`^quartermaster_audit_forward_${name} (.*)$`, "m"),
    )?.[1];
  expect(await figureOf("failures_total")).toBe("2");
  expect(await figureOf("waiting_entries")).toBe("2");
  expect(Number(await figureOf("waiting_since_timestamp_seconds"))).toBe(START_MS / SECOND_MS);
  isDown = false;
  await runLater();
  await runLater();
  expect(await figureOf("entries_total")).toBe("2");
  expect(await figureOf("waiting_since_timestamp_seconds")).toBe("0");
  const events = service.lines.filter(({ event }) => String(event).startsWith("audit.forward"));
  expect(events).toMatchObject([
    { event: "audit.forward_failed", level: "warning", message: "audit-receiver answered 503" },
    { event: "audit.forward_resumed", level: "info", entries: 2 },
  ]);
});
