// Sockets: TCP or Unix, TLS from files, the caller's address behind trusted proxies, and a stop that lets requests end.
import { chmodSync, existsSync, readFileSync, rmSync, statSync } from "node:fs";
import { BlockList, isIP, isIPv6 } from "node:net";
import { DomainError } from "../domain/errors.ts";
import type { AddressRange, Listen } from "../platform/config-addresses.ts";
import { bugFailure, problemResponse } from "./problem.ts";
import type { Server } from "./server.ts";

export interface ListenOptions {
  listen: Listen;
  /** paths of PEM files */
  tls?: { cert: string; key: string } | undefined;
  /** peers whose X-Forwarded-For is believed */
  trustedProxies: readonly AddressRange[];
  /** told of an error that no refusal caught; the caller gets a 500 without a request id */
  report(error: unknown): void;
}

export interface Listener {
  /** where it listens, as an origin or `unix:/path` */
  readonly address: string;
  /** May be called twice. Takes no new request, lets running ones end, and cuts what is left after the drain time. */
  stop(): Promise<void>;
}

/** How long running requests may take to end after a stop (operator-experience.md SVC-4). */
export const DRAIN_MS = 20_000;
/**
 * Silence after which a connection is closed. Waiting for an answer counts as silence, so it is longer than the slowest
 * answer takes: a package source that is fetched and checked.
 */
export const IDLE_TIMEOUT_SECONDS = 90;
/** Routes read bounded bodies themselves and answer 413; the runtime's own refusal has an empty body. */
const RUNTIME_BODY_BYTES_MAX = Number.MAX_SAFE_INTEGER;
const SOCKET_MODE = 0o660;

/**
 * Starts to listen.
 * @throws DomainError `listen.in_use`, `listen.not_permitted`, `listen.bad_address`, `listen.bad_certificate`
 */
export function listen(handle: Server["handle"], options: ListenOptions): Listener {
  const running = start(handle, options);
  let isStopped = false;
  return {
    address: options.listen.kind === "unix" ? `unix:${options.listen.path}` : running.url.origin,
    async stop() {
      if (isStopped) return;
      isStopped = true;
      const cut = setTimeout(() => void running.stop(true), DRAIN_MS);
      await running.stop();
      clearTimeout(cut);
    },
  };
}

function start(handle: Server["handle"], options: ListenOptions): Bun.Server<undefined> {
  const trusted = blockListOf(options.trustedProxies);
  const shared = {
    maxRequestBodySize: RUNTIME_BODY_BYTES_MAX,
    idleTimeout: IDLE_TIMEOUT_SECONDS, // on a Unix socket too, where the runtime's types do not know it
    fetch: (request: Request, socket: Bun.Server<undefined>) =>
      handle(request, () => addressOf(request, socket, trusted)),
    error(error: unknown) {
      options.report(error);
      return problemResponse(bugFailure, "none");
    },
    ...(options.tls && { tls: readCertificate(options.tls) }),
  };
  try {
    if (options.listen.kind === "unix") return startUnix(options.listen.path, shared);
    const { host, port } = options.listen;
    return Bun.serve({ ...shared, hostname: host, port });
  } catch (error) {
    throw asListenError(error, options.listen);
  }
}

interface Handlers {
  maxRequestBodySize: number;
  fetch: (request: Request, socket: Bun.Server<undefined>) => Response | Promise<Response>;
  error(error: unknown): Response;
}

/** A socket file left by a killed process is in the way; the lock of the data directory says it is nobody's. */
function startUnix(path: string, handlers: Handlers): Bun.Server<undefined> {
  if (existsSync(path) && statSync(path).isSocket()) rmSync(path);
  const before = process.umask(0o177);
  try {
    const running = Bun.serve({ ...handlers, unix: path });
    chmodSync(path, SOCKET_MODE);
    return running;
  } finally {
    process.umask(before);
  }
}

function readCertificate({ cert, key }: { cert: string; key: string }): { cert: string; key: string } {
  try {
    return { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  } catch (cause) {
    throw new DomainError(
      "invalid",
      "listen.bad_certificate",
      `the TLS files ${cert} and ${key} cannot be read`,
      {
        hint: "check server.tls_cert and server.tls_key",
        cause,
      },
    );
  }
}

function asListenError(error: unknown, where: Listen): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  const place = where.kind === "unix" ? where.path : `${where.host}:${where.port}`;
  if (code === "EADDRINUSE") {
    return new DomainError("unavailable", "listen.in_use", `${place} is in use by another program`, {
      hint: "stop that program, or listen elsewhere with --server-listen",
      cause: error,
    });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new DomainError("forbidden", "listen.not_permitted", `listening on ${place} is not permitted`, {
      hint: "ports below 1024 need the capability CAP_NET_BIND_SERVICE; or listen elsewhere with --server-listen",
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

function blockListOf(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList();
  for (const { address, prefix, family } of ranges) list.addSubnet(address, prefix, family);
  return list;
}

/**
 * The peer, or behind trusted proxies the last address that none of them wrote for another of them.
 * On a Unix socket the peer is whoever may open the file, so there its word is taken when any proxy is trusted at all.
 */
function addressOf(request: Request, socket: Bun.Server<undefined>, trusted: BlockList): string | null {
  const peer = socket.requestIP(request)?.address;
  const address = peer === undefined ? null : plain(peer);
  if (trusted.rules.length === 0 || (address !== null && !contains(trusted, address))) return address;
  const forwarded = (request.headers.get("x-forwarded-for") ?? "")
    .split(",")
    .map((part) => plain(part.trim()));
  return forwarded.reverse().find((candidate) => isIP(candidate) && !contains(trusted, candidate)) ?? address;
}

/** A dual-stack socket shows an IPv4 peer in IPv6 clothes. */
const plain = (address: string): string => address.replace(/^::ffff:(?=\d+\.)/i, "");

const contains = (list: BlockList, address: string): boolean =>
  list.check(address, isIPv6(address) ? "ipv6" : "ipv4");
