// Listening sockets: TCP or Unix, TLS with a replaceable certificate, and a graceful stop. peer-address.ts finds the caller
// behind a proxy, tls.ts reads certificates.
import http from "node:http";
import type { Listen } from "../../platform/config/addresses.ts";
import { codeOf, DomainError } from "../../platform/errors.ts";
import { clearStaleSocket, type PlacedSocket, placeSocket } from "../../platform/files/unix-socket.ts";
import { internalFailure, problemResponse } from "../http/problems/problem.ts";
import type { AddressOf, ForwardingOf } from "../server.ts";
import { ConnectionReset } from "./connection-reset.ts";
import { createPeerAddresses, type ProxyTrust, type UntrustedPeer } from "./peer-address.ts";
import { type Certificate, readCertificate, type TlsFiles } from "./tls.ts";

/** Answers any request; never throws or rejects. */
export type Handler = (
  request: Request,
  addressOf: AddressOf,
  forwardingOf: ForwardingOf,
  socket: Bun.Server<undefined>,
) => Response | Promise<Response>;

export interface ListenOptions extends ProxyTrust {
  listen: Listen;
  /** names the setting in hints; default: the one of the main listener */
  flag?: string;
  tls?: TlsFiles | undefined;
  /**
   * called once, for the first forwarding header from a peer that is not a trusted proxy. Only requests whose address is needed are
   * searched for the header, because the search takes 5 % of a small request.
   */
  noteUntrusted?(seen: UntrustedPeer): void;
  /** called for an error that no handler caught; the caller gets a 500 without a request id */
  report(error: unknown): void;
}

export interface Listener {
  /** the origin or `unix:/path` that it listens on */
  readonly address: string;
  /**
   * Uses the current certificate files for new connections; existing connections finish with the old certificate.
   * @returns the new certificate; undefined if the files have not changed
   * @throws DomainError `listen.*`; the old certificate stays in use
   */
  renew(files: TlsFiles): Certificate | undefined;
  /**
   * Stops accepting requests, lets running ones finish, and cuts the rest. May be called twice.
   * @param drainMs time for running requests; default: DRAIN_MS
   */
  stop(drainMs?: number): Promise<void>;
}

/** Time for running requests to finish after a stop. */
export const DRAIN_MS = 20_000;
/**
 * Idle time after which a connection is closed. Waiting for a response counts as idle, so this exceeds the slowest answer:
 * fetching and checking a package source.
 */
export const IDLE_TIMEOUT_SECONDS = 90;
/** Routes limit bodies themselves and answer 413, because the runtime's own 413 has no body. */
const RUNTIME_BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
/**
 * Size limit of the request line and headers in bytes, enough for the longest SCIM filter. Beyond it the runtime answers 431.
 */
export const HEADER_BYTES_MAX = 64 * 1024;

const MAIN_FLAG = "--server-listen";

type Running = Bun.Server<undefined>;

/**
 * Removes the socket that a killed process left behind.
 * @throws DomainError `listen.in_use` if a process still answers on the socket
 */
export async function removeDeadSocket(where: Listen, flag = MAIN_FLAG): Promise<void> {
  if (where.kind === "unix" && (await clearStaleSocket(where.path))) throw inUse(where.path, flag);
}

/**
 * Starts to listen.
 * @throws DomainError `listen.in_use`, `listen.not_permitted`, `listen.bad_address`, `listen.bad_certificate`, `listen.key_exposed`
 */
export function listen(handler: Handler, options: ListenOptions): Listener {
  // The limit applies to the whole process; the runtime's types declare it read-only.
  Object.assign(http, { maxHeaderSize: HEADER_BYTES_MAX });
  const certificate = options.tls && readCertificate(options.tls);
  const { listen: where, flag = MAIN_FLAG } = options;
  if (certificate) refuseTaken(where, flag);
  return new RunningListener(handlersFor(handler, options), { where, certificate, flag });
}

class RunningListener implements Listener {
  readonly address: string;
  readonly #place: Place;
  #certificate: Certificate | undefined;
  #running: Running;
  /** servers with old certificates that still have running requests */
  readonly #leaving = new Set<Running>();
  #stopped: Promise<void> | undefined;
  readonly #removeSocket: () => void;

