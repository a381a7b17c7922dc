// The life of a gateway key: its states as one table, how long to wait after a failure, when a key is due again, and how
// it is shown. No I/O: keys.ts and attempts.ts decide with these functions inside their transactions.
// Source: gateway-keys.md section 1, changed as its section 11 (3 to 7, 12 to 14) asks.
import { type Static, Type } from "@sinclair/typebox";
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toRfc3339 } from "../../platform/clock.ts";
import { invariant } from "../../platform/errors.ts";
import type { ProvisionerCode, ProvisionReason } from "./provisioners/provisioner.ts";
import type { gatewayKeys } from "./tables.ts";

/**
 * `missing`: never made, or taken away with its user's access. `ready`: a usable key is stored. `recovering`: an attempt
 * is under way for a user without a key. `error`: the last attempt gave none. `invalid`: the gateway disowned the key.
 */
export const KEY_STATES = ["ready", "missing", "invalid", "recovering", "error"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** `disowned`: the gateway says that it does not accept the key. `retired`: its user lost access, or it was revoked. */
export const KEY_EVENTS = [
  "begun",
  "succeeded",
  "failed",
  "replacement_failed",
  "disowned",
  "expired",
  "retired",
] as const;
export type KeyEvent = (typeof KEY_EVENTS)[number];

/** Every transition there is. What is not here cannot happen, and is a bug if it is asked for. */
export const TRANSITIONS: Readonly<Record<KeyState, Readonly<Partial<Record<KeyEvent, KeyState>>>>> = {
  missing: { begun: "recovering" },
  recovering: {
    begun: "recovering", // the process of the attempt before died
    succeeded: "ready",
    failed: "error",
    replacement_failed: "invalid",
    retired: "missing",
  },
  // A failure beside a usable key is shown and changes nothing: an outage of the admin API stops nobody.
  ready: { succeeded: "ready", failed: "ready", disowned: "invalid", expired: "error", retired: "missing" },
  error: { begun: "recovering", retired: "missing" },
  invalid: { begun: "recovering", retired: "missing" },
};

/** @returns the state that is stored after the event; an event that the state does not have is a bug */
export function nextState(state: KeyState, event: Exclude<KeyEvent, "retired">): KeyRow["state"] {
  const next = TRANSITIONS[state][event];
  invariant(next && next !== "missing", `a gateway key that is ${state} can be ${event}`);
  return next;
}

export type KeyRow = typeof gatewayKeys.$inferSelect;

export const stateOf = (row: KeyRow | undefined): KeyState => row?.state ?? "missing";

/** After this time another process may take an attempt over. */
export const ATTEMPT_LEASE_MS = 2 * MINUTE_MS;
/** A key that a new one replaces works for this long at the gateway, for what is under way with it. */
export const ROTATION_OVERLAP_MS = 5 * MINUTE_MS;
export const RETRY_BASE_MS = 30 * SECOND_MS;
export const RETRY_MAX_MS = HOUR_MS;
export const RETRY_DOUBLINGS_MAX = 7;
/** A validation within this time of the last is answered from what is stored. */
export const VALIDATE_EVERY_MS = MINUTE_MS;
/** A key is renewed this long before it expires, or after half its life where that is less. */
export const EXPIRY_AHEAD_MS = DAY_MS;
/** Automatic replacements of a disowned key in a window: one that is blocked upstream again and again must not flap. */
export const REPLACEMENTS_MAX = 5;
export const REPLACEMENT_WINDOW_MS = DAY_MS;

/** Nothing at the gateway will be different in half a minute; a person has to act. */
const PERMANENT: ReadonlySet<ProvisionerCode> = new Set(["invalid_config", "account_missing", "conflict"]);
export const isPermanent = (code: ProvisionerCode): boolean => PERMANENT.has(code);

/**
 * @param failures how many came before in a row
 * @param fraction random, 0 to 1: waits differ by a fifth either way
 * @source gateway-keys.md section 3
 */
export const retryDelayMs = (failures: number, fraction: number): number =>
  Math.round(
    Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(failures, RETRY_DOUBLINGS_MAX)) *
      (0.8 + 0.4 * fraction),
  );

/** @returns when a usable key is looked at again: after the interval, or ahead of its expiry */
export function reconcileAtMs(
  { nowMs, expiresAtMs }: { nowMs: number; expiresAtMs: number | null },
  { ttlMs, fraction }: { ttlMs: number; fraction: number },
): number {
  const routineMs = nowMs + Math.round(ttlMs * (0.9 + 0.1 * fraction));
  if (expiresAtMs === null) return routineMs;
  const halfLifeMs = Math.ceil(Math.max(0, expiresAtMs - nowMs) / 2); // the column holds whole milliseconds
  return Math.min(routineMs, expiresAtMs - Math.min(EXPIRY_AHEAD_MS, halfLifeMs));
}

