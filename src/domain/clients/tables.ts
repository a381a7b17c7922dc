// The table of what workstations report; constraints and indices are in migrations.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const clientReports = sqliteTable("client_reports", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  userId: text("user_id").notNull(),
  instanceId: text("instance_id").notNull(),
  /** the grant whose token reported last; null for a browser */
  grantId: text("grant_id"),
  hostname: text("hostname"),
  clientVersion: text("client_version").notNull(),
  platform: text("platform").notNull(),
  architecture: text("architecture"),
  configRevision: text("config_revision"),
  applied: integer("applied", { mode: "boolean" }).notNull(),
  filesOk: integer("files_ok", { mode: "boolean" }).notNull(),
  /** JSON lists, as reported */
  harnesses: text("harnesses").notNull(),
  packages: text("packages").notNull(),
  error: text("error"),
  /** JSON of a reconciliation attempt that failed */
  attempt: text("attempt"),
  verdict: text("verdict", { enum: ["matches", "differs", "unknown"] }).notNull(),
  /** JSON list of sentences */
  reasons: text("reasons").notNull(),
  health: text("health", { enum: ["current", "outdated", "attention"] }).notNull(),
  /** the current revision when verdict and health were worked out */
  verdictRevision: text("verdict_revision"),
  firstSeenAtMs: integer("first_seen_at_ms").notNull(),
  lastSeenAtMs: integer("last_seen_at_ms").notNull(),
});
