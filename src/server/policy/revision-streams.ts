// Event streams that notify workstations of new policy revisions. One timer serves all streams: it detects new revisions and
// ended logins, including those that another process wrote, and sends keepalive comments. Events carry only the revision id;
// clients fetch the policy with a separate request.
import { Gauge, type Registry } from "prom-client";
import { type LoginWatch, loginIdOf, type Principal } from "../../domain/access/service.ts";
import type { Delivery } from "../../domain/governance/delivery/delivery.ts";
import type { Governance } from "../../domain/governance/service.ts";
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";

/** Limit on open streams; further callers are asked to retry later. */
export const STREAMS_MAX = 10_000;
/** Limit on open streams per login: a device grant, or the login session of a browser. */
export const STREAMS_PER_LOGIN_MAX = 64;
/** Limit on open streams per user, over all logins. */
export const STREAMS_PER_USER_MAX = 256;
/** Limit on events queued for a slow reader. Beyond it the stream ends, and the client reconnects for the newest revision. */
export const EVENTS_WAITING_MAX = 256;
export const KEEPALIVE_MS = 15 * SECOND_MS;
/** Polling interval, and thus the maximum delay for a new revision or an ended login. */
export const BEAT_MS = 500;
/** Keepalives are spread over this many beats, so that one beat does not delay the others. */
export const PARTS = KEEPALIVE_MS / BEAT_MS;
/** Reconnect delay sent to clients, randomized because many streams often end at once. */
const RETRY_MS = { least: 2_000, spread: 8_000 };
const FULL_RETRY_SECONDS = 60;
const SHORTEST_MS = SECOND_MS;

const encoder = new TextEncoder();
const KEEPALIVE = encoder.encode(": keepalive\n\n");

const eventOf = (revision: string): string =>
  `event: revision\nid: ${revision}\ndata: ${JSON.stringify({ revision })}\n`;

interface OpenStream {
  readonly organizationId: string;
  readonly loginId: string;
  readonly userId: string;
  readonly endsAtMs: number;
  /** the beat of a round in which it gets a keepalive */
  readonly part: number;
  /** sequence number of the last revision sent to it */
  told: number;
  controller: ReadableStreamDefaultController<Uint8Array> | undefined;
}

export interface RevisionStreamsOptions {
  delivery: Pick<Delivery, "inForce">;
  governance: Pick<Governance, "revisions">;
  loginWatch: LoginWatch;
  clock: Clock;
  log: Log;
  metrics: Registry;
}

export class RevisionStreams {
  readonly #streams = new Set<OpenStream>();
  readonly #openPerLogin = new OpenCounts();
  readonly #openPerUser = new OpenCounts();
  /** by organization: sequence number of the last revision sent to all its streams */
  readonly #told = new Map<string, number>();
  #timer: Timer | undefined;
  #beats = 0;
  #opened = 0;
  #loginRevision = -1;
  #isClosed = false;

  constructor(private readonly own: RevisionStreamsOptions) {
    const streams = this.#streams;
    new Gauge({
      name: "quartermaster_policy_streams",
      help: "Open streams of policy revisions",
      registers: [own.metrics],
      collect() {
        this.set(streams.size);
      },
    });
  }

