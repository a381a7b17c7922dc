// Event streams that inform open pages of the console about changes. One timer serves all streams. Events carry numbers only,
// never personal data; the page then reads its own address again. A page without a stream polls.
import { type LoginWatch, loginIdOf, type Principal } from "../../domain/access/service.ts";
import { type Clock, MINUTE_MS, SECOND_MS } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";
import { type EventStream, EventStreams, type StreamHolders } from "../http/event-streams.ts";
import type { Overview } from "./overview.ts";

/** Limit on open streams; further pages poll. */
export const ADMIN_STREAMS_MAX = 500;
export const HEARTBEAT_MS = 15 * SECOND_MS;
/** Interval for detecting changes and ended logins. */
export const WATCH_MS = SECOND_MS;
/** Interval for repeating the checks of doctor while a stream is open. */
export const CHECK_MS = MINUTE_MS;
/** Limit on events that wait for a slow reader; beyond it, the stream ends. */
export const EVENTS_WAITING_MAX = 64;
const FULL_RETRY_SECONDS = 30;

export const ADMIN_EVENTS = ["revision", "clients", "keys", "jobs", "problem"] as const;
type AdminEvent = (typeof ADMIN_EVENTS)[number];
/** A number for each event, which changes with the event's data. */
type Numbers = Readonly<Record<AdminEvent, number>>;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": heartbeat\n\n");

export interface AdminEventsOptions {
  overview: Pick<Overview, "knownProblems" | "problems">;
  /** @returns the sequence of the revision in force, 0 for none */
  revision(organizationId: string): number;
  /** numbers that grow with every change of workstations, gateway keys and jobs */
  changes: Readonly<Record<"clients" | "keys" | "jobs", () => number>>;
  loginWatch: LoginWatch;
  holders: StreamHolders;
  clock: Clock;
  log: Log;
}

export class AdminEvents {
  readonly #streams: EventStreams<EventStream>;
  /** by organization: the numbers at the last event */
  readonly #sent = new Map<string, Numbers>();
  #heartbeatAtMs = 0;
  #checkAtMs = 0;

  constructor(private readonly options: AdminEventsOptions) {
    this.#streams = new EventStreams({
      ...options,
      intervalMs: WATCH_MS,
      beat: () => this.beat(),
      onError: this.#note,
      eventsWaitingMax: EVENTS_WAITING_MAX,
      streamsMax: ADMIN_STREAMS_MAX,
      full,
      tooMany,
      onEnd: () => {
        if (this.#streams.size === 0) this.#sent.clear();
      },
    });
  }

  /**
   * @returns a stream of events from now on, which ends with the caller's session or earlier
   * @throws DomainError `console.too_many_streams`, `console.streams_full`, `service.stopping`
   */
  open(principal: Principal): ReadableStream<Uint8Array> {
    const { organizationId, userId, expiresAtMs } = principal;
    const loginId = loginIdOf(principal);
    this.#streams.assertCapacityFor({ loginId, userId });
    if (!this.#sent.has(organizationId)) this.#sent.set(organizationId, this.#numbers(organizationId));
    return this.#streams.open({
      organizationId,
      loginId,
      userId,
      endsAtMs: expiresAtMs,
      controller: undefined,
    });
  }

  /** Ends every stream, so that the listener can stop, and rejects new ones. */
  close(): void {
    this.#streams.close();
  }

  /** Runs once per timer interval. */
  beat(): void {
    const nowMs = this.options.clock.nowMs();
    this.#streams.endOver();
    for (const [organizationId, sent] of this.#sent) this.#sendChanges(organizationId, sent);
    if (nowMs >= this.#checkAtMs) {
      this.#checkAtMs = nowMs + CHECK_MS;
      for (const id of this.#sent.keys()) this.options.overview.problems(id).catch(this.#note);
    }
    if (nowMs < this.#heartbeatAtMs) return;
    this.#heartbeatAtMs = nowMs + HEARTBEAT_MS;
    for (const stream of this.#streams) this.#streams.send(stream, HEARTBEAT);
  }

  readonly #note = (error: unknown): void => this.options.log.error("console.events_ended", { error });

  #numbers(organizationId: string): Numbers {
    const { overview, revision, changes } = this.options;
    return {
      revision: revision(organizationId),
      clients: changes.clients(),
      keys: changes.keys(),
      jobs: changes.jobs(),
      problem: overview.knownProblems(organizationId) ?? 0,
    };
  }

  #sendChanges(organizationId: string, sent: Numbers): void {
    const numbers = this.#numbers(organizationId);
    const moved = ADMIN_EVENTS.filter((event) => numbers[event] !== sent[event]);
    if (moved.length === 0) return;
    this.#sent.set(organizationId, numbers);
    const text = moved.map(
      (event) => `event: ${event}\ndata: ${JSON.stringify({ number: numbers[event] })}\n\n`,
    );
    const bytes = encoder.encode(text.join(""));
    for (const stream of this.#streams)
      if (stream.organizationId === organizationId) this.#streams.send(stream, bytes);
  }
}

const tooMany = (message: string) =>
  new DomainError("too_many", "console.too_many_streams", message, {
    hint: "read the page again at intervals instead",
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });

const full = () =>
  new DomainError("unavailable", "console.streams_full", "too many event streams are open", {
    hint: "read the page again at intervals instead",
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });
