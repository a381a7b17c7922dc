// The operator's view of scheduled jobs, and its actions: run now, pause, resume. The service runs the jobs and reads their
// rows every second (platform/scheduler/scheduler.ts); nothing runs here.
import { type Clock, MINUTE_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import * as store from "../../platform/scheduler/store.ts";
import type { JobOutcome, JobRow } from "../../platform/scheduler/tables.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import type { Audit, AuditSummary } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import type { Expectation } from "../shared/expectation.ts";

export interface JobView {
  name: string;
  /** `due`: the service starts it in its next turn */
  state: "running" | "paused" | "due" | "waiting";
  /** also while an earlier run continues */
  paused: boolean;
  nextRunAtMs: number;
  startedAtMs: number | null;
  finishedAtMs: number | null;
  outcome: JobOutcome | null;
  error: string | null;
}

/** How late a job may start before it is overdue, if a service runs; a turn of the scheduler takes a second. */
export const JOB_OVERDUE_MS = 5 * MINUTE_MS;

/** @returns whether a running service should have started the job by now */
export const isOverdue = ({ state, nextRunAtMs }: JobView, nowMs: number): boolean =>
  state === "due" && nowMs - nextRunAtMs > JOB_OVERDUE_MS;

export interface JobResult {
  changed: boolean;
  job: JobView;
}

/** An operator's action on a job. */
interface JobChange {
  action: "job.run" | "job.pause" | "job.resume";
  /** @returns undefined if nothing changes */
  changes(row: JobRow, nowMs: number): Parameters<typeof store.changeJob>[2] | undefined;
}

export function createJobs({ db, clock, audit }: { db: Db; clock: Clock; audit: Audit }) {
  const change = (
    actor: Actor,
    name: string,
    { expect, ...wanted }: JobChange & { expect: Expectation<JobView> | undefined },
  ): Promise<JobResult> =>
    db.write((tx) => {
      const nowMs = clock.nowMs();
      const before = existing(tx, name);
      expect?.(viewOf(before, nowMs));
      const changes = wanted.changes(before, nowMs);
      if (!changes) return { changed: false, job: viewOf(before, nowMs) };
      store.changeJob(tx, name, changes);
      const after = { ...before, ...changes };
      const summaries = { before: summaryOf(before), after: summaryOf(after) };
      audit.record(tx, { actor, action: wanted.action, target: name, ...summaries });
      return { changed: true, job: viewOf(after, nowMs) };
    }, "jobs");

  return {
    /** Grows whenever this or another process may have changed jobs. */
    revision: (): number => db.revision("jobs"),

    /** @returns every job, ordered by name; none before the first run of the service */
    list: (): JobView[] => store.listAllJobs(db.read).map((row) => viewOf(row, clock.nowMs())),

    /**
     * Makes a job due now. A job that is due or running is unchanged.
     * @param expect throws, which prevents the change, unless the job is as the caller expects
     * @throws DomainError `job.not_found`, `job.paused`
     */
    run: (actor: Actor, name: string, expect?: Expectation<JobView>) =>
      change(actor, name, {
        expect,
        action: "job.run",
        changes(row, nowMs) {
          if (row.paused) throw jobPaused(name);
          const isWaiting = viewOf(row, nowMs).state === "waiting";
          return isWaiting ? { nextRunAtMs: nowMs } : undefined;
        },
      }),

    /** Prevents a job from starting; a current run continues. @throws DomainError `job.not_found` */
    pause: (actor: Actor, name: string, expect?: Expectation<JobView>) =>
      change(actor, name, {
        expect,
        action: "job.pause",
        changes: ({ paused }) => (paused ? undefined : { paused: true }),
      }),

    /** Allows a paused job to run again, immediately if its time has passed. @throws DomainError `job.not_found` */
    resume: (actor: Actor, name: string, expect?: Expectation<JobView>) =>
      change(actor, name, {
        expect,
        action: "job.resume",
        changes: ({ paused }) => (paused ? { paused: false } : undefined),
      }),
  };
}

function existing(tx: Tx, name: string): JobRow {
  const row = store.findJob(tx, name);
  if (row) return row;
  const names = store.listAllJobs(tx).map((job) => job.name);
  throw new DomainError("not_found", "job.not_found", `no job ${quoted(name)}`, {
    hint:
      names.length === 0
        ? "the service makes its jobs when it first runs"
        : `the jobs are: ${names.join(", ")}`,
  });
}

const jobPaused = (name: string): DomainError =>
  new DomainError("conflict", "job.paused", `the job ${name} is paused, and is not run until it is resumed`, {
    hint: `quartermaster jobs resume ${name}`,
  });

function viewOf(row: JobRow, nowMs: number): JobView {
  const { name, paused, nextRunAtMs, lastStartedAtMs, lastFinishedAtMs, lastOutcome, lastError } = row;
  return {
    name,
    state: stateOf(row, nowMs),
    paused,
    nextRunAtMs,
    startedAtMs: lastStartedAtMs,
    finishedAtMs: lastFinishedAtMs,
    outcome: lastOutcome,
    error: lastError,
  };
}

function stateOf({ leaseOwner, leaseUntilMs, paused, nextRunAtMs }: JobRow, nowMs: number): JobView["state"] {
  if (leaseOwner !== null && (leaseUntilMs ?? 0) > nowMs) return "running";
  if (paused) return "paused";
  return nextRunAtMs <= nowMs ? "due" : "waiting";
}

const summaryOf = ({ paused, nextRunAtMs }: JobRow): AuditSummary => ({
  paused,
  next_run_at: toRfc3339(nextRunAtMs),
});
