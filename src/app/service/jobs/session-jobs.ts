// The jobs and metrics of captured sessions in the running service. domain/sessions/retention does the work.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Domain } from "../../../domain/domain.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const RETENTION = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: 2 * MINUTE_MS };
const SWEEP = { everyMs: DAY_MS, jitterMs: 10 * MINUTE_MS, timeLimitMs: 10 * MINUTE_MS };

/** What an operator does about a bucket that this service has not claimed. */
const CLAIM = "quartermaster sessions sweep --dry-run";

/** Registers the jobs that remove what retention no longer keeps, and what killed processes left; adds figures. */
export function registerSessionJobs(
  scheduler: Scheduler,
  { sessions }: Pick<Domain, "sessions">,
  { actor, log, metrics }: { actor: Actor; log: Log; metrics: Registry },
): void {
  addSessionFigures(metrics, sessions);
  const deleted = new Counter({
    name: "quartermaster_session_retention_deleted_total",
    help: "Objects of captured sessions that retention deleted",
    registers: [metrics],
  });
  scheduler.register({
    ...RETENTION,
    name: "session-retention",
    async run(signal) {
      const { isDone, ...turn } = await sessions.retention.run(actor, signal);
      deleted.inc(turn.objects);
      if (turn.artifacts + turn.sessions + turn.objects > 0)
        log.info("captured_sessions.expired", { ...turn, done: isDone });
    },
  });
  scheduler.register({
    ...SWEEP,
    name: "session-sweep",
    async run(signal) {
      const files = await sessions.sweepTemporary();
      const { isOurs, found, removed } = await sessions.sweep.run(actor, signal);
      if (!isOurs && found > 0) log.warning("captured_sessions.unclaimed", { objects: found, next: CLAIM });
      if (files + removed > 0) log.info("captured_sessions.swept", { files, objects: removed });
    },
  });
}

/** Adds what is kept, and how uploads end. */
export function addSessionFigures(
  metrics: Registry,
  sessions: Pick<Domain["sessions"], "totals" | "tally">,
): void {
  new Counter({
    name: "quartermaster_session_uploads_total",
    help: "Uploads of captured sessions by how they ended",
    labelNames: ["outcome"],
    registers: [metrics],
    collect() {
      this.reset();
      for (const [outcome, uploads] of Object.entries(sessions.tally.outcomes))
        this.inc({ outcome }, uploads);
    },
  });
  new Counter({
    name: "quartermaster_session_upload_bytes_total",
    help: "Bytes of captured sessions that were uploaded and completed",
    registers: [metrics],
    collect() {
      this.reset();
      this.inc(sessions.tally.bytes);
    },
  });
  new Gauge({
    name: "quartermaster_session_artifacts",
    help: "Versions of captured sessions by state",
    labelNames: ["state"],
    registers: [metrics],
    collect() {
      this.reset();
      for (const { state, artifacts } of sessions.totals()) this.inc({ state }, artifacts);
    },
  });
  new Gauge({
    name: "quartermaster_session_objects_bytes",
    help: "Bytes of captured sessions by store, pending uploads included",
    labelNames: ["store"],
    registers: [metrics],
    collect() {
      this.reset();
      for (const { store, bytes } of sessions.totals()) this.inc({ store }, bytes);
    },
  });
}
