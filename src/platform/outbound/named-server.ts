// Outgoing connections to the one server that the operator names on the command line. Reports each layer separately: name,
// connection, certificate, response and event stream. Follows no redirect and uses no proxy from the environment. src/app/probe
// decides what the facts mean.
import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { connect, isIP } from "node:net";
import { getCACertificates, connect as tlsConnect } from "node:tls";
import { codeOf } from "../errors.ts";
import { asFault, codeText, fault, tooSlow, withinTime } from "./named-server-errors.ts";
import { chainOf, type PeerCertificate } from "./peer-certificates.ts";

/** Upper bounds of every step. */
export interface NamedServerLimits {
  resolveMs: number;
  /** for a TCP connection, including a TLS handshake */
  connectMs: number;
  /** for a response with its body, and for a whole event stream */
  responseMs: number;
  /** size of a body or of an event stream */
  bodyBytesMax: number;
}

export interface NamedServerOptions {
  limits: NamedServerLimits;
  /** PEM certificates that are trusted in addition to those of the system and of the runtime */
  ca?: string | undefined;
}

/** A TCP connection that was opened and closed. */
export interface Connected {
  /** the address of this machine on that connection */
  localAddress: string;
  durationMs: number;
}

export interface TlsSession {
  /** why the certificate is not trusted, such as `CERT_HAS_EXPIRED`; undefined if it is trusted */
  fault: string | undefined;
  /** such as `TLSv1.3` */
  protocol: string;
  /** the server's certificate first; at least one */
  chain: readonly PeerCertificate[];
}

export interface NamedRequest {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

export interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
  /** from the first byte of the request to the first byte of the response */
  durationMs: number;
}

export interface StreamPiece {
  text: string;
  /** on the clock of performance.now() */
  atMs: number;
}

/** Requests to one server. Every method throws DomainError `unavailable` `probe.*`. */
export class NamedServer implements Disposable {
  readonly #agent: HttpAgent | HttpsAgent;
  readonly #trusted: string[];
  #address: LookupAddress | undefined;

  /** @param origin http or https, without a path */
  constructor(
    readonly origin: URL,
    private readonly options: NamedServerOptions,
  ) {
    const pool = { keepAlive: true, maxSockets: 1 };
    this.#agent = this.isTls ? new HttpsAgent(pool) : new HttpAgent(pool);
    const roots = this.isTls ? [...getCACertificates("default"), ...getCACertificates("system")] : [];
    this.#trusted = [...new Set([...roots, ...(options.ca === undefined ? [] : [options.ca])])];
  }

  get isTls(): boolean {
    return this.origin.protocol === "https:";
  }

  /** The host without the brackets of an IPv6 address. */
  get host(): string {
    return this.origin.hostname.replace(/^\[|\]$/g, "");
  }

  get port(): number {
    return Number(this.origin.port) || (this.isTls ? 443 : 80);
  }

  /** @returns every address of the name; a literal address needs no lookup @throws `probe.unresolved` */
  async resolve(): Promise<readonly LookupAddress[]> {
    const family = isIP(this.host);
    if (family !== 0) return [{ address: this.host, family }];
    const { resolveMs } = this.options.limits;
    const found = lookup(this.host, { all: true }).catch((cause: unknown) => {
      throw fault("unresolved", `the name ${this.host} has no address${codeText(cause)}`, cause);
    });
    return await withinTime(found, resolveMs, `the name ${this.host} was not resolved`);
  }

  /** Uses this address for further requests. */
  use(address: LookupAddress): void {
    this.#address = address;
  }

  /** Connects and closes the connection. @throws `probe.unreachable`, `probe.too_slow` */
  async connect({ address }: LookupAddress): Promise<Connected> {
    const startMs = performance.now();
    const socket = connect({ host: address, port: this.port });
    const connected = new Promise<Connected>((resolve, reject) => {
      socket.on("error", reject);
      socket.on("connect", () => {
        const { localAddress = "" } = socket;
        resolve({ localAddress, durationMs: performance.now() - startMs });
      });
    });
    const { connectMs } = this.options.limits;
    try {
      return await withinTime(connected, connectMs, `${address} did not accept the connection`);
    } catch (error) {
      throw asFault(error, "unreachable", `${address} cannot be reached`);
    } finally {
      socket.destroy();
    }
  }