  /**
   * @returns a stream that starts with the revision in force and ends when the caller's credential expires, or earlier
   * @throws DomainError `governance.no_policy`, `governance.not_computed`, `governance.streams_full`,
   *   `governance.too_many_streams`, `service.stopping`
   */
  open(principal: Principal): ReadableStream<Uint8Array> {
    if (this.#isClosed) throw stopping();
    if (this.#streams.size >= STREAMS_MAX) throw full();
    const { organizationId, userId } = principal;
    const loginId = loginIdOf(principal);
    this.#refuseTooMany({ loginId, userId });
    const { id, sequence } = this.own.delivery.inForce(organizationId);
    if (!this.#told.has(organizationId)) this.#told.set(organizationId, sequence);
    const stream: OpenStream = {
      organizationId,
      loginId,
      userId,
      endsAtMs: Math.max(principal.expiresAtMs, this.own.clock.nowMs() + SHORTEST_MS),
      part: this.#opened++ % PARTS,
      told: sequence,
      controller: undefined,
    };
    const retryMs = Math.round(RETRY_MS.least + Math.random() * RETRY_MS.spread);
    const start = (controller: ReadableStreamDefaultController<Uint8Array>) => {
      stream.controller = controller;
      this.#remember(stream);
      this.#timer ??= setInterval(this.#guardedBeat, BEAT_MS);
      controller.enqueue(encoder.encode(`${eventOf(id)}retry: ${retryMs}\n\n`));
    };
    const cancel = () => this.#forget(stream);
    return new ReadableStream({ start, cancel }, { highWaterMark: EVENTS_WAITING_MAX });
  }

  /** Ends every stream, so that the listener can stop, and rejects new ones. */
  close(): void {
    this.#isClosed = true;
    this.#endAll();
  }

  /** Prevents one login or user from using up STREAMS_MAX. */
  #refuseTooMany({ loginId, userId }: Pick<OpenStream, "loginId" | "userId">): void {
    if (this.#openPerLogin.of(loginId) >= STREAMS_PER_LOGIN_MAX)
      throw tooMany("login", STREAMS_PER_LOGIN_MAX);
    if (this.#openPerUser.of(userId) >= STREAMS_PER_USER_MAX) throw tooMany("user", STREAMS_PER_USER_MAX);
  }

  /** Runs once per timer interval. */
  beat(): void {
    this.#endOver();
    this.#tellNews();
    this.#keepWarm(this.#beats++ % PARTS);
  }

  /** A failure may have skipped a revision. Ending all streams makes clients reconnect and receive the newest. */
  readonly #guardedBeat = (): void => {
    try {
      this.beat();
    } catch (error) {
      this.own.log.error("governance.streams_ended", { error });
      this.#endAll();
    }
  };

  #endOver(): void {
    const nowMs = this.own.clock.nowMs();
    for (const stream of this.#streams) if (nowMs >= stream.endsAtMs) this.#end(stream);
    const revision = this.own.loginWatch.revision();
    if (revision === this.#loginRevision) return;
    this.#loginRevision = revision;
    const ended = this.own.loginWatch.endedAmong([...this.#streams].map(({ loginId }) => loginId));
    if (ended.size === 0) return;
    for (const stream of this.#streams) if (ended.has(stream.loginId)) this.#end(stream);
  }

  #tellNews(): void {
    for (const [organizationId, told] of this.#told) {
      const { sequence } = this.own.delivery.inForce(organizationId);
      if (sequence === told) continue;
      this.#told.set(organizationId, sequence);
      const news = this.own.governance.revisions
        .list(organizationId)
        .filter((revision) => revision.sequence > told)
        .toReversed()
        .map((revision) => ({ ...revision, event: encoder.encode(`${eventOf(revision.id)}\n`) }));
      for (const stream of this.#streams) {
        if (stream.organizationId !== organizationId) continue;
        for (const { sequence, event } of news) if (sequence > stream.told) this.#send(stream, event);
        stream.told = sequence;
      }
    }
  }

  #keepWarm(part: number): void {
    for (const stream of this.#streams) if (stream.part === part) this.#send(stream, KEEPALIVE);
  }

  #send(stream: OpenStream, bytes: Uint8Array): void {
    const room = stream.controller?.desiredSize ?? 0;
    if (room > 0) stream.controller?.enqueue(bytes);
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

  #remember(stream: OpenStream): void {
    this.#streams.add(stream);
    this.#openPerLogin.add(stream.loginId);
    this.#openPerUser.add(stream.userId);
  }

  #forget(stream: OpenStream): void {
    if (!this.#streams.delete(stream)) return;
    this.#openPerLogin.remove(stream.loginId);
    this.#openPerUser.remove(stream.userId);
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

const tooMany = (holder: "login" | "user", max: number) =>
  new DomainError(
    "too_many",
    "governance.too_many_streams",
    `this ${holder} has ${max} event streams open, the maximum for one ${holder}`,
    {
      hint: "close some of them, or poll the policy instead",
      retryAfterSeconds: FULL_RETRY_SECONDS,
    },
  );

const full = () =>
  new DomainError("unavailable", "governance.streams_full", "too many event streams are open", {
    hint: "poll the policy instead, or try again later",
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });

const stopping = () =>
  new DomainError("unavailable", "service.stopping", "the service is stopping; try again in a moment", {
    retryAfterSeconds: 1,
  });
