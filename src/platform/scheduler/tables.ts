// The table of scheduled jobs, one row each: its due time, the lease of its runner, and the result of its last run. store.ts has
// the statements, and scheduler.ts uses them.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** The outcome of a run. `stopped`: the process had to end, and the job runs again after the next start. */
export const JOB_OUTCOMES = ["succeeded", "failed", "timed_out", "stopped"] as const;
export type JobOutcome = (typeof JOB_OUTCOMES)[number];

export const jobs = sqliteTable("jobs", {
  name: text("name").primaryKey(),
  nextRunAtMs: integer("next_run_at_ms").notNull(),
  leaseOwner: text("lease_owner"),
  leaseUntilMs: integer("lease_until_ms"),
  lastStartedAtMs: integer("last_started_at_ms"),
  lastFinishedAtMs: integer("last_finished_at_ms"),
  lastOutcome: text("last_outcome", { enum: JOB_OUTCOMES }),
  lastError: text("last_error"),
  paused: integer("paused", { mode: "boolean" }).notNull().default(false),
});

export type JobRow = typeof jobs.$inferSelect;
