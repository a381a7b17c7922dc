// The jobs of the audit log: one sends it to its receiver, the other removes the oldest entries. domain/audit/ does the work.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DAY_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Config } from "../../../platform/config/config.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const TIMES = { everyMs: DAY_MS, jitterMs: 10 * MINUTE_MS, timeLimitMs: 30 * MINUTE_MS };
/** Also the time between two attempts while the receiver is down. */
const FORWARD_EVERY_MS = 10 * SECOND_MS;
const FORWARDING = { everyMs: FORWARD_EVERY_MS, jitterMs: SECOND_MS, timeLimitMs: 10 * MINUTE_MS };

/** Registers the job that sends the log, if the settings name a receiver, and its metrics. */
export function registerForwardingJob(
  scheduler: Scheduler,
  { auditForwarding }: Pick<Domain, "auditForwarding">,
  { log, metrics }: { log: Log; metrics: Registry },
): void {
  addForwardingMetrics(metrics, auditForwarding);
  if (!auditForwarding.isOn) return;
  scheduler.register({
    ...FORWARDING,
    name: "audit-forward",
    async run(signal) {
      const { entries, failure, isStateChange } = await auditForwarding.run(signal);
      if (!isStateChange) return; // a receiver may be down for days
      if (failure !== undefined) log.warning("audit.forward_failed", { message: failure });
      else log.info("audit.forward_resumed", { entries });
    },
  });
}

type ForwardingFigures = Pick<Domain["auditForwarding"], "isOn" | "figures" | "state">;

function addForwardingMetrics(metrics: Registry, forwarding: ForwardingFigures): void {
  const registers = [metrics];
  new Counter({
    name: "quartermaster_audit_forward_entries_total",
    help: "Entries of the audit log that the receiver accepted",
    registers,
    collect() {
      this.reset();
      this.inc(forwarding.figures.entries);
    },
  });
  new Counter({
    name: "quartermaster_audit_forward_failures_total",
    help: "Failed attempts to send the audit log",
    registers,
    collect() {
      this.reset();
      this.inc(forwarding.figures.failures);
    },
  });
  new Gauge({
    name: "quartermaster_audit_forward_waiting_entries",
    help: "Entries of the audit log that wait for the receiver",
    registers,
    collect() {
      this.set(forwarding.isOn ? forwarding.state().waiting : 0);
    },
  });
  new Gauge({
    name: "quartermaster_audit_forward_waiting_since_timestamp_seconds",
    help: "Time of the oldest entry that waits for the receiver, in seconds since 1970; 0 if none waits",
    registers,
    collect() {
      this.set(forwarding.isOn ? (forwarding.state().waitingSinceMs ?? 0) / SECOND_MS : 0);
    },
  });
}

/** Registers the job that removes old entries. Without the setting, a run does nothing. Entries that wait for a receiver are kept. */
export function registerAuditJob(
  scheduler: Scheduler,
  { auditLog, auditForwarding, harnesses }: Pick<Domain, "auditLog" | "auditForwarding" | "harnesses">,
  { actor, log, config }: { actor: Actor; log: Log; config: Config },
): void {
  const retentionDays = config.get("audit.retention_days");
  scheduler.register({
    ...TIMES,
    name: "audit-retention",
    async run(signal) {
      if (retentionDays === undefined) return;
      const removed = await auditLog.forget(actor, {
        retentionDays,
        keptAfter: auditForwarding.sentUpTo(),
        signal,
      });
      if (removed === 0) return;
      log.info("audit.forgotten", { removed, retention_days: retentionDays });
      await harnesses.recordChange(actor); // writes an entry about the current facts again if theirs was removed
    },
  });
}
