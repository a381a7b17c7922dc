// The life cycle of a gateway key: the table of state transitions, retry delays and due times. keys/key-status.ts has the wire form.
// Pure functions; keys.ts and attempts.ts call them inside their transactions.
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from "../../platform/clock.ts";
import { invariant } from "../../platform/errors.ts";
import type {
  PreviousKey,
  ProvisionedKey,
  ProvisionerCode,
  ProvisionReason,
} from "./provisioners/provisioner.ts";
import type { gatewayKeys } from "./tables.ts";

/**
 * `missing`: never created, or removed with the user's access. `ready`: a usable key is stored. `recovering`: an attempt is
 * running for a user without a key. `error`: the last attempt failed. `invalid`: the gateway rejected the key.
 */
export const KEY_STATES = ["ready", "missing", "invalid", "recovering", "error"] as const;
export type KeyState = (typeof KEY_STATES)[number];

/** `rejected`: the gateway no longer accepts the key. `retired`: the user lost access, or the key was revoked. */
export const KEY_EVENTS = [
  "begun",
  "succeeded",
  "failed",
  "replacement_failed",
  "rejected",
  "expired",
  "retired",
] as const;
export type KeyEvent = (typeof KEY_EVENTS)[number];

/** All valid transitions. Any other transition is a bug. */
export const TRANSITIONS: Readonly<Record<KeyState, Readonly<Partial<Record<KeyEvent, KeyState>>>>> = {
  missing: { begun: "recovering" },
  recovering: {
    begun: "recovering", // the process of the previous attempt died
    succeeded: "ready",
    failed: "error",
    replacement_failed: "invalid",
    retired: "missing",
  },
  // A failure is shown but a usable key stays ready: an outage of the admin API must not stop users.
  ready: { succeeded: "ready", failed: "ready", rejected: "invalid", expired: "error", retired: "missing" },
  error: { begun: "recovering", retired: "missing" },
  invalid: { begun: "recovering", retired: "missing" },
};

/** @returns the state after the event. @throws Error for an invalid transition, which is a bug */
export function nextState(state: KeyState, event: Exclude<KeyEvent, "retired">): KeyRow["state"] {
  const next = TRANSITIONS[state][event];
  invariant(next && next !== "missing", `a gateway key that is ${state} can be ${event}`);
  return next;
}

export type KeyRow = typeof gatewayKeys.$inferSelect;

export const stateOf = (row: Pick<KeyRow, "state"> | undefined): KeyState => row?.state ?? "missing";

/** After this time another process may take over an attempt. */
export const ATTEMPT_LEASE_MS = 2 * MINUTE_MS;
/** A rotated key keeps working at the gateway for this long, so that running requests can finish. */
export const ROTATION_OVERLAP_MS = 5 * MINUTE_MS;
export const RETRY_BASE_MS = 30 * SECOND_MS;
export const RETRY_MAX_MS = HOUR_MS;
export const RETRY_DOUBLINGS_MAX = 7;
/** A validation within this time of the previous one is answered from the stored state. */
export const VALIDATE_EVERY_MS = MINUTE_MS;
/** A key is renewed this long before it expires, or halfway to its expiry if that is later. */
export const EXPIRY_AHEAD_MS = DAY_MS;
/** Maximum number of automatic key replacements per window, so that a user who is blocked upstream does not cause a loop. */
export const REPLACEMENTS_MAX = 5;
export const REPLACEMENT_WINDOW_MS = DAY_MS;

/** Failures that an early retry cannot fix; a person has to act. */
const PERMANENT: ReadonlySet<ProvisionerCode> = new Set(["invalid_config", "account_missing", "conflict"]);
export const isPermanent = (code: ProvisionerCode): boolean => PERMANENT.has(code);

/**
 * @param failures number of earlier consecutive failures
 * @param fraction random, 0 to 1; varies the delay by 20 % in either direction
 */
export const retryDelayMs = (failures: number, fraction: number): number =>
  Math.round(
    Math.min(RETRY_MAX_MS, RETRY_BASE_MS * 2 ** Math.min(failures, RETRY_DOUBLINGS_MAX)) *
      (0.8 + 0.4 * fraction),
  );

/** @returns when a usable key is due again: after the interval, or before it expires if that is earlier */
export function reconcileAtMs(
  { nowMs, expiresAtMs }: { nowMs: number; expiresAtMs: number | null },
  { ttlMs, fraction }: { ttlMs: number; fraction: number },
): number {
  const routineMs = nowMs + Math.round(ttlMs * (0.9 + 0.1 * fraction));
  if (expiresAtMs === null) return routineMs;
  const halfLifeMs = Math.ceil(Math.max(0, expiresAtMs - nowMs) / 2); // the column stores whole milliseconds
  return Math.min(routineMs, expiresAtMs - Math.min(EXPIRY_AHEAD_MS, halfLifeMs));
}

export const EXPIRED_PROBLEM = "your key has expired and is being replaced";

export const isExpired = ({ expiresAtMs }: Pick<KeyRow, "expiresAtMs">, nowMs: number): boolean =>
  expiresAtMs !== null && expiresAtMs <= nowMs;

/** The maximum retry delay, including its random variation of 20 %. */
const LONGEST_RETRY_MS = RETRY_MAX_MS * 1.2;

