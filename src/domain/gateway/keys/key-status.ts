// The status of a user's gateway key in the API, without the sealed secret.
import { type Static, Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { EXPIRED_PROBLEM, isExpired, KEY_STATES, type KeyRow, stateOf } from "../model.ts";

const Time = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);
const Text = Type.Union([Type.String(), Type.Null()]);

/** Response body of every operation on the caller's key. All members are always present. */
export const GatewayKeyStatus = Type.Object({
  enabled: Type.Boolean({ description: "whether gateway mode is on" }),
  email: Type.String({ format: "email" }),
  status: Type.Union(KEY_STATES.map((state) => Type.Literal(state))),
  alias: Text,
  external_id: Type.Union([Type.String(), Type.Null()], {
    description: "identifier at the gateway, never the credential",
  }),
  expires_at: Time,
  last_reconciled_at: Time,
  error: Type.Union([Type.String(), Type.Null()], {
    description: "the last problem; a ready key still works",
  }),
  invalidated_at: Time,
  invalidation_reason: Text,
  next_retry_at: Time,
});
export type GatewayKeyStatus = Static<typeof GatewayKeyStatus>;

const timeOf = (ms: number | null | undefined): string | null => (ms == null ? null : toRfc3339(ms));

/** @returns the status as the API and the commands show it */
export function toKeyStatus(
  row: KeyRow | undefined,
  { email, enabled, nowMs }: { email: string; enabled: boolean; nowMs: number },
): GatewayKeyStatus {
  const shown = enabled ? row : undefined;
  const hasExpired = shown !== undefined && isExpired(shown, nowMs);
  const hasKey = shown?.state === "ready" && !hasExpired;
  return {
    enabled,
    email,
    status: hasExpired ? "error" : stateOf(shown),
    alias: hasKey ? shown.alias : null,
    external_id: hasKey ? shown.externalId : null,
    expires_at: hasKey ? timeOf(shown.expiresAtMs) : null,
    last_reconciled_at: hasKey ? timeOf(shown.reconciledAtMs) : null,
    error: hasExpired ? EXPIRED_PROBLEM : (shown?.problem ?? null),
    invalidated_at: timeOf(shown?.invalidatedAtMs),
    invalidation_reason: shown?.invalidationReason ?? null,
    next_retry_at:
      shown?.problem == null && shown?.state !== "invalid" ? null : timeOf(shown.nextAttemptAtMs),
  };
}
