// The only client for outgoing connections. It reaches only destinations that the configuration lists, each
// with its purpose; the caller defines the request. A proxy that the operator names in the environment (HTTP_PROXY,
// HTTPS_PROXY, NO_PROXY) is used for listed peers, never for public hosts (public-https.ts).
import type { LookupAddress } from "node:dns";
import { isIP } from "node:net";
import { MINUTE_MS, SECOND_MS, within } from "../clock.ts";
import { DomainError, invariant } from "../errors.ts";
import { discardBody } from "./discard-body.ts";
import { isHttpOrigin, isSftpOrigin, isTlsOrigin } from "./origins.ts";
import { proxyFor } from "./proxy.ts";
import { isLinkLocalAddress, publicUrl } from "./public-hosts.ts";
import type { PublicHosts, PublicRequest } from "./public-https.ts";
import type { RemoteFiles, SftpLogin } from "./sftp.ts";
import { Upstream, type UpstreamOptions } from "./upstream.ts";

/** allows for the largest object of a store; other callers set shorter timeouts */
export const OUTBOUND_TIMEOUT_MAX_MS = 10 * MINUTE_MS;

/** Origin of the destination that covers every public host, for `download` only. */
export const ANY_PUBLIC_HOST = "https://*";

/** One peer that the operator allowed. */
export interface Destination {
  name: string;
  /** such as `https://gateway.example:8443`; `tls://host:port` for `deliver` only, `sftp://host:port` for `sftp` only */
  origin: string;
  /** prefix of the paths that are requested there, without a trailing slash */
  base?: string;
  /** its purpose, one line for `config show --outgoing` */
  why: string;
}

/** Rules for one peer: trusted certificates, link-local addresses and our own certificate. */
export interface PeerTls {
  /** PEM certificates that are trusted in addition to the built-in ones */
  ca: string | undefined;
  /** `allowed` if the operator wrote every address of the peer; saves the lookup of its name */
  linkLocal?: "allowed";
  /** certificate chain and private key in PEM, which identify us to the peer */
  client?: { cert: string; key: string } | undefined;
}

export interface OutboundRequest {
  method?: string;
  headers?: Record<string, string> | Headers;
  /** a stream with a header `content-length` is sent with that length */
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;
  /** 1 to OUTBOUND_TIMEOUT_MAX_MS, for the response and its body together */
  timeoutMs: number;
  signal?: AbortSignal;
  /** ignores NODE_TLS_REJECT_UNAUTHORIZED, and by default refuses names with link-local addresses */
  tls?: PeerTls;
  /** default: true; false keeps the content coding of the response */
  decompress?: boolean;
  /** default: a redirect is an error; `answered` returns it, and the caller calls `fetch` again with the new address */
  redirect?: "answered";
}

export interface DownloadRequest
  extends Pick<PublicRequest, "headers" | "bytesMax">,
    Pick<OutboundRequest, "timeoutMs" | "signal"> {}

export interface Delivery extends Pick<OutboundRequest, "timeoutMs" | "signal"> {
  tls: PeerTls;
}

export interface SftpRequest extends SftpLogin, Pick<OutboundRequest, "timeoutMs" | "signal"> {}

/** Settings for a program that makes its own connections. */
export interface ConnectionSettings {
  /** may contain a user name and a password; undefined for a direct connection */
  proxy: string | undefined;
  /** all trusted certificate authorities, in PEM */
  authorities: string;
}

export interface Outbound {
  /**
   * @param pathOrUrl a path below the destination's base, or a whole URL with its origin
   * @throws DomainError `forbidden` outbound.not_allowed, outbound.link_local; `unavailable` outbound.redirected, outbound.failed
   */
  fetch(destinationName: string, pathOrUrl: string, request: OutboundRequest): Promise<Response>;
  /**
   * Fetches from any public host if PUBLIC_HTTPS is among the destinations; starts when it is read.
   * @throws (when read) DomainError `forbidden` outbound.not_allowed; those of `publicUrl` and of public-https.ts
   */
  download(destinationName: string, url: string, request: DownloadRequest): AsyncGenerator<Uint8Array>;
  /**
   * Sends bytes over a separate TLS connection, without a proxy. Resolves once the peer has read all of them.
   * @throws DomainError `forbidden` outbound.not_allowed, outbound.link_local; `unavailable` outbound.failed
   */
  deliver(destinationName: string, bytes: Uint8Array, request: Delivery): Promise<void>;
  /**
   * Works on the files of a destination over a separate connection, without a proxy.
   * @throws DomainError `forbidden` outbound.not_allowed; `unavailable` outbound.failed; what `work` throws
   */
  sftp<T>(
    destinationName: string,
    request: SftpRequest,
    work: (files: RemoteFiles) => Promise<T>,
  ): Promise<T>;
  /**
   * Settings for an external program that connects in place of `fetch`, to the same addresses in the same way.
   * @throws DomainError `forbidden` outbound.not_allowed, outbound.link_local
   */
  connectionSettings(destinationName: string, url: string, tls: PeerTls): Promise<ConnectionSettings>;
  /**
   * @returns the streaming client of a destination
   * @throws DomainError `forbidden` outbound.not_allowed
   */
  upstream(destinationName: string, options: Pick<UpstreamOptions, "connectTimeoutMs">): Upstream;
  /** @returns every destination that can be reached */
  list(): readonly Destination[];
}