  constructor(
    private readonly handlers: Handlers,
    { certificate, ...place }: Place & { certificate: Certificate | undefined },
  ) {
    this.#certificate = certificate;
    const { where } = place;
    const { running, remove } = start(handlers, place, certificate);
    this.#running = running;
    this.#removeSocket = remove;
    const port = this.#running.port;
    this.#place = {
      ...place,
      where: where.kind === "tcp" && port !== undefined ? { ...where, port } : where,
    };
    this.address = where.kind === "unix" ? `unix:${where.path}` : this.#running.url.origin;
  }

  /** The runtime cannot change the certificate of a listener, so a new listener on the same port replaces it. */
  renew(files: TlsFiles): Certificate | undefined {
    const next = readCertificate(files);
    const isSame = next.cert === this.#certificate?.cert && next.key === this.#certificate.key;
    if (isSame || this.#stopped) return undefined;
    if (!this.#certificate || this.#place.where.kind === "unix") throw needsRestart();
    const former = this.#running;
    this.#running = start(this.handlers, this.#place, next).running;
    this.#certificate = next;
    this.#leaving.add(former);
    void former.stop().then(() => this.#leaving.delete(former));
    return next;
  }

  stop(drainMs = DRAIN_MS): Promise<void> {
    if (!this.#stopped) {
      this.#stopped = stopAll([this.#running, ...this.#leaving], drainMs);
      this.#removeSocket();
    }
    return this.#stopped;
  }
}

async function stopAll(all: readonly Running[], drainMs: number): Promise<void> {
  const cut = setTimeout(() => {
    for (const running of all) void running.stop(true);
  }, drainMs);
  await Promise.all(all.map((running) => running.stop()));
  clearTimeout(cut);
}

const needsRestart = (): DomainError =>
  new DomainError(
    "conflict",
    "listen.restart_needed",
    "a restart is required to enable TLS or to change it on a Unix socket",
  );

/** A listener that shares its port starts even if another process uses the port. A probe without sharing detects that. */
function refuseTaken(where: Listen, flag: string): void {
  if (where.kind === "unix" || where.port === 0) return;
  try {
    Bun.listen({ hostname: where.host, port: where.port, socket: { data() {} } }).stop(true);
  } catch (error) {
    throw asListenError(error, { where, flag });
  }
}

function handlersFor(handler: Handler, options: ListenOptions): Handlers {
  const addresses = createPeerAddresses(options);
  let note = options.noteUntrusted;
  const noteFirst = (request: Request, socket: Running) => {
    const seen = addresses.untrusted(request.headers, () => peerOf(request, socket));
    if (!seen) return;
    note?.(seen);
    note = undefined;
  };
  const lookupsOn = (socket: Running) => ({
    socket,
    addressOf: (request: Request) => {
      if (note) noteFirst(request, socket);
      return addresses.addressOf(request.headers, peerOf(request, socket));
    },
    forwardingOf: (request: Request) => addresses.forwardingOf(request.headers, peerOf(request, socket)),
  });
  /** of the socket with the current certificate; created once, not for each request */
  let lookups: ReturnType<typeof lookupsOn> | undefined;
  const handlers = {
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    idleTimeout: IDLE_TIMEOUT_SECONDS, // also applies to Unix sockets, although the runtime's types do not say so
    fetch(request: Request, socket: Running) {
      if (lookups?.socket !== socket) lookups = lookupsOn(socket);
      return handler(request, lookups.addressOf, lookups.forwardingOf, socket);
    },
    error(error: unknown) {
      if (!(error instanceof ConnectionReset)) options.report(error);
      return problemResponse({ ...internalFailure, headers: { connection: "close" } }, "none");
    },
  };
  return handlers;
}

function start(
  handlers: Handlers,
  { where, flag }: Place,
  certificate: Certificate | undefined,
): PlacedSocket<Running> {
  const tls = certificate && { tls: { cert: certificate.cert, key: certificate.key } };
  try {
    if (where.kind === "unix")
      return placeSocket(where.path, (unix) => Bun.serve({ ...handlers, ...tls, unix }));
    const place = { hostname: where.host, port: where.port, reusePort: certificate !== undefined };
    return { running: Bun.serve({ ...handlers, ...tls, ...place }), remove: () => {} };
  } catch (error) {
    throw asListenError(error, { where, flag });
  }
}

/** An address, and the flag of the setting that it comes from. */
interface Place {
  where: Listen;
  flag: string;
}

interface Handlers {
  maxRequestBodySize: number;
  fetch: (request: Request, socket: Running) => Response | Promise<Response>;
  error(error: unknown): Response;
}

function asListenError(error: unknown, { where, flag }: Place): unknown {
  const code = codeOf(error);
  const place = where.kind === "unix" ? where.path : `${where.host}:${where.port}`;
  if (code === "EADDRINUSE" || code === "EEXIST") return inUse(place, flag, error);
  if (code === "EACCES" || code === "EPERM") {
    return new DomainError("forbidden", "listen.not_permitted", `listening on ${place} is not permitted`, {
      hint: `ports below 1024 need the capability CAP_NET_BIND_SERVICE; or listen elsewhere with ${flag}`,
      cause: error,
    });
  }
  if (where.kind === "unix" && code === "ENOENT") {
    return new DomainError("invalid", "listen.bad_address", `the folder of the socket ${place} is missing`, {
      hint: "create it; under systemd, RuntimeDirectory= does",
      cause: error,
    });
  }
  const reason =
    where.kind === "tcp" && String(error).includes("TLS") ? "listen.bad_certificate" : "listen.bad_address";
  return new DomainError(
    "invalid",
    reason,
    `cannot listen on ${place}: ${error instanceof Error ? error.message : error}`,
    {
      cause: error,
    },
  );
}

const inUse = (place: string, flag: string, cause?: unknown): DomainError =>
  new DomainError("unavailable", "listen.in_use", `${place} is in use by another program`, {
    hint: `stop that program, or listen elsewhere with ${flag}`,
    cause,
  });

/** @returns the address of the peer; null on a Unix socket */
const peerOf = (request: Request, socket: Running): string | null =>
  socket.requestIP(request)?.address ?? null;