  /** Reads the certificate chain, trusted or not. @throws `probe.no_tls`, `probe.too_slow` */
  async inspectTls({ address }: LookupAddress): Promise<TlsSession> {
    const named = isIP(this.host) === 0 ? { servername: this.host } : {};
    const socket = tlsConnect({
      host: address,
      port: this.port,
      ca: this.#trusted,
      rejectUnauthorized: false, // the error is reported, and nothing is sent
      ...named,
    });
    const session = new Promise<TlsSession>((resolve, reject) => {
      socket.on("error", reject);
      socket.on("close", () => reject(new Error("it closed the connection")));
      socket.on("secureConnect", () => {
        const error: unknown = socket.authorizationError;
        const code = codeOf(error) ?? error;
        resolve({
          fault: socket.authorized ? undefined : String(code),
          protocol: socket.getProtocol() ?? "an unknown protocol",
          chain: chainOf(socket.getPeerCertificate(true)),
        });
      });
    });
    try {
      return await withinTime(session, this.options.limits.connectMs, "the TLS handshake did not end");
    } catch (error) {
      throw asFault(error, "no_tls", "there is no TLS handshake with it");
    } finally {
      socket.destroy();
    }
  }

  /** @param path at the origin @throws `probe.too_slow`, `probe.too_large`, `probe.failed` */
  async ask(path: string, options: NamedRequest = {}): Promise<Reply> {
    return await this.#answered(async (signal) => {
      const startMs = performance.now();
      const response = await responseTo(this.#begin(path, options, signal));
      const durationMs = performance.now() - startMs;
      const parts: Buffer[] = [];
      for await (const part of this.#bounded(response)) parts.push(part);
      const { statusCode: status = 0, headers } = response;
      return { status, headers, body: Buffer.concat(parts).toString("utf8"), durationMs };
    });
  }

  /**
   * Reads an event stream to its end.
   * @returns the response without a body, and the pieces as they arrived
   * @throws like `ask`
   */
  async stream(path: string): Promise<{ status: number; pieces: readonly StreamPiece[] }> {
    return await this.#answered(async (signal) => {
      const headers = { accept: "text/event-stream" };
      const response = await responseTo(this.#begin(path, { headers }, signal));
      const pieces: StreamPiece[] = [];
      for await (const part of this.#bounded(response))
        pieces.push({ text: part.toString("utf8"), atMs: performance.now() });
      return { status: response.statusCode ?? 0, pieces };
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }

  #begin(
    path: string,
    { method = "GET", headers = {}, body }: NamedRequest,
    signal: AbortSignal,
  ): ClientRequest {
    const known = this.#address;
    const options = {
      method,
      headers: { "user-agent": "quartermaster-probe", ...headers },
      agent: this.#agent,
      signal,
      ...(known && {
        lookup: (_host: string, _options: unknown, done: (error: null, found: LookupAddress[]) => void) =>
          done(null, [known]),
      }),
    };
    const url = new URL(path, this.origin);
    const request = this.isTls
      ? httpsRequest(url, { ...options, ca: this.#trusted, rejectUnauthorized: true })
      : httpRequest(url, options);
    return request.end(body);
  }

  async *#bounded(response: IncomingMessage): AsyncGenerator<Buffer> {
    const { bodyBytesMax } = this.options.limits;
    let sizeBytes = 0;
    for await (const part of response) {
      const bytes: Buffer = part;
      sizeBytes += bytes.length;
      if (sizeBytes > bodyBytesMax) {
        response.destroy();
        throw fault("too_large", `the response has more than ${bodyBytesMax} bytes`);
      }
      yield bytes;
    }
  }

  async #answered<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { responseMs } = this.options.limits;
    const signal = AbortSignal.timeout(responseMs);
    try {
      return await work(signal);
    } catch (error) {
      if (signal.aborted) throw tooSlow("the response did not end", responseMs);
      throw asFault(error, "failed", "the request failed");
    }
  }
}

const responseTo = (request: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("response", (response) => {
      response.on("error", reject);
      resolve(response);
    });
  });
