// Sends requests to one upstream and streams both bodies. It does not follow redirects, decode or retry, and has no time limits:
// callers abort. After a failed connection, the upstream is marked as down for a short time.
import { connect } from "node:net";
import { SECOND_MS, within } from "../clock.ts";
import { proxyFor } from "./proxy.ts";

/** How long requests fail immediately after a failed connection. */
export const CONNECTION_FAILURE_PAUSE_MS = SECOND_MS;

/**
 * Why there is no response. `unreachable`: no connection, so nothing was sent; `reset`: it ended before the headers were
 * complete; `bad_head`: the response is not valid HTTP.
 */
export type UpstreamFault = "unreachable" | "reset" | "bad_head";

export class UpstreamError extends Error {
  constructor(
    readonly fault: UpstreamFault,
    options?: ErrorOptions,
  ) {
    super(`upstream ${fault}`, options);
    this.name = "UpstreamError";
  }
}

export interface UpstreamRequest {
  method: string;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | ArrayBuffer | ReadableStream<Uint8Array> | undefined;
  signal: AbortSignal;
}

/** Result of a trial connection; `silent`: no reaction within the limit. */
export type Reach = "accepts" | "refuses" | "silent";

export interface UpstreamOptions {
  /** scheme, host, port and the prefix of all paths, without a trailing slash */
  url: string;
  /** time limit of a trial connection after a failure */
  connectTimeoutMs: number;
  /** milliseconds of a monotonic clock */
  monotonicMs?: () => number;
}

export class Upstream {
  readonly #url: string;
  readonly #nowMs: () => number;
  readonly #connectTimeoutMs: number;
  /** undefined while the upstream is reachable */
  #downUntilMs: number | undefined;
  #connecting: Promise<Reach> | undefined;
  #hasSent = false;

  constructor({ url, connectTimeoutMs, monotonicMs = () => performance.now() }: UpstreamOptions) {
    this.#url = url;
    this.#nowMs = monotonicMs;
    this.#connectTimeoutMs = connectTimeoutMs;
  }

  /** Whether the last request reached the upstream; undefined before the first one. */
  get isUp(): boolean | undefined {
    if (this.#downUntilMs !== undefined) return false;
    return this.#hasSent ? true : undefined;
  }

  /**
   * @param target path and query, beginning with a slash
   * @throws UpstreamError; the reason of the signal if it was aborted
   */
  async send(target: string, { method, headers, body, signal }: UpstreamRequest): Promise<Response> {
    if (this.#downUntilMs !== undefined) await this.#reconnect();
    try {
      const response = await fetch(this.#url + target, {
        method,
        headers,
        signal,
        redirect: "manual",
        decompress: false,
        timeout: false, // otherwise the runtime aborts after six minutes of silence
        body: body ?? null,
      });
      this.#hasSent = true;
      return response;
    } catch (cause) {
      if (signal.aborted) throw cause;
      const fault = faultOf(cause);
      if (fault === "unreachable") this.markDown();
      else this.#hasSent = true;
      throw new UpstreamError(fault, { cause });
    }
  }

  markDown(): void {
    this.#downUntilMs = this.#nowMs() + CONNECTION_FAILURE_PAUSE_MS;
  }

  /** Opens and closes a connection. Concurrent callers share one attempt. */
  reach(limitMs: number): Promise<Reach> {
    this.#connecting ??= tryToConnect(new URL(this.#url), limitMs).finally(() => {
      this.#connecting = undefined;
    });
    return this.#connecting;
  }

  /** The first request after CONNECTION_FAILURE_PAUSE_MS tries a connection; until it succeeds, all others fail. */
  async #reconnect(): Promise<void> {
    if (this.#connecting || this.#nowMs() < (this.#downUntilMs ?? 0)) throw new UpstreamError("unreachable");
    if ((await this.reach(this.#connectTimeoutMs)) === "accepts") {
      this.#downUntilMs = undefined;
    } else {
      this.markDown();
      throw new UpstreamError("unreachable");
    }
  }
}

/** Does not try an upstream behind a forwarding proxy, because only the proxy can reach it. */
async function tryToConnect(url: URL, limitMs: number): Promise<Reach> {
  if (proxyFor(url, process.env)) return "accepts";
  const { promise, resolve } = Promise.withResolvers<Reach>();
  const usualPort = url.protocol === "https:" ? 443 : 80;
  const socket = connect({
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || usualPort,
  });
  socket.on("connect", () => resolve("accepts"));
  socket.on("error", () => resolve("refuses"));
  try {
    return (await within(limitMs, promise)) ?? "silent";
  } finally {
    socket.destroy();
  }
}

/** Codes of the runtime's errors before a connection is established. */
const NO_CONNECTION =
  /^(?:ConnectionRefused|FailedToOpenSocket|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EADDRNOTAVAIL|ETIMEDOUT|ENOTFOUND|EAI_\w+|EPROTO|DNS\w*|.*CERT.*|.*TLS.*|ERR_SSL\w*|UNABLE_TO\w*|HOSTNAME_MISMATCH|.*SELF_SIGNED.*)$/;
const CONNECTION_ENDED = /^(?:ECONNRESET|ConnectionClosed|ConnectionReset|EPIPE|ECONNABORTED)$/;

function faultOf(error: unknown): UpstreamFault {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (NO_CONNECTION.test(code)) return "unreachable";
  return CONNECTION_ENDED.test(code) ? "reset" : "bad_head";
}
