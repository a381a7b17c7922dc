// The metrics of the scheduler. scheduler.ts decides when they change, and metrics.ts stores them.
import { SECOND_MS } from "../clock.ts";
import type { Metrics } from "../observe/metrics.ts";
import { JOB_OUTCOMES, type JobOutcome, type JobRow } from "./tables.ts";

export interface JobMetrics {
  /** Sets the counters of the job to zero, and its period. */
  add(job: { name: string; everyMs: number }): void;
  /** Restores the last success that an earlier process recorded, so that the job does not look overdue after a restart. */
  recall(row: JobRow): void;
  ended(job: string, outcome: JobOutcome, finishedAtMs: number): void;
}

/** @returns counters that do nothing without metrics */
export function createJobMetrics(metrics: Metrics | undefined): JobMetrics {
  const runs = metrics?.counter("job_runs_total", "Runs of scheduled jobs by how they ended.", {
    labels: { job: [], outcome: JOB_OUTCOMES },
  });
  const lastSuccess = metrics?.gauge(
    "job_last_success_timestamp_seconds",
    "When the job last succeeded, in seconds since 1970; 0 if that is not known.",
    { labels: { job: [] } },
  );
  const period = metrics?.gauge(
    "job_period_seconds",
    "Time from the end of one run of the job to the next.",
    { labels: { job: [] } },
  );
  return {
    add({ name, everyMs }) {
      for (const outcome of JOB_OUTCOMES) runs?.labels(name, outcome);
      lastSuccess?.labels(name);
      period?.labels(name).set(everyMs / SECOND_MS);
    },
    recall({ name, lastOutcome, lastFinishedAtMs }) {
      if (lastOutcome === "succeeded") lastSuccess?.labels(name).set((lastFinishedAtMs ?? 0) / SECOND_MS);
    },
    ended(job, outcome, finishedAtMs) {
      runs?.labels(job, outcome).inc();
      if (outcome === "succeeded") lastSuccess?.labels(job).set(finishedAtMs / SECOND_MS);
    },
  };
}
