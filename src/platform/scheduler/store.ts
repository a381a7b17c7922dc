// Statements on the table of jobs. Each change is one conditional statement, so that only one of two processes succeeds.
// scheduler.ts decides which change to make.
import { and, asc, eq, inArray, isNotNull, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../database/database.ts";
import { named } from "../database/drizzle.ts";
import { type JobOutcome, type JobRow, jobs } from "./tables.ts";

/** Maximum number of registered jobs. */
export const JOBS_MAX = 64;

/** The right of one run to a job. Each run has a new `owner`, so an old run cannot be mistaken for a newer one. */
export interface Lease {
  owner: string;
  untilMs: number;
}

const selectJobs = statement((connection) =>
  connection
    .select()
    .from(jobs)
    .where(inArray(jobs.name, sql`(SELECT value FROM json_each(${named("names")}))`))
    .limit(JOBS_MAX)
    .prepare(),
);

/** @returns the rows of the named jobs by name */
export const listJobs = (connection: Connection, names: readonly string[]): Map<string, JobRow> =>
  new Map(
    selectJobs(connection)
      .all({ names: JSON.stringify(names) })
      .map((row) => [row.name, row]),
  );

/** @returns all jobs that have a row, by name, including jobs that no process registers anymore */
export const listAllJobs = (connection: Connection): JobRow[] =>
  connection.select().from(jobs).orderBy(asc(jobs.name)).limit(JOBS_MAX).all();

/** @returns the row of one job */
export const findJob = (connection: Connection, name: string): JobRow | undefined =>
  connection.select().from(jobs).where(eq(jobs.name, name)).get();

/** Changes the members of a job that operators may set. */
export function changeJob(
  tx: Tx,
  name: string,
  changes: Partial<Pick<JobRow, "nextRunAtMs" | "paused">>,
): void {
  tx.update(jobs).set(changes).where(eq(jobs.name, name)).run();
}

/** Adds the row of a new job with its first due time. */
export function addJob(tx: Tx, name: string, nextRunAtMs: number): void {
  tx.insert(jobs).values({ name, nextRunAtMs }).onConflictDoNothing().run();
}

/** Changes the due time, unless it has changed since `seen` was read. */
export function moveDueTime(tx: Tx, seen: JobRow, nextRunAtMs: number): void {
  const unmoved = and(eq(jobs.name, seen.name), eq(jobs.nextRunAtMs, seen.nextRunAtMs));
  tx.update(jobs).set({ nextRunAtMs }).where(unmoved).run();
}

/** @returns whether the lease was taken; false if the job has changed since `seen` was read */
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

/** Ends the leases of all owners. @returns the names of the jobs */
export const endLeases = (tx: Tx): string[] =>
  tx
    .update(jobs)
    .set({ leaseOwner: null, leaseUntilMs: null })
    .where(isNotNull(jobs.leaseOwner))
    .returning({ name: jobs.name })
    .all()
    .map(({ name }) => name);

/** @returns false if another run has taken the job */
export const renewLease = (tx: Tx, name: string, lease: Lease): boolean =>
  tx
    .update(jobs)
    .set({ leaseUntilMs: lease.untilMs })
    .where(and(eq(jobs.name, name), eq(jobs.leaseOwner, lease.owner)))
    .returning({ name: jobs.name })
    .all().length === 1;

export interface RunResult {
  finishedAtMs: number;
  outcome: JobOutcome;
  error: string | null;
  /** without it, the job stays due */
  nextRunAtMs?: number;
}

/** Records a result and releases the lease. @returns false, without a change, if another run has taken the job */
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
