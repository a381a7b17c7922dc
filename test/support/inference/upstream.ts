// A real HTTP/1.1 server on a raw socket that sends exactly the bytes that a test scripts: chunk by chunk, half a head, a reset in
// the middle, or nothing. It counts requests and open connections, and records received heads and bodies.
import { createServer, type Server, type Socket } from "node:net";
import { RequestReader } from "./request-reader.ts";

export type Header = readonly [name: string, value: string];

/** Determines the response to one request. It runs as soon as the head has arrived; the body may still be arriving. */
export type Script = (exchange: UpstreamExchange) => void | Promise<void>;

export interface RequestHead {
  method: string;
  /** path and query exactly as received */
  target: string;
  /** in the order and spelling received */
  headers: readonly Header[];
}

/** One request and the connection that answers it. */
export class UpstreamExchange implements RequestHead {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly Header[];
  /** resolves when the client has closed the connection or the script has ended it */
  readonly closed: Promise<void>;
  readonly #ended = Promise.withResolvers<Buffer>();
  readonly #arrived: Buffer[] = [];

  constructor(
    head: RequestHead,
    private readonly socket: Socket,
  ) {
    this.method = head.method;
    this.target = head.target;
    this.headers = head.headers;
    this.#ended.promise.catch(() => {}); // a test that does not read the body need not handle its failure
    this.closed = new Promise((resolve) => {
      socket.once("close", () => {
        this.#ended.reject(new Error("the connection closed before the body was complete"));
        resolve();
      });
    });
  }

  /** @returns the value of a header, several joined with a comma; undefined without the header */
  header(name: string): string | undefined {
    const values = this.headers.filter(([other]) => other.toLowerCase() === name).map(([, value]) => value);
    return values.length === 0 ? undefined : values.join(", ");
  }

  /** @returns the whole body; rejects if the client disconnects before its end */
  body(): Promise<Buffer> {
    return this.#ended.promise;
  }

  /** bytes of the body so far */
  get bytesArrived(): number {
    return this.#arrived.reduce((sum, { length }) => sum + length, 0);
  }

  get isOpen(): boolean {
    return !this.socket.destroyed;
  }

  /** Writes bytes unchanged. @returns when the socket has accepted them, or the connection has closed */
  async write(bytes: string | Uint8Array): Promise<void> {
    if (this.socket.destroyed) return;
    const taken = Promise.withResolvers<void>();
    this.socket.write(bytes, () => taken.resolve());
    await Promise.race([taken.promise, this.closed]);
  }

  /** Writes a status line and headers. */
  async head(status: number, headers: readonly Header[] = []): Promise<void> {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
    await this.write(`HTTP/1.1 ${status} Scripted\r\n${lines.join("")}\r\n`);
  }

  /** Writes one chunk of a chunked body. */
  async chunk(bytes: string | Uint8Array): Promise<void> {
    const content = Buffer.from(bytes);
    await this.write(Buffer.concat([Buffer.from(`${content.length.toString(16)}\r\n`), content, CRLF]));
  }

  /** Writes the final chunk; the connection stays open for the next request. */
  async lastChunk(): Promise<void> {
    await this.write("0\r\n\r\n");
  }

  /** Sends a complete response, with its length declared. */
  async answer(
    status: number,
    body: string | Uint8Array = "",
    headers: readonly Header[] = [],
  ): Promise<void> {
    const content = Buffer.from(body);
    await this.head(status, [
      ["content-type", "application/json"],
      ...headers,
      ["content-length", `${content.length}`],
    ]);
    await this.write(content);
  }

  /** Sends a complete chunked event stream, one chunk per piece. */
  async stream(pieces: readonly (string | Uint8Array)[], headers: readonly Header[] = []): Promise<void> {
    await this.head(200, [...EVENT_STREAM, ...headers]);
    for (const piece of pieces) await this.chunk(piece);
    await this.lastChunk();
  }

  /** Closes the connection without an error (FIN). */
  close(): void {
    this.socket.end();
  }

  /** Resets the connection (RST). */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  /** Stops reading the request of the client. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** for the reader of the connection */
  arrive(bytes: Buffer): void {
    this.#arrived.push(bytes);
  }

  /** for the reader of the connection */
  complete(): void {
    this.#ended.resolve(Buffer.concat(this.#arrived));
  }
}

/** Headers of a chunked event stream. */
export const EVENT_STREAM: readonly Header[] = [
  ["content-type", "text/event-stream; charset=utf-8"],
  ["transfer-encoding", "chunked"],
];
const CRLF = Buffer.from("\r\n");

export class ScriptedUpstream implements AsyncDisposable {
  /** every request since the start or `forget`, in the order of arrival */
  readonly exchanges: UpstreamExchange[] = [];
  /** the script of requests that arrive from now on */
  script: Script = async (exchange) => {
    await exchange.body();
    await exchange.answer(200, "{}");
  };
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #arrivals: (() => void)[] = [];
  #connections = 0;

  private constructor() {
    this.#server = createServer((socket) => this.#accept(socket));
  }

  static async start(script?: Script): Promise<ScriptedUpstream> {
    const upstream = new ScriptedUpstream();
    if (script) upstream.script = script;
    const listening = Promise.withResolvers<void>();
    upstream.#server.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    return upstream;
  }

  get origin(): string {
    const address = this.#server.address();
    if (address === null || typeof address === "string") throw new Error("the upstream does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  /** connections that are open now */
  get open(): number {
    return this.#sockets.size;
  }

  /** connections accepted since the start */
  get connections(): number {
    return this.#connections;
  }

  /** @returns the exchange with this number, counted from 0, once its head has arrived */
  async exchange(index = 0): Promise<UpstreamExchange> {
    for (;;) {
      const found = this.exchanges[index];
      if (found) return found;
      await new Promise<void>((resolve) => this.#arrivals.push(resolve));
    }
  }

  /** Forgets earlier requests and closes their connections, for the next test on the same upstream. */
  forget(): void {
    this.exchanges.length = 0;
    for (const socket of this.#sockets) socket.destroy();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const stopped = Promise.withResolvers<void>();
    this.#server.close(() => stopped.resolve());
    for (const socket of this.#sockets) socket.destroy();
    await stopped.promise;
  }

  #accept(socket: Socket): void {
    this.#connections += 1;
    this.#sockets.add(socket);
    socket.setNoDelay(true);
    socket.setMaxListeners(0); // every exchange on the connection observes its end
    socket.on("error", () => {}); // a reset by the client; `close` follows
    socket.on("close", () => this.#sockets.delete(socket));
    const reader = new RequestReader((head) => this.#begin(head, socket));
    socket.on("data", (bytes: Buffer) => reader.read(bytes));
  }

  #begin(head: RequestHead, socket: Socket): UpstreamExchange {
    const exchange = new UpstreamExchange(head, socket);
    this.exchanges.push(exchange);
    const waiting = this.#arrivals;
    this.#arrivals = [];
    for (const resolve of waiting) resolve();
    void this.#run(exchange);
    return exchange;
  }

  /** A script may fail because the client disconnected; any other failure is a mistake in the test. */
  async #run(exchange: UpstreamExchange): Promise<void> {
    try {
      await this.script(exchange);
    } catch (error) {
      if (exchange.isOpen) throw error;
    }
  }
}
