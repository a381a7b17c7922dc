// A scheduled job as the API and the commands show it.
import { Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../platform/clock.ts";
import type { JobResult, JobView } from "./jobs.ts";

const TextOrNull = Type.Union([Type.String(), Type.Null()]);
const TimeOrNull = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

const Job = Type.Object({
  name: Type.String(),
  state: Type.String({ description: "running, paused, due or waiting" }),
  paused: Type.Boolean({ description: "also while an earlier run continues" }),
  next_run_at: Type.String({ format: "date-time" }),
  started_at: TimeOrNull,
  finished_at: TimeOrNull,
  outcome: TextOrNull,
  error: TextOrNull,
});
export const JobList = Type.Object({ items: Type.Array(Job) });
export const JobChange = Type.Object({ changed: Type.Boolean(), job: Job });

const timeOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));

/** @returns the job for the API and for `--json` */
export const jobDocument = (job: JobView) => ({
  name: job.name,
  state: job.state,
  paused: job.paused,
  next_run_at: toRfc3339(job.nextRunAtMs),
  started_at: timeOf(job.startedAtMs),
  finished_at: timeOf(job.finishedAtMs),
  outcome: job.outcome,
  error: job.error,
});

export const jobChangeDocument = ({ changed, job }: JobResult) => ({ changed, job: jobDocument(job) });