export interface OutboundOptions {
  allowed: readonly Destination[];
  /** peers that change while the service runs; called at every use */
  found?: () => readonly Destination[];
  publicHosts?: PublicHosts;
  /** creates the streaming client of a destination; default: a plain `Upstream` */
  openUpstream?: ((options: UpstreamOptions, destinationName: string) => Upstream) | undefined;
}

const openPlainUpstream = (options: UpstreamOptions): Upstream => new Upstream(options);

/** @throws DomainError `invalid` outbound.bad_destination, naming every entry that is not an http(s) origin or repeats a name */
export function createOutbound({
  allowed,
  found = () => [],
  publicHosts,
  openUpstream = openPlainUpstream,
}: OutboundOptions): Outbound {
  const destinations = byName(allowed);
  const destinationOf = (name: string) =>
    destinations.get(name) ?? found().find((destination) => destination.name === name);
  return {
    list: () => [...destinations.values(), ...found()],
    upstream(destinationName, options) {
      const { origin, base = "" } = destinationOf(destinationName) ?? {};
      if (origin === undefined || origin === ANY_PUBLIC_HOST || !isHttpOrigin(origin))
        throw notAllowed(destinationName);
      return openUpstream({ ...options, url: origin + base }, destinationName);
    },
    async *download(destinationName, url, { headers, bytesMax, ...bounds }) {
      if (destinations.get(destinationName)?.origin !== ANY_PUBLIC_HOST) throw notAllowed(destinationName);
      const request = { bytesMax, signal: boundedSignal(bounds), ...(headers && { headers }) };
      // Loads its HTTP client on first use, because most commands never use it.
      const { download, PUBLIC_HOSTS } = await import("./public-https.ts");
      yield* download(publicUrl(url), request, publicHosts ?? PUBLIC_HOSTS);
    },
    async deliver(destinationName, bytes, request) {
      const { origin = "" } = destinationOf(destinationName) ?? {};
      if (!isTlsOrigin(origin)) throw notAllowed(destinationName);
      const url = new URL(origin);
      if (request.tls.linkLocal !== "allowed")
        await refuseLinkLocal(url, { hasProxy: () => false, ...publicHosts });
      const { deliver } = await import("./tls-delivery.ts");
      await deliver(url, bytes, { ...(await tlsOptions(request.tls)), signal: boundedSignal(request) }).catch(
        (cause: unknown) => {
          throw unavailable("outbound.failed", `${destinationName} did not accept the data`, cause);
        },
      );
    },
    async sftp(destinationName, { timeoutMs, signal, ...login }, work) {
      const { origin = "" } = destinationOf(destinationName) ?? {};
      if (!isSftpOrigin(origin)) throw notAllowed(destinationName);
      const { hostname: host, port } = new URL(origin);
      const bounded = boundedSignal({ timeoutMs, ...(signal && { signal }) });
      const { overSftp } = await import("./sftp.ts");
      return await overSftp({ ...login, host, port: Number(port), signal: bounded }, work);
    },
    async connectionSettings(destinationName, pathOrUrl, { ca }) {
      const url = allowedUrl(destinationOf(destinationName), pathOrUrl, destinationName);
      const proxy = proxyFor(url, process.env)?.url;
      await refuseLinkLocal(url, { hasProxy: () => proxy !== undefined, ...publicHosts });
      const { getCACertificates } = await import("node:tls");
      const known = getCACertificates("default");
      return { proxy, authorities: [...known, ...(ca === undefined ? [] : [ca])].join("\n") };
    },
    async fetch(destinationName, pathOrUrl, request) {
      const bounded = { ...request, signal: boundedSignal(request) };
      const url = allowedUrl(destinationOf(destinationName), pathOrUrl, destinationName);
      const { tls } = request;
      if (tls && tls.linkLocal !== "allowed")
        await refuseLinkLocal(url, {
          hasProxy: () => proxyFor(url, process.env) !== undefined,
          ...publicHosts,
        });
      return await fetchResponse(destinationName, url, bounded);
    },
  };
}

