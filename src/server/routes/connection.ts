// Lets a caller without a credential check the network path to the service: the address that the service sees, and whether a
// proxy buffers an event stream. `quartermaster probe` reads both. The responses contain nothing but facts about the caller's own
// connection.
import { Type } from "@sinclair/typebox";
import { SECOND_MS } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import { type Exchange, exchangeOf } from "../http/exchange.ts";
import { eventStream, json } from "../http/responses.ts";
import { operationsOf } from "../openapi.ts";
import type { RouteContext } from "../router.ts";

/** Pause between the two events of a stream, which is also its lifetime. */
export const EVENT_PAUSE_MS = SECOND_MS;
/** Limit on open streams; they need no credential, so they must not use up the connections of workstations. */
export const CONNECTION_STREAMS_MAX = 64;
/** Limit on open streams per address. */
export const CONNECTION_STREAMS_PER_ADDRESS_MAX = 4;

const describe = operationsOf("System");

const Connection = Type.Object({
  address: Type.Union([Type.String(), Type.Null()]),
  forwarding: Type.Union(
    ["none", "trusted", "missing", "untrusted", "socket"].map((text) => Type.Literal(text)),
  ),
});

export function connectionRoutes({ router }: Pick<RouteContext, "router">) {
  const streams = new ConnectionStreams();
  return router
    .get("/connection", ({ request }) => json(connectionOf(exchangeOf(request))), {
      requires: "nobody",
      detail: describe("getConnection", "The address of the caller as the service sees it", {
        200: {
          description:
            "`address` is null if only the address of a proxy is known. `forwarding`: `none`, the caller connected directly or its proxy forwards no address; `trusted`, a trusted proxy forwarded it; `missing`, a trusted proxy forwarded none; `untrusted`, an untrusted proxy forwarded one; `socket`, the service listens on a Unix socket and trusts no proxy",
          schema: Connection,
        },
      }),
    })
    .get("/connection/events", ({ request }) => eventStream(streams.open(exchangeOf(request).address)), {
      requires: "nobody",
      detail: describe(
        "streamConnectionEvents",
        "Two events, one second apart, to detect a buffering proxy",
        {
          200: {
            description: "Two events `connection`; then the stream ends",
            schema: Type.String(),
            mediaType: "text/event-stream",
          },
          429: { description: `The address has ${CONNECTION_STREAMS_PER_ADDRESS_MAX} such streams open` },
          503: { description: "Too many such streams are open" },
        },
      ),
    });
}

/** Only the operator may learn the address of a proxy. */
function connectionOf({ address, forwarding }: Exchange) {
  const isCallers = forwarding === "none" || forwarding === "trusted";
  return { address: isCallers ? address : null, forwarding };
}

const encoder = new TextEncoder();
const eventOf = (part: number): Uint8Array => encoder.encode(`event: connection\ndata: {"part":${part}}\n\n`);

class ConnectionStreams {
  #open = 0;
  readonly #openPerAddress = new Map<string | null, number>();

  /** @throws DomainError `connection.streams_full`, `connection.too_many_streams` */
  open(address: string | null): ReadableStream<Uint8Array> {
    if (this.#open >= CONNECTION_STREAMS_MAX) throw full();
    if (this.#openOf(address) >= CONNECTION_STREAMS_PER_ADDRESS_MAX) throw tooMany();
    this.#count(address, 1);
    let timer: NodeJS.Timeout | undefined;
    const end = () => this.#count(address, -1);
    return new ReadableStream({
      start: (controller) => {
        controller.enqueue(eventOf(1));
        timer = setTimeout(() => {
          end();
          controller.enqueue(eventOf(2));
          controller.close();
        }, EVENT_PAUSE_MS);
      },
      cancel: () => {
        clearTimeout(timer);
        end();
      },
    });
  }

  readonly #openOf = (address: string | null): number => this.#openPerAddress.get(address) ?? 0;

  #count(address: string | null, change: 1 | -1): void {
    const open = this.#openOf(address) + change;
    this.#open += change;
    if (open === 0) this.#openPerAddress.delete(address);
    else this.#openPerAddress.set(address, open);
  }
}

const RETRY = { retryAfterSeconds: 1 };

const full = () =>
  new DomainError("unavailable", "connection.streams_full", "too many streams of this kind are open", RETRY);

const tooMany = () =>
  new DomainError(
    "too_many",
    "connection.too_many_streams",
    `this address has ${CONNECTION_STREAMS_PER_ADDRESS_MAX} streams of this kind open`,
    RETRY,
  );