/** Due if planned for `untilMs` or earlier. A time after `fromMs` is also due, because it means that the clock was set back. */
export interface DueTimes {
  untilMs: number;
  fromMs: number;
}

export const dueKeys = (nowMs: number, reconcileTtlSeconds: number): DueTimes => ({
  untilMs: nowMs,
  fromMs: nowMs + Math.max(reconcileTtlSeconds * SECOND_MS, REPLACEMENT_WINDOW_MS, LONGEST_RETRY_MS),
});

/** @returns the times at which a revocation is due */
export const dueRevocations = (nowMs: number): DueTimes => ({
  untilMs: nowMs,
  fromMs: nowMs + Math.max(LONGEST_RETRY_MS, ATTEMPT_LEASE_MS),
});

/** The conditions under which reasonToCall checks a key. */
export interface ProvisionConditions {
  nowMs: number;
  due: DueTimes;
  configurationDigest: string;
  /** a person requested it: ignore the retry delay */
  manual: boolean;
  /** call even if nothing is due */
  force: boolean;
}

/** @returns why the provisioner must be called; undefined if the stored state is the response */
export function reasonToCall(
  row: KeyRow | undefined,
  conditions: ProvisionConditions,
): ProvisionReason | undefined {
  if (!row) return "missing";
  const { nowMs, due, configurationDigest, manual, force } = conditions;
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

/** A lease that ends later than possible was written before the clock was set back, so it counts as ended. */
const isAhead = (untilMs: number, { nowMs, mostMs }: { nowMs: number; mostMs: number }): boolean =>
  untilMs > nowMs && untilMs <= nowMs + mostMs;

/** @returns when a rejected key is replaced automatically: now while within the budget, otherwise when the window ends */
export function nextReplacementMs(row: KeyRow, nowMs: number): number {
  const windowMs = windowOf(row, nowMs);
  return windowMs === undefined || row.replacements < REPLACEMENTS_MAX
    ? nowMs
    : windowMs + REPLACEMENT_WINDOW_MS;
}

/** @returns when the budget's current window began; undefined for none */
export const windowOf = ({ replacementsSinceMs }: KeyRow, nowMs: number): number | undefined =>
  replacementsSinceMs !== null &&
  replacementsSinceMs <= nowMs &&
  replacementsSinceMs > nowMs - REPLACEMENT_WINDOW_MS
    ? replacementsSinceMs
    : undefined;

/** Columns of a row without a key. */
export const NO_KEY = {
  externalId: null,
  alias: null,
  metadata: null,
  sealedCredential: null,
  sealingKeyId: null,
  expiresAtMs: null,
  reconciledAtMs: null,
  validatedAtMs: null,
} as const;

/** @returns a row, not yet stored, for a user whose first attempt begins */
export const newKeyRow = (
  owner: Pick<KeyRow, "userId" | "organizationId" | "email" | "credentialVersion">,
  nowMs: number,
): KeyRow => ({
  ...owner,
  ...NO_KEY,
  state: nextState("missing", "begun"),
  configurationDigest: null,
  invalidatedAtMs: null,
  invalidationReason: null,
  problemCode: null,
  problem: null,
  failures: 0,
  replacements: 0,
  replacementsSinceMs: null,
  nextAttemptAtMs: null,
  recoveringUntilMs: null,
  recoveringBy: null,
  leftovers: false,
  createdAtMs: nowMs,
  updatedAtMs: nowMs,
});

/** @returns the changes that lease a row to an attempt; an automatic replacement uses up some of its budget */
export function leaseChanges(
  row: KeyRow,
  { nowMs, manual }: Pick<ProvisionConditions, "nowMs" | "manual">,
): Partial<KeyRow> {
  const untilMs = nowMs + ATTEMPT_LEASE_MS;
  const windowMs = windowOf(row, nowMs);
  return {
    state: row.state === "ready" ? "ready" : nextState(row.state, "begun"),
    recoveringUntilMs: untilMs,
    nextAttemptAtMs: untilMs,
    ...(row.invalidatedAtMs !== null &&
      !manual && {
        replacements: windowMs === undefined ? 1 : row.replacements + 1,
        replacementsSinceMs: windowMs ?? nowMs,
      }),
  };
}

/** @returns the usable key of a row, without its secret; null for none */
export const previousKey = (row: KeyRow | undefined): PreviousKey | null =>
  row?.state === "ready" && row.externalId !== null && row.alias !== null
    ? {
        externalId: row.externalId,
        alias: row.alias,
        metadata: row.metadata === null ? null : JSON.parse(row.metadata),
      }
    : null;

/** @returns what is missing in a successful response; undefined if it is complete */
export function missingFields(row: KeyRow, key: ProvisionedKey, nowMs: number): string | undefined {
  if (key.externalId.trim() === "") return "the provisioner returned no external id";
  if (key.alias.trim() === "") return "the provisioner returned no alias";
  if (key.credential?.reveal().trim() === "") return "the provisioner returned a blank credential";
  if (!key.credential && row.sealedCredential === null) return "the provisioner returned no credential";
  if (key.expiresAtMs !== null && key.expiresAtMs <= nowMs)
    return "the provisioner returned a key that has expired";
  return undefined;
}