async function fetchResponse(destinationName: string, url: URL, request: OutboundRequest): Promise<Response> {
  const { timeoutMs, tls, redirect, ...message } = request;
  const response = await fetch(url, {
    ...message,
    ...(tls && url.protocol === "https:" && { tls: await tlsOptions(tls) }),
    redirect: "manual",
  }).catch((cause: unknown) => {
    throw unavailable("outbound.failed", `${destinationName} did not answer`, cause);
  });
  if (redirect === "answered" || !isRedirect(response.status)) return response;
  await discardBody(response);
  throw unavailable(
    "outbound.redirected",
    `${destinationName} answered with a redirect, which is not followed`,
  );
}

async function tlsOptions({ ca, client }: PeerTls) {
  const rejectUnauthorized = true; // overrides NODE_TLS_REJECT_UNAUTHORIZED
  if (ca === undefined) return { rejectUnauthorized, ...client };
  const { rootCertificates } = await import("node:tls"); // takes milliseconds, and few destinations need it
  return { rejectUnauthorized, ca: [...rootCertificates, ca], ...client };
}

function boundedSignal({ timeoutMs, signal }: Pick<OutboundRequest, "timeoutMs" | "signal">): AbortSignal {
  invariant(
    timeoutMs >= 1 && timeoutMs <= OUTBOUND_TIMEOUT_MAX_MS,
    "an outgoing request has a bounded timeout",
  );
  const timeout = AbortSignal.timeout(timeoutMs);
  return signal ? AbortSignal.any([signal, timeout]) : timeout;
}

/**
 * Also refuses a name with a link-local address, unless a proxy resolves it. A name that does not resolve fails in the fetch.
 * If the address changes before the fetch, the check of the certificate fails.
 */
async function refuseLinkLocal(
  { hostname }: URL,
  { hasProxy, resolve = resolveAll }: { hasProxy(): boolean; resolve?: PublicHosts["resolve"] },
): Promise<void> {
  const host = hostname.replace(/^\[|\]$/g, "");
  const isAddress = isIP(host) !== 0;
  if (!isAddress && hasProxy()) return;
  const found = isAddress ? [{ address: host }] : await addressesOf(resolve(host));
  if (!found.some(({ address }) => isLinkLocalAddress(address))) return;
  throw new DomainError("forbidden", "outbound.link_local", "the host has a link-local address");
}

const LOOKUP_TIMEOUT_MS = 2 * SECOND_MS;

/** Loads the resolver on first use, because most commands never use it. */
const resolveAll: PublicHosts["resolve"] = async (host) => {
  const { lookup } = await import("node:dns/promises");
  return await lookup(host, { all: true });
};

const addressesOf = async (found: ReturnType<PublicHosts["resolve"]>): Promise<readonly LookupAddress[]> =>
  (await within(
    LOOKUP_TIMEOUT_MS,
    found.catch(() => []),
  )) ?? [];

const isRedirect = (status: number): boolean => status >= 300 && status < 400 && status !== 304;

const unavailable = (reason: string, message: string, cause?: unknown): DomainError =>
  new DomainError("unavailable", reason, message, {
    hint: "check the destination's address, and that it is up: quartermaster config show --outgoing",
    cause,
  });

/** The origin is compared after parsing: `//host/path` and a whole URL could both lead elsewhere. */
function allowedUrl(destination: Destination | undefined, pathOrUrl: string, name: string): URL {
  if (!destination || destination.origin === ANY_PUBLIC_HOST || !isHttpOrigin(destination.origin))
    throw notAllowed(name);
  const { origin, base = "" } = destination;
  const url = URL.parse(pathOrUrl.startsWith("/") ? base + pathOrUrl : pathOrUrl, origin);
  if (url && url.origin === origin && url.username === "" && url.password === "") return url;
  throw notAllowed(name);
}

const notAllowed = (name: string): DomainError =>
  new DomainError("forbidden", "outbound.not_allowed", `no outgoing connection to ${name} is allowed there`, {
    hint: "to list the allowed destinations: quartermaster config show --outgoing",
  });

function byName(allowed: readonly Destination[]): Map<string, Destination> {
  const destinations = new Map(allowed.map((destination) => [destination.name, destination]));
  const problems = allowed.flatMap(({ name, origin }, index) => [
    ...(isHttpOrigin(origin) || isTlsOrigin(origin) || isSftpOrigin(origin)
      ? []
      : [{ pointer: `/${index}/origin`, detail: "is not an origin such as https://host:443" }]),
    ...(allowed.findIndex((other) => other.name === name) === index
      ? []
      : [{ pointer: `/${index}/name`, detail: `repeats the name ${name}` }]),
  ]);
  if (problems.length === 0) return destinations;
  const message = "the list of outgoing destinations is not valid";
  throw new DomainError("invalid", "outbound.bad_destination", message, { problems });
}
