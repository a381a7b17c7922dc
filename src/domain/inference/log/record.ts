// The row of the request log for one inference request, and the interfaces of log, usage and budgets that a request calls.
// Forwarding and refusals build the row. Nothing here waits or throws.

/** How a request ended; null while it runs. */
export const OUTCOMES = [
  "complete",
  "client_closed",
  "upstream_closed",
  "timeout",
  "cut",
  "stopped",
  "refused",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Whether the response reported its tokens completely, only partly, or not at all. Tokens are never estimated. */
export const USAGE_SOURCES = ["reported", "partial", "none"] as const;
export type UsageSource = (typeof USAGE_SOURCES)[number];

/** Metadata of one request: never a body, a query string, a credential or an address. This list of members is closed. */
export interface RequestRow {
  /** our own UUID; a second row with the same id completes the first one */
  readonly id: string;
  readonly userId: string;
  readonly organizationId: string;
  /** external id of the key's profile, and its alias at that time */
  readonly profileId: string | null;
  readonly profileName: string | null;
  /** arrival, UTC milliseconds */
  readonly occurredAtMs: number;
  readonly method: string;
  /** canonical path without the query string */
  readonly path: string;
  readonly model: string | null;
  /** status that the client got, from the upstream or from this service; null before that, and if the client disconnected first */
  readonly httpStatus: number | null;
  /** until the upstream's response headers, or until the end without a response */
  readonly upstreamLatencyMs: number;

  // Attribution: the workstation's claims, which may be wrong.
  readonly harness: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  readonly commitSha: string | null;
  readonly dirty: boolean | null;
  readonly runId: string | null;
  /** whether at least one claim comes from an attribution header of the workstation */
  readonly claimed: boolean;

  readonly requestId: string | null;
  readonly durationMs: number | null;
  readonly firstByteMs: number | null;
  readonly requestBytes: number | null;
  readonly responseBytes: number | null;
  readonly stream: boolean | null;
  readonly outcome: Outcome | null;
  /** reason of a refusal, such as `inference.budget`; `would_refuse` if a rule only logs */
  readonly refusal: string | null;
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
  readonly cacheReadTokens: number | null;
  readonly cacheWriteTokens: number | null;
  readonly usageSource: UsageSource | null;
  /** in US dollars, as reported by the upstream */
  readonly upstreamCost: number | null;
}

/** The members of a request whose response is unknown. */
export const NO_RESPONSE = {
  firstByteMs: null,
  requestBytes: null,
  responseBytes: null,
  stream: null,
  inputTokens: null,
  outputTokens: null,
  cacheReadTokens: null,
  cacheWriteTokens: null,
  usageSource: null,
  upstreamCost: null,
} as const satisfies Partial<RequestRow>;

export interface RequestLog {
  /** Puts the row into a bounded queue, or counts it as dropped. Never waits and never throws. */
  add(row: RequestRow): void;
}

export interface UsageCounter {
  /** Adds a finished request to the sums of its day. Called once per request. Never waits and never throws. */
  count(row: RequestRow): void;
}

/** The daily budget that the user has used up. */
export type ExceededBudget = "requests" | "tokens";

export interface Budgets {
  /** @returns undefined if the user may send another request today */
  exceeded(userId: string): ExceededBudget | undefined;
  /** @returns seconds until midnight UTC, when budgets are reset; at least 1 */
  retryAfterSeconds(): number;
}
