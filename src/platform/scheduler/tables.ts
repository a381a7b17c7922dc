// One row for each scheduled job: when it is due, who runs it, how its last run ended.
// The statements on it are in scheduler/store.ts, their meaning in scheduler.ts.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

/** How a run ended. `stopped`: the process was asked to end; the run is repeated after the next start. */
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
