// The metrics of the scheduler. scheduler.ts decides when they change.
import { Counter, Gauge, Registry } from "prom-client";
import { SECOND_MS } from "../clock.ts";
import { JOB_OUTCOMES, type JobOutcome, type JobRow } from "./tables.ts";

export interface JobMetrics {
  /** Initializes the counters and the period of a job. */
  add(job: { name: string; everyMs: number }): void;
  /** Restores the last success that an earlier process recorded, so that the job does not look overdue after a restart. */
  restoreLastSuccess(row: JobRow): void;
  ended(job: string, outcome: JobOutcome, finishedAtMs: number): void;
}

/** @param metrics default: an unused registry */
export function createJobMetrics(metrics = new Registry()): JobMetrics {
  const runs = new Counter({
    name: "quartermaster_job_runs_total",
    help: "Runs of scheduled jobs by result.",
    labelNames: ["job", "outcome"],
    registers: [metrics],
  });
  const lastSuccess = new Gauge({
    name: "quartermaster_job_last_success_timestamp_seconds",
    help: "Time of the job's last success, in seconds since 1970; 0 if unknown.",
    labelNames: ["job"],
    registers: [metrics],
  });
  const period = new Gauge({
    name: "quartermaster_job_period_seconds",
    help: "Time from the end of one run of the job to the next.",
    labelNames: ["job"],
    registers: [metrics],
  });
  return {
    add({ name: job, everyMs }) {
      for (const outcome of JOB_OUTCOMES) runs.inc({ job, outcome }, 0);
      lastSuccess.inc({ job }, 0);
      period.set({ job }, everyMs / SECOND_MS);
    },
    restoreLastSuccess({ name: job, lastOutcome, lastFinishedAtMs }) {
      if (lastOutcome === "succeeded") lastSuccess.set({ job }, (lastFinishedAtMs ?? 0) / SECOND_MS);
    },
    ended(job, outcome, finishedAtMs) {
      runs.inc({ job, outcome });
      if (outcome === "succeeded") lastSuccess.set({ job }, finishedAtMs / SECOND_MS);
    },
  };
}
