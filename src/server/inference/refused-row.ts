// The row of the request log for a request that was refused after its token had been verified.
import { attributionOf } from "../../domain/inference/bodies/attribution.ts";
import { NO_RESPONSE, type RequestRow } from "../../domain/inference/log/record.ts";
import type { ObservedRefusal } from "./handler.ts";

/**
 * @param organizationId of the user
 * @returns undefined for an invalid token or an unlisted path, which are not logged
 */
export function refusedRow(
  { reason, status, entry, request, requestId, arrivedAtMs, claims, key }: ObservedRefusal,
  { organizationId, nowMs }: { organizationId: string; nowMs: number },
): RequestRow | undefined {
  if (!claims || !entry) return undefined;
  const tookMs = Math.max(0, nowMs - arrivedAtMs);
  return {
    ...NO_RESPONSE,
    ...attributionOf(request.headers, entry.path),
    id: requestId,
    userId: claims.userId,
    organizationId,
    profileId: key?.externalId ?? null,
    profileName: key?.alias ?? null,
    occurredAtMs: arrivedAtMs,
    method: request.method,
    path: entry.path,
    httpStatus: status,
    upstreamLatencyMs: tookMs,
    requestId,
    durationMs: tookMs,
    outcome: "refused",
    refusal: reason,
  };
}
