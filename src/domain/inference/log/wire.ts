// The request log as the API and the commands show it: names and types.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { pageEnvelope } from "../../shared/page.ts";
import { DROP_CAUSES, GAPS_MAX, type Gap, RESULTS, resultOf } from "./model.ts";
import { OUTCOMES, type RequestRow, USAGE_SOURCES } from "./record.ts";

const nullable = <T extends Parameters<typeof Type.Union>[0][number]>(type: T) =>
  Type.Union([type, Type.Null()]);
const oneOf = <Word extends string>(words: readonly Word[], description?: string) =>
  Type.Unsafe<Word>({ type: "string", enum: words, ...(description !== undefined && { description }) });
const count = (description?: string) =>
  nullable(Type.Integer({ minimum: 0, ...(description !== undefined && { description }) }));

const CLAIM = "stated by the workstation, so it may be wrong";
const claimed = () => nullable(Type.String({ description: CLAIM }));

/** One request. */
const RequestLogItem = Type.Object({
  id: Type.String({ format: "uuid" }),
  user_id: Type.String({ format: "uuid" }),
  user_email: Type.String({ format: "email", description: "`removed@invalid` for a removed user" }),
  profile_id: nullable(Type.String()),
  profile_name: nullable(Type.String()),
  occurred_at: Type.String({ format: "date-time" }),
  method: Type.String(),
  path: Type.String({ description: "without the query string" }),
  model: claimed(),
  http_status: nullable(Type.Integer({ minimum: 100, maximum: 599 })),
  result: oneOf(RESULTS),
  upstream_latency_ms: Type.Integer({ minimum: 0, description: "until the upstream began to respond" }),
  harness: claimed(),
  repository: claimed(),
  branch: claimed(),
  commit_sha: claimed(),
  dirty: nullable(Type.Boolean({ description: CLAIM })),
  run_id: claimed(),
  claimed: Type.Boolean({ description: "the workstation sent at least one of these" }),
  request_id: nullable(Type.String()),
  duration_ms: count(),
  first_byte_ms: count(),
  request_bytes: count(),
  response_bytes: count(),
  stream: nullable(Type.Boolean()),
  outcome: nullable(oneOf(OUTCOMES, "how the request ended; null while it runs")),
  refusal: nullable(Type.String({ description: "why this service refused the request" })),
  input_tokens: count("as the upstream reported it"),
  output_tokens: count(),
  cache_read_tokens: count(),
  cache_write_tokens: count(),
  usage_source: nullable(oneOf(USAGE_SOURCES)),
  upstream_cost: nullable(Type.Number({ description: "US dollars, as the upstream reported it" })),
});

const GapItem = Type.Object({
  from: Type.String({ format: "date-time" }),
  to: Type.String({ format: "date-time" }),
  count: Type.Integer({ minimum: 1, description: "rows that were dropped" }),
  cause: oneOf(DROP_CAUSES),
});

/** A page of the log. */
export const RequestLogPage = Type.Composite([
  pageEnvelope(RequestLogItem),
  Type.Object({
    total_capped: Type.Boolean({ description: "whether there are more rows than `total`" }),
    gaps: Type.Array(GapItem, {
      maxItems: GAPS_MAX,
      description: "periods of this page in which rows were dropped",
    }),
  }),
]);

/** Values for filters to offer. */
export const RequestLogFacets = Type.Object({
  users: Type.Array(
    Type.Object({ id: Type.String({ format: "uuid" }), email: Type.String({ format: "email" }) }),
  ),
  profiles: Type.Array(Type.Object({ id: Type.String(), name: nullable(Type.String()) })),
  models: Type.Array(Type.String()),
  harnesses: Type.Array(Type.String()),
  results: Type.Array(oneOf(RESULTS)),
});

/** A row with the current address of its user. */
export interface RowView extends RequestRow {
  userEmail: string;
}

/** @returns the row as the API and the commands show it */
export const toRequestLogItem = (row: RowView): Static<typeof RequestLogItem> => ({
  id: row.id,
  user_id: row.userId,
  user_email: row.userEmail,
  profile_id: row.profileId,
  profile_name: row.profileName,
  occurred_at: toRfc3339(row.occurredAtMs),
  method: row.method,
  path: row.path,
  model: row.model,
  http_status: row.httpStatus,
  result: resultOf(row.httpStatus),
  upstream_latency_ms: row.upstreamLatencyMs,
  harness: row.harness,
  repository: row.repository,
  branch: row.branch,
  commit_sha: row.commitSha,
  dirty: row.dirty,
  run_id: row.runId,
  claimed: row.claimed,
  request_id: row.requestId,
  duration_ms: row.durationMs,
  first_byte_ms: row.firstByteMs,
  request_bytes: row.requestBytes,
  response_bytes: row.responseBytes,
  stream: row.stream,
  outcome: row.outcome,
  refusal: row.refusal,
  input_tokens: row.inputTokens,
  output_tokens: row.outputTokens,
  cache_read_tokens: row.cacheReadTokens,
  cache_write_tokens: row.cacheWriteTokens,
  usage_source: row.usageSource,
  upstream_cost: row.upstreamCost,
});

/** @returns the gap as the API and the commands show it */
export const toGapItem = ({ fromMs, toMs, count: rows, cause }: Gap): Static<typeof GapItem> => ({
  from: toRfc3339(fromMs),
  to: toRfc3339(toMs),
  count: rows,
  cause,
});
