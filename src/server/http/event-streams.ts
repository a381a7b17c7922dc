// A set of open event streams that one timer serves, with limits per login and user. A stream ends with its login,
// after its time limit, when its reader is too slow, or with the service.
import type { LoginWatch } from "../../domain/access/service.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";

/** Limit on open streams of all kinds per login: a device grant, or the login session of a browser. */
export const STREAMS_PER_LOGIN_MAX = 64;
/** Limit on open streams of all kinds per user, over all logins. */
export const STREAMS_PER_USER_MAX = 256;
/** Reconnect delay sent to clients, randomized because many streams often end at the same time. */
const RETRY_MS = { least: 2_000, spread: 8_000 };

const encoder = new TextEncoder();

export interface EventStream {
  readonly organizationId: string;
  readonly loginId: string;
  readonly userId: string;
  /** UTC milliseconds */
  readonly endsAtMs: number;
  /** undefined until the stream has started */
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
}

export interface EventStreamsOptions {
  loginWatch: LoginWatch;
  clock: Clock;
  intervalMs: number;
  /** Runs once per interval while a stream is open. */
  beat(): void;
  /** Called with an error of `beat`. All streams then end, because an event may be missing. Clients get the newest event when they reconnect. */
  onError(error: unknown): void;
  /** Limit on events that wait for a slow reader; beyond it, the stream ends. */
  eventsWaitingMax: number;
  /** the open streams of logins and users, shared by all kinds of streams */
  holders: StreamHolders;
  /** limit on open streams of this kind */
  streamsMax: number;
  /** @returns the error for a caller above `streamsMax` */
  full(): DomainError;
  /** @returns the error with that message for a login or a user above its limit */
  tooMany(message: string): DomainError;
  onEnd?(): void;
}

export class EventStreams<Stream extends EventStream> {
  readonly #streams = new Set<Stream>();
  #timer: Timer | undefined;
  #loginRevision = -1;
  #isClosed = false;

  constructor(private readonly options: EventStreamsOptions) {}

  get size(): number {
    return this.#streams.size;
  }

  [Symbol.iterator](): Iterator<Stream> {
    return this.#streams.values();
  }

  /** @throws DomainError `service.stopping` after `close`; the errors of `full` and `tooMany` */
  assertCapacityFor({ loginId, userId }: Pick<EventStream, "loginId" | "userId">): void {
    if (this.#isClosed) throw stopping();
    if (this.size >= this.options.streamsMax) throw this.options.full();
    const { logins, users } = this.options.holders;
    this.#refuseTooMany("login", logins.of(loginId), STREAMS_PER_LOGIN_MAX);
    this.#refuseTooMany("user", users.of(userId), STREAMS_PER_USER_MAX);
  }

  /** Prevents one login or user from using up all streams. */
  #refuseTooMany(holder: "login" | "user", open: number, max: number): void {
    if (open < max) return;
    throw this.options.tooMany(`this ${holder} has ${max} event streams open, the maximum for one ${holder}`);
  }

  /**
   * @param first fields of the first event; empty for none
   * @returns the bytes of the stream
   */
  open(stream: Stream, first = ""): ReadableStream<Uint8Array> {
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      stream.controller = controller;
      this.#streams.add(stream);
      this.options.holders.logins.add(stream.loginId);
      this.options.holders.users.add(stream.userId);
      this.#timer ??= setInterval(this.#guardedBeat, this.options.intervalMs);
      const retryMs = Math.round(RETRY_MS.least + Math.random() * RETRY_MS.spread);
      controller.enqueue(encoder.encode(`${first}retry: ${retryMs}\n\n`));
    };
    const cancel = () => this.#forget(stream);
    return new ReadableStream({ start, cancel }, { highWaterMark: this.options.eventsWaitingMax });
  }

  send(stream: Stream, bytes: Uint8Array): void {
    if ((stream.controller?.desiredSize ?? 0) > 0) stream.controller?.enqueue(bytes);
    else this.#end(stream);
  }

  /** Ends the streams whose time limit has passed or whose login has ended. */
  endOver(): void {
    const nowMs = this.options.clock.nowMs();
    for (const stream of this.#streams) if (nowMs >= stream.endsAtMs) this.#end(stream);
    const revision = this.options.loginWatch.revision();
    if (revision === this.#loginRevision) return;
    this.#loginRevision = revision;
    const ended = this.options.loginWatch.endedAmong([...this.#streams].map(({ loginId }) => loginId));
    if (ended.size === 0) return;
    for (const stream of this.#streams) if (ended.has(stream.loginId)) this.#end(stream);
  }

  /** Ends every stream, so that the listener can stop, and rejects new ones. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  readonly #guardedBeat = (): void => {
    try {
      this.options.beat();
    } catch (error) {
      this.options.onError(error);
      this.#endAll();
    }
  };

  #endAll(): void {
    for (const stream of this.#streams) this.#end(stream);
  }

  #end(stream: Stream): void {
    if (!this.#streams.has(stream)) return;
    this.#forget(stream);
    stream.controller?.close();
  }

  #forget(stream: Stream): void {
    if (!this.#streams.delete(stream)) return;
    this.options.holders.logins.remove(stream.loginId);
    this.options.holders.users.remove(stream.userId);
    this.options.onEnd?.();
    if (this.#streams.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

/** Open streams per id. Ids without streams use no memory. */
class OpenCounts {
  readonly #counts = new Map<string, number>();

  of(id: string): number {
    return this.#counts.get(id) ?? 0;
  }

  add(id: string): void {
    this.#counts.set(id, this.of(id) + 1);
  }

  remove(id: string): void {
    const left = this.of(id) - 1;
    if (left > 0) this.#counts.set(id, left);
    else this.#counts.delete(id);
  }
}

/** Open streams of all kinds, by the login and the user that hold them. */
export class StreamHolders {
  readonly logins = new OpenCounts();
  readonly users = new OpenCounts();
}

const stopping = () =>
  new DomainError("unavailable", "service.stopping", "the service is stopping; try again in a moment", {
    retryAfterSeconds: 1,
  });
