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
import { type EventStream, EventStreams, type StreamHolders } from "../http/event-streams.ts";

/** Limit on open streams. Further callers must retry later. */
export const STREAMS_MAX = 10_000;
/** Limit on events queued for a slow reader. Beyond it the stream ends, and the client reconnects for the newest revision. */
export const EVENTS_WAITING_MAX = 256;
export const KEEPALIVE_MS = 15 * SECOND_MS;
/** Polling interval, and thus the maximum delay for a new revision or an ended login. */
export const BEAT_MS = 500;
/** Keepalives are spread over this many beats, so that one beat does not delay the others. */
export const PARTS = KEEPALIVE_MS / BEAT_MS;
const FULL_RETRY_SECONDS = 60;
const SHORTEST_MS = SECOND_MS;

const encoder = new TextEncoder();
const KEEPALIVE = encoder.encode(": keepalive\n\n");

const eventOf = (revision: string): string =>
  `event: revision\nid: ${revision}\ndata: ${JSON.stringify({ revision })}\n`;

interface OpenStream extends EventStream {
  /** the beat of each round of PARTS in which it gets a keepalive */
  readonly part: number;
  /** sequence number of the last revision sent to it */
  sent: number;
}

export interface RevisionStreamsOptions {
  delivery: Pick<Delivery, "inForce">;
  governance: Pick<Governance, "revisions">;
  loginWatch: LoginWatch;
  holders: StreamHolders;
  clock: Clock;
  log: Log;
  metrics: Registry;
}

export class RevisionStreams {
  readonly #streams: EventStreams<OpenStream>;
  /** by organization: sequence number of the last revision sent to all its streams */
  readonly #sent = new Map<string, number>();
  #beats = 0;
  #opened = 0;

  constructor(private readonly options: RevisionStreamsOptions) {
    const streams = new EventStreams<OpenStream>({
      ...options,
      intervalMs: BEAT_MS,
      beat: () => this.beat(),
      onError: (error) => options.log.error("governance.streams_ended", { error }),
      eventsWaitingMax: EVENTS_WAITING_MAX,
      streamsMax: STREAMS_MAX,
      full,
      tooMany,
    });
    this.#streams = streams;
    new Gauge({
      name: "quartermaster_policy_streams",
      help: "Open streams of policy revisions",
      registers: [options.metrics],
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
    const { organizationId, userId } = principal;
    const loginId = loginIdOf(principal);
    this.#streams.assertCapacityFor({ loginId, userId });
    const { id, sequence } = this.options.delivery.inForce(organizationId);
    if (!this.#sent.has(organizationId)) this.#sent.set(organizationId, sequence);
    const stream: OpenStream = {
      organizationId,
      loginId,
      userId,
      endsAtMs: Math.max(principal.expiresAtMs, this.options.clock.nowMs() + SHORTEST_MS),
      part: this.#opened++ % PARTS,
      sent: sequence,
      controller: undefined,
    };
    return this.#streams.open(stream, eventOf(id));
  }

  /** Ends every stream, so that the listener can stop, and rejects new ones. */
  close(): void {
    this.#streams.close();
  }

  /** Runs once per timer interval. */
  beat(): void {
    this.#streams.endOver();
    this.#sendNewRevisions();
    this.#sendKeepalives(this.#beats++ % PARTS);
  }

  #sendNewRevisions(): void {
    for (const [organizationId, sent] of this.#sent) {
      const { sequence } = this.options.delivery.inForce(organizationId);
      if (sequence === sent) continue;
      this.#sent.set(organizationId, sequence);
      const news = this.options.governance.revisions
        .list(organizationId)
        .filter((revision) => revision.sequence > sent)
        .toReversed()
        .map((revision) => ({ ...revision, event: encoder.encode(`${eventOf(revision.id)}\n`) }));
      for (const stream of this.#streams) {
        if (stream.organizationId !== organizationId) continue;
        for (const { sequence, event } of news) if (sequence > stream.sent) this.#streams.send(stream, event);
        stream.sent = sequence;
      }
    }
  }

  #sendKeepalives(part: number): void {
    for (const stream of this.#streams) if (stream.part === part) this.#streams.send(stream, KEEPALIVE);
  }
}

const tooMany = (message: string) =>
  new DomainError("too_many", "governance.too_many_streams", message, {
    hint: "close some of them, or poll the policy instead",
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });

const full = () =>
  new DomainError("unavailable", "governance.streams_full", "too many event streams are open", {
    hint: "poll the policy instead, or try again later",
    retryAfterSeconds: FULL_RETRY_SECONDS,
  });
