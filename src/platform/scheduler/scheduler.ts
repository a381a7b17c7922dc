// Runs named jobs when they are due, each in one process at a time. Due times and leases are rows, so a restart or a second
// process continues the schedule. The areas implement the jobs. The wall clock may jump, so no timer waits for a due time:
// every turn compares the times again.

import type { Registry } from "prom-client";
import { type Clock, DAY_MS, SECOND_MS, within } from "../clock.ts";
import type { Db } from "../database/database.ts";
import { invariant } from "../errors.ts";
import { type Ids, randomFraction } from "../ids.ts";
import type { Log } from "../observe/log.ts";
import { createTakeover, isLeaseValid, leaseUntilMs } from "./lease.ts";
import { createJobMetrics, type JobMetrics } from "./scheduler-metrics.ts";
import * as store from "./store.ts";
import type { JobOutcome, JobRow } from "./tables.ts";

export const TURN_MS = SECOND_MS;
export const TIME_LIMIT_MAX_MS = DAY_MS;
/** How long `stop` waits for aborted runs. */
const STOP_WAIT_MS = 10 * SECOND_MS;
export const JOB_ERROR_LENGTH_MAX = 500;

export interface Job {
  name: string;
  /** from the end of one run to the next */
  everyMs: number;
  /** maximum random delay, which spreads out jobs and installations */
  jitterMs: number;
  /** after this time the signal aborts; 1 to TIME_LIMIT_MAX_MS */
  timeLimitMs: number;
  /** the first turn of a process makes it due */
  runsAtStart?: true;
  /** asked in each turn, so it must be quick; true makes the job due before its time */
  isUrgent?(): boolean;
  run(signal: AbortSignal): Promise<void>;
}

export interface Scheduler {
  /**
   * Adds a job. The next turn plans its first run within `jitterMs`, or immediately if it runs at startup, and a later turn
   * starts it.
   * @throws for a duplicate name or an invalid time limit, which are bugs
   */
  register(job: Job): void;
  /** @returns whether a job with this name is registered */
  has(name: string): boolean;
  /**
   * Ends the leases of earlier processes, so that their jobs can run immediately. Call it before `start`, and only while
   * holding the lock of the data directory, which proves that no other process runs jobs.
   */
  takeOverLeases(): Promise<void>;
  /** Takes a turn now and every second. */
  start(): void;
  /** Aborts the runs, waits for them up to STOP_WAIT_MS, and releases their leases. */
  stop(): Promise<void>;
  /** Takes one turn and waits for the runs it started. */
  runDue(): Promise<void>;
  /** @returns the time of the last complete turn, UTC milliseconds; 0 before the first */
  lastBeatMs(): number;
}

export interface SchedulerOptions {
  db: Db;
  clock: Clock;
  ids: Ids;
  log: Log;
  metrics?: Registry;
}

/** @returns a scheduler without jobs that does nothing until `start` or `runDue` */
export const createScheduler = (options: SchedulerOptions): Scheduler => new LeaseScheduler(options);

interface Run {
  lease: store.Lease;
  readonly abort: AbortController;
  /** why the run was aborted */
  endedBy?: JobOutcome;
  done: Promise<void>;
}

class LeaseScheduler implements Scheduler {
  readonly #jobs = new Map<string, Job>();
  readonly #running = new Map<string, Run>();
  readonly #metrics: JobMetrics;
  readonly #canTake = createTakeover();
  /** jobs for which the last turn failed */
  readonly #failing = new Set<string>();
  #beatMs = 0;
  #timer: Timer | undefined;
  #turn: Promise<unknown> = Promise.resolve();
  #stopping = false;

  constructor(private readonly options: SchedulerOptions) {
    this.#metrics = createJobMetrics(options.metrics);
  }

