// The table of what workstations report; constraints and indices are in migrations.
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const clientReports = sqliteTable("client_reports", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  userId: text("user_id").notNull(),
  instanceId: text("instance_id").notNull(),
  /** the login that reported last: what `clients revoke` ends */
  loginSessionId: text("login_session_id").notNull(),
  /** the grant whose token reported last; null for a browser */
  grantId: text("grant_id"),
  hostname: text("hostname"),
  clientVersion: text("client_version").notNull(),
  platform: text("platform").notNull(),
  architecture: text("architecture"),
  configRevision: text("config_revision"),
  applied: integer("applied", { mode: "boolean" }).notNull(),
  filesOk: integer("files_ok", { mode: "boolean" }).notNull(),
  /** about the revision that the report names; health also depends on the one in force, and is worked out when it is read */
  verdict: text("verdict", { enum: ["matches", "differs", "unknown"] }).notNull(),
  /** the rules of the program that gave the verdict; others make it due again */
  judgedBy: text("judged_by").notNull(),
  /** JSON list, sorted and distinct: what filters and facets know of `harnesses` */
  harnessNames: text("harness_names").notNull(),
  firstSeenAtMs: integer("first_seen_at_ms").notNull(),
  lastSeenAtMs: integer("last_seen_at_ms").notNull(),
  error: text("error"),
  /** JSON of a reconciliation attempt that failed */
  attempt: text("attempt"),
  /** JSON list of sentences */
  reasons: text("reasons").notNull(),
  /** JSON lists, as reported */
  harnesses: text("harnesses").notNull(),
  packages: text("packages").notNull(),
});
