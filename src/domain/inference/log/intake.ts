// Receives rows from a separate inference proxy: all rows of a batch or none.
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { type Clock, MINUTE_MS } from "../../../platform/clock.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { UUID_PATTERN } from "../../../platform/ids.ts";
import { growingCache } from "../../../platform/memory/growing-cache.ts";
import { PROBLEMS_MAX } from "../../../platform/text/problem-list.ts";
import { invalidLog, refuse } from "./query.ts";
import { NO_RESPONSE, type RequestRow, type UsageCounter } from "./record.ts";

/** Maximum number of rows in one batch. */
export const EVENTS_MAX = 500;
/** How far the clock of the proxy may be ahead. */
export const AHEAD_MS_MAX = 5 * MINUTE_MS;
const RETRY_SECONDS = 5;
/** Number of remembered ids, far more than the rows that a proxy may resend. */
export const COUNTED_IDS_MAX = 50_000;

const textOrNull = (maxLength: number) =>
  Type.Optional(Type.Union([Type.String({ maxLength }), Type.Null()]));
const Id = Type.String({ pattern: UUID_PATTERN.source, description: "a UUID" });
/** RFC 3339 */
const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;

/** One row from the proxy. */
export const RequestLogEvent = Type.Object(
  {
    id: Id,
    organization_id: Id,
    user_id: Id,
    profile_id: textOrNull(512),
    profile_name: textOrNull(512),
    occurred_at: Type.String({ pattern: TIME.source, description: "RFC 3339" }),
    method: Type.String({ pattern: "^[!-~]{1,16}$" }),
    path: Type.String({ pattern: "^/", maxLength: 2048, description: "without the query string" }),
    model: textOrNull(512),
    http_status: Type.Optional(Type.Union([Type.Integer({ minimum: 100, maximum: 599 }), Type.Null()])),
    upstream_latency_ms: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    harness: textOrNull(128),
    repository: textOrNull(2048),
    branch: textOrNull(512),
    commit_sha: textOrNull(128),
    dirty: Type.Optional(Type.Union([Type.Boolean(), Type.Null()])),
    run_id: textOrNull(512),
  },
  { additionalProperties: true }, // a newer proxy may send more members
);
type Event = Static<typeof RequestLogEvent>;

export const RequestLogBatch = Type.Object(
  { events: Type.Array(RequestLogEvent, { minItems: 1, maxItems: EVENTS_MAX }) },
  { additionalProperties: false },
);

export interface IntakeDependencies {
  clock: Clock;
  /** @returns whether the user belongs to the organization */
  hasUser(organizationId: string, userId: string): boolean;
  /** accepts all rows or none; undefined if no service runs */
  offer: ((rows: readonly RequestRow[]) => boolean) | undefined;
  usage: UsageCounter;
}

export class LogIntake {
  /** ids of the latest rows */
  readonly #counted = growingCache<true>(COUNTED_IDS_MAX);

  constructor(private readonly dependencies: IntakeDependencies) {}

  /** Queues one row, with the rules of `takeBatch`. */
  take(body: unknown): void {
    this.#take([checked(RequestLogEvent, body)], () => "");
  }

  /**
   * Queues the rows. A row with a known id changes nothing.
   * @throws DomainError `request_log.invalid` with all problems; `request_log.full` if the queue is full
   */
  takeBatch(body: unknown): void {
    this.#take(checked(RequestLogBatch, body).events, (index) => `/events/${index}`);
  }

  #take(events: readonly Event[], at: (index: number) => string): void {
    const problems: Problem[] = [];
    const rows = events.map((event, index) => this.#rowOf(event, { at: at(index), problems }));
    refuse(problems);
    if (!this.dependencies.offer?.(rows)) throw full();
    for (const row of rows) this.#count(row);
  }

  /** A proxy that received no response sends its rows again. The log ignores known ids, and the sums must ignore them too. */
  #count(row: RequestRow): void {
    if (this.#counted.has(row.id)) return;
    this.#counted.set(row.id, true);
    this.dependencies.usage.count(row);
  }

  #rowOf(event: Event, { at, problems }: { at: string; problems: Problem[] }): RequestRow {
    const { clock, hasUser } = this.dependencies;
    const occurredAtMs = Date.parse(event.occurred_at);
    if (Number.isNaN(occurredAtMs) || occurredAtMs > clock.nowMs() + AHEAD_MS_MAX)
      problems.push({ pointer: `${at}/occurred_at`, detail: "occurred_at must not be in the future" });
    if (!hasUser(event.organization_id, event.user_id))
      problems.push({ pointer: `${at}/user_id`, detail: "user_id must be a user of the organization" });
    return { ...rowFrom(event), occurredAtMs };
  }
}

/** A proxy expects 400 for an invalid row, so the body is not validated like those of other operations, which answer 422. */
function checked<T extends TSchema>(schema: T, body: unknown): Static<T> {
  if (Value.Check(schema, body)) return body;
  // Keeps the first problem of each member, because a missing member is also reported as mistyped.
  const problems = new Map<string, Problem>();
  for (const { path, message } of Value.Errors(schema, body)) {
    const finding = `${message.charAt(0).toLowerCase()}${message.slice(1)}`;
    if (!problems.has(path))
      problems.set(path, { pointer: path, detail: `${path || "the body"}: ${finding}` });
    if (problems.size === PROBLEMS_MAX) break;
  }
  throw invalidLog([...problems.values()]);
}

const rowFrom = (event: Event): Omit<RequestRow, "occurredAtMs"> => {
  const claims = {
    harness: event.harness ?? null,
    repository: event.repository ?? null,
    branch: event.branch ?? null,
    commitSha: event.commit_sha ?? null,
    dirty: event.dirty ?? null,
    runId: event.run_id ?? null,
  };
  return {
    ...NOT_REPORTED,
    ...claims,
    id: event.id.toLowerCase(),
    userId: event.user_id.toLowerCase(),
    organizationId: event.organization_id.toLowerCase(),
    profileId: event.profile_id ?? null,
    profileName: event.profile_name ?? null,
    method: event.method,
    path: event.path,
    model: event.model ?? null,
    httpStatus: event.http_status ?? null,
    upstreamLatencyMs: event.upstream_latency_ms,
    claimed: Object.values(claims).some((claim) => claim !== null),
  };
};

/** Members that a separate proxy does not report. */
const NOT_REPORTED = {
  ...NO_RESPONSE,
  requestId: null,
  durationMs: null,
  outcome: null,
  refusal: null,
} as const;

const full = (): DomainError =>
  new DomainError("unavailable", "request_log.full", "the queue of the request log is full", {
    hint: "send them again later",
    retryAfterSeconds: RETRY_SECONDS,
  });