  register(job: Job): void {
    invariant(!this.#jobs.has(job.name), `job ${job.name} is registered once`);
    invariant(this.#jobs.size < store.JOBS_MAX, `at most ${store.JOBS_MAX} jobs`);
    const bounded = job.timeLimitMs >= 1 && job.timeLimitMs <= TIME_LIMIT_MAX_MS;
    invariant(bounded, `job ${job.name} has a time limit up to ${TIME_LIMIT_MAX_MS} ms`);
    this.#jobs.set(job.name, job);
    this.#metrics.add(job);
  }

  has(name: string): boolean {
    return this.#jobs.has(name);
  }

  async takeOverLeases(): Promise<void> {
    const { db, log } = this.options;
    const isHeld = store.listAllJobs(db.read).some(({ leaseOwner }) => leaseOwner !== null);
    if (!isHeld) return;
    const taken = await db.write((tx) => store.endLeases(tx), "jobs");
    log.info("scheduler.leases_taken_over", { jobs: taken });
  }

  start(): void {
    const again = (): void => {
      this.#turn = this.#takeTurn()
        .catch((error: unknown) => this.options.log.error("scheduler.turn_failed", { error }))
        .finally(() => {
          if (!this.#stopping) this.#timer = setTimeout(again, TURN_MS);
        });
    };
    again();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#timer);
    await this.#turn;
    const runs = [...this.#running.values()];
    for (const run of runs) end(run, "stopped");
    await within(STOP_WAIT_MS, Promise.all(runs.map((run) => run.done)));
  }

  async runDue(): Promise<void> {
    await Promise.all((await this.#takeTurn()).map((run) => run.done));
  }

  lastBeatMs(): number {
    return this.#beatMs;
  }

  async #takeTurn(): Promise<Run[]> {
    const rows = store.listJobs(this.options.db.read, [...this.#jobs.keys()]);
    const started: Run[] = [];
    for (const job of this.#jobs.values()) {
      const row = rows.get(job.name);
      if (this.#beatMs === 0 && row) this.#metrics.restoreLastSuccess(row);
      const run = await this.#tryToStartIfDue(job, row);
      if (run) started.push(run);
    }
    this.#beatMs = this.options.clock.nowMs();
    return started;
  }

  /** Logs a failure once and continues. A full disk must not stop the turns: a restart would not make more space. */
  async #tryToStartIfDue(job: Job, row: JobRow | undefined): Promise<Run | undefined> {
    try {
      const run = await this.#startIfDue(job, row);
      this.#failing.delete(job.name);
      return run;
    } catch (error) {
      if (!this.#failing.has(job.name))
        this.options.log.error("scheduler.job_check_failed", { job: job.name, error });
      this.#failing.add(job.name);
      return undefined;
    }
  }

  /** @returns the run, if one was due and started */
  async #startIfDue(job: Job, row: JobRow | undefined): Promise<Run | undefined> {
    const { clock, db } = this.options;
    const nowMs = clock.nowMs();
    const running = this.#running.get(job.name);
    const isStart = job.runsAtStart === true && this.#beatMs === 0;
    if (running) await this.#keepLease(job, running);
    else if (!row) {
      const firstRunAtMs = nowMs + (isStart ? 0 : this.#jitterMs(job));
      await db.write((tx) => store.addJob(tx, job.name, firstRunAtMs), "jobs");
    } else if (!isStart && row.nextRunAtMs > nowMs + job.everyMs + job.jitterMs) {
      // The time was planned before the clock was set back; waiting for it could take years.
      await db.write((tx) => store.moveDueTime(tx, row, this.#nextRunAtMs(job)), "jobs");
    } else if (
      this.#canTake(row, { ...job, nowMs }) &&
      (isStart || row.nextRunAtMs <= nowMs || job.isUrgent?.()) &&
      !row.paused &&
      !this.#stopping
    ) {
      return this.#take(job, row);
    }
    return undefined;
  }

  async #take(job: Job, row: JobRow): Promise<Run | undefined> {
    const nowMs = this.options.clock.nowMs();
    const lease = { owner: this.options.ids.uuid(), untilMs: leaseUntilMs(job.timeLimitMs, nowMs) };
    const taken = await this.options.db.write((tx) => store.takeLease(tx, row, { lease, nowMs }), "jobs");
    return taken ? this.#begin(job, lease) : undefined;
  }

  /** Renews a lease that looks expired after a clock jump, unless the run was aborted. */
  async #keepLease(job: Job, run: Run): Promise<void> {
    const nowMs = this.options.clock.nowMs();
    if (run.endedBy || isLeaseValid(run.lease.untilMs, { ...job, nowMs })) return;
    const lease = { owner: run.lease.owner, untilMs: leaseUntilMs(job.timeLimitMs, nowMs) };
    const kept = await this.options.db.write((tx) => store.renewLease(tx, job.name, lease), "jobs");
    if (kept) run.lease = lease;
    else run.abort.abort();
  }

  #begin(job: Job, lease: store.Lease): Run {
    const run: Run = { lease, abort: new AbortController(), done: Promise.resolve() };
    this.#running.set(job.name, run);
    run.done = this.#perform(job, run).finally(() => this.#running.delete(job.name));
    return run;
  }

  /** Never rejects. An error of the job is recorded. An error of the database is logged, and the lease expires. */
  async #perform(job: Job, run: Run): Promise<void> {
    const log = this.options.log.child({ job: job.name });
    const limit = setTimeout(() => end(run, "timed_out"), job.timeLimitMs);
    let error: unknown;
    try {
      await job.run(run.abort.signal);
    } catch (thrown) {
      error = thrown ?? new Error("a job threw nothing");
    } finally {
      clearTimeout(limit);
    }
    const outcome = run.endedBy ?? (error === undefined ? "succeeded" : "failed");
    if (outcome === "failed") log.error("job.failed", { error });
    if (outcome === "timed_out") log.warning("job.timed_out", { time_limit_ms: job.timeLimitMs });
    await this.#record(job, run, { outcome, error }).catch((failure: unknown) =>
      log.error("job.record_failed", { outcome, error: failure }),
    );
  }

  async #record(job: Job, run: Run, ended: { outcome: JobOutcome; error: unknown }): Promise<void> {
    const finishedAtMs = this.options.clock.nowMs();
    const result: store.RunResult = {
      finishedAtMs,
      outcome: ended.outcome,
      error: ended.error === undefined ? null : String(ended.error).slice(0, JOB_ERROR_LENGTH_MAX),
      ...(ended.outcome === "stopped" ? {} : { nextRunAtMs: this.#nextRunAtMs(job) }),
    };
    const { owner } = run.lease;
    const recorded = await this.options.db.write(
      (tx) => store.finishRun(tx, job.name, { owner, result }),
      "jobs",
    );
    if (recorded) this.#metrics.ended(job.name, ended.outcome, finishedAtMs);
    else this.options.log.warning("job.superseded", { job: job.name, outcome: ended.outcome });
  }

  #nextRunAtMs(job: Job): number {
    return this.options.clock.nowMs() + job.everyMs + this.#jitterMs(job);
  }

  #jitterMs(job: Job): number {
    return Math.floor(randomFraction(this.options.ids) * job.jitterMs);
  }
}

function end(run: Run, reason: JobOutcome): void {
  run.endedBy ??= reason;
  run.abort.abort();
}
