// Describes a call for the request log and the sums of usage: metadata only.
import { attributionOf } from "../../../domain/inference/bodies/attribution.ts";
import { NO_USAGE, readUsage, type Usage } from "../../../domain/inference/bodies/usage.ts";
import type { Outcome, RequestRow } from "../../../domain/inference/log/record.ts";
import type { OpenCall } from "./open-call.ts";

/** @param outcome null while the call runs */
export function rowOf(
  open: OpenCall,
  { outcome, nowMs }: { outcome: Outcome | null; nowMs: number },
): RequestRow {
  const { call, startedMs } = open;
  const { admitted, entry, request } = call;
  const isOver = outcome !== null;
  const claims = attributionOf(request.headers, entry.path, open.bodyModel ?? null);
  const usage = isOver ? usageOf(open, outcome) : NO_USAGE;
  // Spreads would cost more than the rest of the row.
  return {
    id: call.requestId,
    userId: admitted.userId,
    organizationId: admitted.organizationId,
    profileId: admitted.profileId,
    profileName: admitted.profileName,
    occurredAtMs: call.arrivedAtMs,
    method: request.method,
    path: entry.path,
    model: claims.model,
    httpStatus: open.ownStatus ?? open.status,
    upstreamLatencyMs: Math.round((open.headMs ?? nowMs) - (open.sentMs ?? nowMs)),
    harness: claims.harness,
    repository: claims.repository,
    branch: claims.branch,
    commitSha: claims.commitSha,
    dirty: claims.dirty,
    runId: claims.runId,
    claimed: claims.claimed,
    requestId: call.requestId,
    durationMs: isOver ? Math.round(nowMs - startedMs) : null,
    firstByteMs: open.firstByteMs === undefined ? null : Math.round(open.firstByteMs - startedMs),
    requestBytes: isOver ? open.requestBytes : null,
    responseBytes: isOver ? open.responseBytes : null,
    stream: open.isEventStream,
    outcome,
    refusal: open.refusal,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cacheReadTokens,
    cacheWriteTokens: usage.cacheWriteTokens,
    usageSource: isOver ? usage.usageSource : null,
    upstreamCost: open.upstreamCost,
  };
}

const usageOf = ({ ends }: OpenCall, outcome: Outcome): Usage =>
  ends ? readUsage(ends, { isWhole: outcome === "complete" }) : NO_USAGE;

/** A larger cost is ignored, so that sums stay finite. */
export const COST_MAX = 1_000_000;

/** @returns the cost in US dollars that LiteLLM states; null without a plausible one */
export function costIn(headers: Headers): number | null {
  const text = headers.get("x-litellm-response-cost");
  const cost = text === null || text === "" ? Number.NaN : Number(text);
  return cost >= 0 && cost <= COST_MAX ? cost : null;
}
