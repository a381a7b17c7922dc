// Statements on the table of jobs. Each change is one conditional statement, so that two processes cannot both
// succeed; when to make which change is scheduler.ts's to decide.
import { and, asc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import type { Connection, Tx } from "../database/database.ts";
import { type JobOutcome, type JobRow, jobs } from "./tables.ts";

/** Jobs that can be registered. */
export const JOBS_MAX = 64;

/** One run's right to a job. `owner` is new for each run: an old run cannot pass for a newer one. */
export interface Lease {
  owner: string;
  untilMs: number;
}

/** @returns the rows of the named jobs by name */
export const listJobs = (connection: Connection, names: readonly string[]): Map<string, JobRow> =>
  new Map(
    connection
      .select()
      .from(jobs)
      .where(inArray(jobs.name, [...names]))
      .limit(JOBS_MAX)
      .all()
      .map((row) => [row.name, row]),
  );

/** @returns every job there is a row of, by name; also of those that no process registers any more */
export const listAllJobs = (connection: Connection): JobRow[] =>
  connection.select().from(jobs).orderBy(asc(jobs.name)).limit(JOBS_MAX).all();

/** @returns the row of one job */
export const findJob = (connection: Connection, name: string): JobRow | undefined =>
  connection.select().from(jobs).where(eq(jobs.name, name)).get();

/** Changes what an operator may say about a job. */
export function changeJob(
  tx: Tx,
  name: string,
  changes: Partial<Pick<JobRow, "nextRunAtMs" | "paused">>,
): void {
  tx.update(jobs).set(changes).where(eq(jobs.name, name)).run();
}

/** Gives a job that has no row its first due time. */
export function addJob(tx: Tx, name: string, nextRunAtMs: number): void {
  tx.insert(jobs).values({ name, nextRunAtMs }).onConflictDoNothing().run();
}

/** Moves the due time, unless it moved since `seen` was read. */
export function moveDueTime(tx: Tx, seen: JobRow, nextRunAtMs: number): void {
  const unmoved = and(eq(jobs.name, seen.name), eq(jobs.nextRunAtMs, seen.nextRunAtMs));
  tx.update(jobs).set({ nextRunAtMs }).where(unmoved).run();
}

/** @returns whether the lease is ours now; it is not if anything about the job changed since `seen` was read */
export const takeLease = (tx: Tx, seen: JobRow, { lease, nowMs }: { lease: Lease; nowMs: number }): boolean =>
  tx
    .update(jobs)
    .set({ leaseOwner: lease.owner, leaseUntilMs: lease.untilMs, lastStartedAtMs: nowMs })
    .where(
      and(
        eq(jobs.name, seen.name),
        eq(jobs.paused, false),
        eq(jobs.nextRunAtMs, seen.nextRunAtMs),
        sql`${jobs.leaseOwner} IS ${seen.leaseOwner}`,
        sql`${jobs.leaseUntilMs} IS ${seen.leaseUntilMs}`,
      ),
    )
    .returning({ name: jobs.name })
    .all().length === 1;

/** Ends every lease, whoever holds it. @returns the names of the jobs */
export const endLeases = (tx: Tx): string[] =>
  tx
    .update(jobs)
    .set({ leaseOwner: null, leaseUntilMs: null })
    .where(isNotNull(jobs.leaseOwner))
    .returning({ name: jobs.name })
    .all()
    .map(({ name }) => name);

/** @returns false if another run holds the job by now */
export const renewLease = (tx: Tx, name: string, lease: Lease): boolean =>
  tx
    .update(jobs)
    .set({ leaseUntilMs: lease.untilMs })
    .where(and(eq(jobs.name, name), eq(jobs.leaseOwner, lease.owner)))
    .returning({ name: jobs.name })
    .all().length === 1;

/** What a run leaves behind; without `nextRunAtMs` the job stays due. */
export interface RunResult {
  finishedAtMs: number;
  outcome: JobOutcome;
  error: string | null;
  nextRunAtMs?: number;
}

/** Records a result and gives the lease back. @returns false, changing nothing, if another run holds the job by now */
export const finishRun = (
  tx: Tx,
  name: string,
  { owner, result }: { owner: string; result: RunResult },
): boolean =>
  tx
    .update(jobs)
    .set({
      leaseOwner: null,
      leaseUntilMs: null,
      lastFinishedAtMs: result.finishedAtMs,
      lastOutcome: result.outcome,
      lastError: result.error,
      ...(result.nextRunAtMs === undefined ? {} : { nextRunAtMs: result.nextRunAtMs }),
    })
    .where(and(eq(jobs.name, name), eq(jobs.leaseOwner, owner)))
    .returning({ name: jobs.name })
    .all().length === 1;
