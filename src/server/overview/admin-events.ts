// Event streams that tell open pages of the console what has changed. One timer serves all streams. Events carry numbers only,
// never personal data; the page then reads its own address again. A page without a stream polls.
import { type LoginWatch, loginIdOf, type Principal } from "../../domain/access/service.ts";
import { type Clock, MINUTE_MS, SECOND_MS } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Overview } from "./overview.ts";

/** Limit on open streams; further pages poll. */
export const ADMIN_STREAMS_MAX = 500;
export const HEARTBEAT_MS = 15 * SECOND_MS;
/** Interval in which changes and ended logins are noticed. */
export const WATCH_MS = SECOND_MS;
/** Interval in which the checks of doctor are made again while a stream is open. */
export const CHECK_MS = MINUTE_MS;
/** Limit on events that wait for a slow reader, whose stream then ends. */
export const EVENTS_WAITING_MAX = 64;
const RETRY_MS = { least: 2_000, spread: 8_000 };
const FULL_RETRY_SECONDS = 30;

export const ADMIN_EVENTS = ["revision", "clients", "keys", "jobs", "problem"] as const;
type AdminEvent = (typeof ADMIN_EVENTS)[number];
/** A number for each event, which grows or changes with the data behind the event. */
type Numbers = Readonly<Record<AdminEvent, number>>;

const encoder = new TextEncoder();
const HEARTBEAT = encoder.encode(": heartbeat\n\n");

interface OpenStream {
  readonly organizationId: string;
  readonly loginId: string;
  readonly endsAtMs: number;
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
}

export interface AdminEventsOptions {
  overview: Pick<Overview, "knownProblems" | "problems">;
  /** @returns the sequence of the revision in force, 0 for none */
  revision(organizationId: string): number;
  /** numbers that grow with every change of workstations, gateway keys and jobs */
  changes: Readonly<Record<"clients" | "keys" | "jobs", () => number>>;
  loginWatch: LoginWatch;
  clock: Clock;
  log: Log;
}

export class AdminEvents {
  readonly #streams = new Set<OpenStream>();
  /** by organization: the numbers at the last event */
  readonly #told = new Map<string, Numbers>();
  #timer: Timer | undefined;
  #loginRevision = -1;
  #heartbeatAtMs = 0;
  #checkAtMs = 0;
  #isClosed = false;

  constructor(private readonly own: AdminEventsOptions) {}

  /**
   * @returns a stream of events from now on, which ends with the caller's session or earlier
   * @throws DomainError `console.streams_full`, `service.stopping`
   */
  open(principal: Principal): ReadableStream<Uint8Array> {
    if (this.#isClosed) throw stopping();
    if (this.#streams.size >= ADMIN_STREAMS_MAX) throw full();
    const { organizationId, expiresAtMs } = principal;
    const stream: OpenStream = {
      organizationId,
      loginId: loginIdOf(principal),
      endsAtMs: expiresAtMs,
      controller: undefined,
    };
    if (!this.#told.has(organizationId)) this.#told.set(organizationId, this.#numbers(organizationId));
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      stream.controller = controller;
      this.#streams.add(stream);
      this.#timer ??= setInterval(this.#guardedBeat, WATCH_MS);
      const retryMs = Math.round(RETRY_MS.least + Math.random() * RETRY_MS.spread);
      controller.enqueue(encoder.encode(`retry: ${retryMs}\n\n`));
    };
    const cancel = () => this.#forget(stream);
    return new ReadableStream({ start, cancel }, { highWaterMark: EVENTS_WAITING_MAX });
  }

  /** Ends every stream, so that the listener can stop, and rejects new ones. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  /** Runs once per timer interval. */
  beat(): void {
    const nowMs = this.own.clock.nowMs();
    this.#endOver(nowMs);
    for (const [organizationId, told] of this.#told) this.#tell(organizationId, told);
    if (nowMs >= this.#checkAtMs) {
      this.#checkAtMs = nowMs + CHECK_MS;
      for (const id of this.#told.keys()) this.own.overview.problems(id).catch(this.#note);
    }
    if (nowMs < this.#heartbeatAtMs) return;
    this.#heartbeatAtMs = nowMs + HEARTBEAT_MS;
    for (const stream of this.#streams) this.#send(stream, HEARTBEAT);
  }

  readonly #note = (error: unknown): void => this.own.log.error("console.events_ended", { error });

  /** A failure may have skipped an event. When streams end, pages connect again and read themselves. */
  readonly #guardedBeat = (): void => {
    try {
      this.beat();
    } catch (error) {
      this.#note(error);
      this.#endAll();
    }
  };

  #numbers(organizationId: string): Numbers {
    const { overview, revision, changes } = this.own;
    return {
      revision: revision(organizationId),
      clients: changes.clients(),
      keys: changes.keys(),
      jobs: changes.jobs(),
      problem: overview.knownProblems(organizationId) ?? 0,
    };
  }

  #tell(organizationId: string, told: Numbers): void {
    const numbers = this.#numbers(organizationId);
    const moved = ADMIN_EVENTS.filter((event) => numbers[event] !== told[event]);
    if (moved.length === 0) return;
    this.#told.set(organizationId, numbers);
    const text = moved.map(
      (event) => `event: ${event}\ndata: ${JSON.stringify({ number: numbers[event] })}\n\n`,
    );
    const bytes = encoder.encode(text.join(""));
    for (const stream of this.#streams)
      if (stream.organizationId === organizationId) this.#send(stream, bytes);
  }

  #endOver(nowMs: number): void {
    for (const stream of this.#streams) if (nowMs >= stream.endsAtMs) this.#end(stream);
    const revision = this.own.loginWatch.revision();
    if (revision === this.#loginRevision) return;
    this.#loginRevision = revision;
    const ended = this.own.loginWatch.endedAmong([...this.#streams].map(({ loginId }) => loginId));
    for (const stream of this.#streams) if (ended.has(stream.loginId)) this.#end(stream);
  }

  #send(stream: OpenStream, bytes: Uint8Array): void {
    if ((stream.controller?.desiredSize ?? 0) > 0) stream.controller?.enqueue(bytes);
    else this.#end(stream);
  }

  #end(stream: OpenStream): void {
    if (!this.#streams.has(stream)) return;
    this.#forget(stream);
    stream.controller?.close();
  }

  #endAll(): void {
    for (const stream of this.#streams) this.#end(stream);
  }

  #forget(stream: OpenStream): void {
    this.#streams.delete(stream);
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#told.clear();
  }
}

const full = () =>
  new DomainError("unavailable", "console.streams_full", "too many event streams are open", {
    hint: "read the page again at intervals instead",
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });

const stopping = () =>
  new DomainError("unavailable", "service.stopping", "the service is stopping; try again in a moment", {
    retryAfterSeconds: 1,
  });
