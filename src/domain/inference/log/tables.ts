// Tables of the request log's own file. log-file-store.ts has the constraints, indexes and migrations of that file.
import { integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Outcome, UsageSource } from "./record.ts";
import type { StoredTallies, StoredTally } from "./summary/tally.ts";

/** One row for each inference request. The columns are the closed list of record.ts. */
export const requests = sqliteTable("requests", {
  id: text("id").notNull(),
  userId: text("user_id").notNull(),
  organizationId: text("organization_id").notNull(),
  profileId: text("profile_id"),
  profileName: text("profile_name"),
  occurredAtMs: integer("occurred_at_ms").notNull(),
  method: text("method").notNull(),
  path: text("path").notNull(),
  model: text("model"),
  httpStatus: integer("http_status"),
  upstreamLatencyMs: integer("upstream_latency_ms").notNull(),
  harness: text("harness"),
  repository: text("repository"),
  branch: text("branch"),
  commitSha: text("commit_sha"),
  dirty: integer("dirty", { mode: "boolean" }),
  runId: text("run_id"),
  claimed: integer("claimed", { mode: "boolean" }).notNull(),
  requestId: text("request_id"),
  durationMs: integer("duration_ms"),
  firstByteMs: integer("first_byte_ms"),
  requestBytes: integer("request_bytes"),
  responseBytes: integer("response_bytes"),
  stream: integer("stream", { mode: "boolean" }),
  outcome: text("outcome").$type<Outcome>(),
  refusal: text("refusal"),
  inputTokens: integer("input_tokens"),
  outputTokens: integer("output_tokens"),
  cacheReadTokens: integer("cache_read_tokens"),
  cacheWriteTokens: integer("cache_write_tokens"),
  usageSource: text("usage_source").$type<UsageSource>(),
  upstreamCost: real("upstream_cost"),
});

/** Periods in which rows were dropped. */
export const gaps = sqliteTable("gaps", {
  id: integer("id").primaryKey(),
  fromMs: integer("from_ms").notNull(),
  toMs: integer("to_ms").notNull(),
  count: integer("count").notNull(),
  cause: text("cause").notNull(),
});

/** Values for filters to offer. The writer maintains them, because finding them would read every row. */
export const seen = sqliteTable("seen", {
  kind: text("kind").notNull(),
  value: text("value").notNull(),
  /** alias of a profile */
  name: text("name"),
  lastAtMs: integer("last_at_ms").notNull(),
});

/** Sums of the rows of one hour or day: see summary/cached-sums-store.ts. */
export const keptSums = sqliteTable("kept_sums", {
  /** 1 for an hour, 24 for a day */
  hours: integer("hours").notNull(),
  /** hours or days since 1970 in UTC */
  number: integer("number").notNull(),
  /** mark of a summary that is reading the rows; null once the sums are complete */
  mark: integer("mark"),
  totals: text("totals", { mode: "json" }).notNull().$type<StoredTally>(),
  models: text("models", { mode: "json" }).notNull().$type<StoredTallies>(),
  users: text("users", { mode: "json" }).notNull().$type<StoredTallies>(),
});
