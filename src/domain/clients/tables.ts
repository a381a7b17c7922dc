// The table of reports from workstations. Constraints and indexes are in the migrations.
import { integer, primaryKey, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const clientReports = sqliteTable("client_reports", {
  id: text("id").primaryKey(),
  organizationId: text("organization_id").notNull(),
  userId: text("user_id").notNull(),
  instanceId: text("instance_id").notNull(),
  /** the login session of the last report; `clients revoke` ends it */
  loginSessionId: text("login_session_id").notNull(),
  /** the grant whose token sent the last report; null for a browser */
  grantId: text("grant_id"),
  hostname: text("hostname"),
  clientVersion: text("client_version").notNull(),
  platform: text("platform").notNull(),
  architecture: text("architecture"),
  configRevision: text("config_revision"),
  applied: integer("applied", { mode: "boolean" }).notNull(),
  filesOk: integer("files_ok", { mode: "boolean" }).notNull(),
  /** result of comparing the report with its revision; health also depends on the current revision and is computed on read */
  verdict: text("verdict", { enum: ["matches", "differs", "unknown"] }).notNull(),
  /** id of the rules that gave the verdict; a verdict given under other rules is recomputed */
  evaluatedBy: text("judged_by").notNull(),
  /** JSON list, sorted and distinct; filters and facets read it instead of `harnesses` */
  harnessNames: text("harness_names").notNull(),
  firstSeenAtMs: integer("first_seen_at_ms").notNull(),
  lastSeenAtMs: integer("last_seen_at_ms").notNull(),
  error: text("error"),
  /** JSON of a failed reconciliation attempt */
  attempt: text("attempt"),
  /** JSON list of sentences */
  reasons: text("reasons").notNull(),
  /** JSON lists, as reported */
  harnesses: text("harnesses").notNull(),
  packages: text("packages").notNull(),
  /** counts for lists, see inventory-figures.ts; null for a report from before schema 30 until its verdict is recomputed */
  harnessesWanted: integer("harnesses_wanted"),
  harnessesReconciled: integer("harnesses_reconciled"),
  packagesReported: integer("packages_reported"),
  packagesApplied: integer("packages_applied"),
  /** JSON list of [harness, version], sorted */
  harnessVersions: text("harness_versions"),
});

/** Maps the row numbers of `client_search`, the full-text index of host names and instance ids, to reports. Triggers maintain it. */
export const clientSearchEntries = sqliteTable("client_search_entries", {
  number: integer("number").primaryKey(),
  clientId: text("client_id").notNull(),
});

export const rolloutSamples = sqliteTable(
  "rollout_samples",
  {
    organizationId: text("organization_id").notNull(),
    revisionId: text("revision_id").notNull(),
    sampledAtMs: integer("sampled_at_ms").notNull(),
    current: integer("current").notNull(),
    outdated: integer("outdated").notNull(),
    attention: integer("attention").notNull(),
  },
  (table) => [primaryKey({ columns: [table.organizationId, table.revisionId, table.sampledAtMs] })],
);
