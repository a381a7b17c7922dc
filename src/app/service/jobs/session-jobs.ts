// The jobs and metrics of captured sessions in the running service. domain/sessions/retention does the work.
import { Counter, Gauge, type Registry } from "prom-client";
import type { Domain } from "../../../domain/domain.ts";
import { ARTIFACT_STATUSES } from "../../../domain/sessions/model.ts";
import { keptIn } from "../../../domain/sessions/service.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Scheduler } from "../../../platform/scheduler/scheduler.ts";

const RETENTION = { everyMs: HOUR_MS, jitterMs: 30 * SECOND_MS, timeLimitMs: 2 * MINUTE_MS };
const SEARCH = { everyMs: MINUTE_MS, jitterMs: 10 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };
const SWEEP = { everyMs: DAY_MS, jitterMs: 10 * MINUTE_MS, timeLimitMs: 10 * MINUTE_MS };

/** `stored`: uploaded to the local store and not completed */
const STATES = [...ARTIFACT_STATUSES, "stored"];

/** The remedy for a bucket that this service has not claimed. */
const CLAIM = "quartermaster sessions sweep --dry-run";

/** Registers the jobs that remove expired sessions and leftovers of killed processes; adds metrics. */
export function registerSessionJobs(
  scheduler: Scheduler,
  { sessions }: Pick<Domain, "sessions">,
  { actor, log, metrics }: { actor: Actor; log: Log; metrics: Registry },
): void {
  addSessionMetrics(metrics, sessions);
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
    ...SEARCH,
    name: "session-search",
    async run(signal) {
      await sessions.searchIndex.add(signal);
    },
  });
  scheduler.register({
    ...SWEEP,
    name: "session-sweep",
    async run(signal) {
      await sessions.searchIndex.optimize(signal);
      const files = await sessions.sweepTemporary();
      const { isOurs, found, removed } = await sessions.sweep.run(actor, signal);
      if (!isOurs && found > 0) log.warning("captured_sessions.unclaimed", { objects: found, next: CLAIM });
      if (files + removed > 0) log.info("captured_sessions.swept", { files, objects: removed });
    },
  });
}

/** Adds metrics of stored sessions and of upload results. */
export function addSessionMetrics(
  metrics: Registry,
  sessions: Pick<Domain["sessions"], "totals" | "tally" | "removals">,
): void {
  new Counter({
    name: "quartermaster_session_uploads_total",
    help: "Uploads of captured sessions by result",
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
    name: "quartermaster_sessions",
    help: "Versions of captured sessions by state; each session has at most one complete version",
    labelNames: ["state"],
    registers: [metrics],
    collect() {
      this.reset();
      for (const state of STATES) this.set({ state }, 0);
      for (const { state, artifacts } of sessions.totals()) this.inc({ state }, artifacts);
    },
  });
  new Gauge({
    name: "quartermaster_session_objects_bytes",
    help: "Bytes of captured sessions by store, without uploads that are only announced",
    labelNames: ["store"],
    registers: [metrics],
    collect() {
      this.reset();
      const totals = sessions.totals();
      for (const wanted of ["local", "s3"])
        this.set({ store: wanted }, keptIn(totals.filter(({ store }) => store === wanted)).bytes);
    },
  });
  new Gauge({
    name: "quartermaster_session_removal_waiting_since_timestamp_seconds",
    help: "Time since which the oldest object of a removed session has waited for deletion, in seconds since 1970; 0 if none waits.",
    registers: [metrics],
    collect() {
      this.set((sessions.removals.waitingSinceMs() ?? 0) / SECOND_MS);
    },
  });
}