export const isExpired = ({ expiresAtMs }: Pick<KeyRow, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs;

/** Of retries: they differ by a fifth either way. */
const LONGEST_RETRY_MS = RETRY_MAX_MS * 1.2;

/** Due is what is planned for now, or for later than anything can be: then the clock has gone back since. */
export interface DueTimes {
  untilMs: number;
  fromMs: number;
}

/** @returns the times at which a key is due */
export const dueKeys = (nowMs: number, reconcileTtlSeconds: number): DueTimes => ({
  untilMs: nowMs,
  fromMs: nowMs + Math.max(reconcileTtlSeconds * SECOND_MS, REPLACEMENT_WINDOW_MS, LONGEST_RETRY_MS),
});

/** @returns the times at which a revocation is due */
export const dueRevocations = (nowMs: number): DueTimes => ({
  untilMs: nowMs,
  fromMs: nowMs + Math.max(LONGEST_RETRY_MS, ATTEMPT_LEASE_MS),
});

/** What a look at a key is for. */
export interface Occasion {
  nowMs: number;
  due: DueTimes;
  configurationDigest: string;
  /** somebody asked for it: waits do not count */
  manual: boolean;
  /** also when nothing is due */
  force: boolean;
}

/** @returns why the provisioner must be called, or undefined when what is stored is the answer */
export function reasonToCall(row: KeyRow | undefined, occasion: Occasion): ProvisionReason | undefined {
  if (!row) return "missing";
  const { nowMs, due, configurationDigest, manual, force } = occasion;
  if (row.recoveringUntilMs !== null && isAhead(row.recoveringUntilMs, { nowMs, mostMs: ATTEMPT_LEASE_MS }))
    return undefined;
  const isChanged = row.configurationDigest !== configurationDigest;
  const { nextAttemptAtMs } = row;
  const isDue = nextAttemptAtMs !== null && (nextAttemptAtMs <= due.untilMs || nextAttemptAtMs > due.fromMs);
  if (row.state !== "ready") {
    if (row.state !== "recovering" && !manual && !isDue && !isChanged) return undefined;
    return row.invalidatedAtMs === null ? "missing" : "credential_invalidated";
  }
  if (isExpired(row, nowMs)) return "missing";
  const hasFailed = row.problem !== null;
  if (!isDue && !force && !(manual && hasFailed) && !(isChanged && !hasFailed)) return undefined;
  return isChanged ? "configuration_changed" : "reconciliation_due";
}

/** A lease that ends later than one can was written before the clock went back, and counts as over. */
const isAhead = (untilMs: number, { nowMs, mostMs }: { nowMs: number; mostMs: number }): boolean =>
  untilMs > nowMs && untilMs <= nowMs + mostMs;

/** @returns when a disowned key is replaced without anybody asking: at once within the budget, else when its window is over */
export function nextReplacementMs(row: KeyRow, nowMs: number): number {
  const windowMs = windowOf(row, nowMs);
  return windowMs === undefined || row.replacements < REPLACEMENTS_MAX
    ? nowMs
    : windowMs + REPLACEMENT_WINDOW_MS;
}

/** @returns when the window of the budget began; undefined when none is open */
export const windowOf = ({ replacementsSinceMs }: KeyRow, nowMs: number): number | undefined =>
  replacementsSinceMs !== null &&
  replacementsSinceMs <= nowMs &&
  replacementsSinceMs > nowMs - REPLACEMENT_WINDOW_MS
    ? replacementsSinceMs
    : undefined;

const Time = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);
const Text = Type.Union([Type.String(), Type.Null()]);

/** Body of every operation on the caller's key (SEED.md, gateway-keys.md section 1.2): all members, always. */
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
    description: "what went wrong last; beside a ready key it stops nobody",
  }),
  invalidated_at: Time,
  invalidation_reason: Text,
  next_retry_at: Time,
});
export type GatewayKeyStatus = Static<typeof GatewayKeyStatus>;

const timeOf = (ms: number | null | undefined): string | null => (ms == null ? null : toRfc3339(ms));

export const EXPIRED_PROBLEM = "your key has expired and is being replaced";

/** @returns the status as every face shows it; nothing of the secret and its wrapping */
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
