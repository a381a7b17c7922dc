// Load generator for benchmarks, run in a separate process so that it does not share the server's event loop: N keep-alive
// connections over plain TCP to loopback, one request in flight on each, no pipelining. It parses only the parts of HTTP/1.1 that a
// response needs. compare.ts and the caller interpret the results.

export const LOAD_CONNECTIONS_MAX = 1_024;
export const LOAD_SECONDS_MAX = 300;

export interface LoadRequest {
  method: string;
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/** Read from standard input, as JSON. */
export interface LoadPlan {
  port: number;
  /** over TLS, accepting any certificate */
  tls?: boolean;
  connections: number;
  seconds: number;
  /** sent in turn, over all connections */
  requests: readonly LoadRequest[];
  /** text that every response must contain; a response without it counts as an error */
  contains?: string;
  /**
   * Member of every JSON response that the connection sends back as a form field of its next request, like a client that rotates
   * its refresh token. Each connection then keeps to its own request, in their order.
   */
  carries?: string;
}

export interface LoadResult {
  requests: number;
  seconds: number;
  perSecond: number;
  /** answers by status code */
  statuses: Record<string, number>;
  p50Ms: number;
  p99Ms: number;
  /** refused or broken connections, and responses that are not HTTP or not as required */
  errors: number;
}

/** How much of a response has arrived: its status and length, or `undefined` while bytes are missing. */
export interface Answer {
  status: number;
  length: number;
}

const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * @param bytes everything received since the request was sent
 * @returns undefined while bytes are missing
 * @throws if the bytes are not an HTTP/1.1 response, or its length is known only at the end of the connection
 * @source RFC 9112 sections 4, 6.3 and 7.1
 */
export function readResponse(bytes: Buffer, toHead: boolean): Answer | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const status = Number(head.slice(9, 12));
  if (!head.startsWith("HTTP/1.1 ") || !(status >= 200)) throw new Error("not an HTTP/1.1 answer");
  const start = headEnd + HEAD_END.length;
  const length = bodyEnd(bytes, start, { head, empty: toHead || status === 204 || status === 304 });
  return length === undefined || length > bytes.length ? undefined : { status, length };
}

interface Framing {
  head: string;
  empty: boolean;
}

function bodyEnd(bytes: Buffer, start: number, { head, empty }: Framing): number | undefined {
  if (empty) return start;
  const declared = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (declared) return start + Number(declared[1]);
  if (/\r\ntransfer-encoding: *chunked/i.test(head)) return chunksEnd(bytes, start);
  throw new Error("an answer without a length");
}

function chunksEnd(bytes: Buffer, start: number): number | undefined {
  for (let at = start; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd < 0) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error("a chunk without a size");
    if (size === 0) return lineEnd + 4;
    at = lineEnd + 2 + size + 2;
    if (at > bytes.length) return undefined;
  }
}

/** @returns the bytes of one request; `Host` and `Content-Length` are added */
export function encodeRequest({ method, path, headers = {}, body }: LoadRequest, port: number): Buffer {
  const fields = { Host: `127.0.0.1:${port}`, ...headers };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`);
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n${body ?? ""}`);
}

interface Prepared {
  bytes: Buffer;
  toHead: boolean;
}

interface Connection {
  sentAtNs: number;
  toHead: boolean;
  /** with `carries`: what it sends next */
  own: LoadRequest | undefined;
  /** the part of a response that has arrived; empty most of the time */
  received: Buffer;
}

/** Runs one plan, or less of it if `ended` resolves. @throws if the plan is out of bounds */
export async function runLoad(plan: LoadPlan, ended?: Promise<void>): Promise<LoadResult> {
  refuseUnbounded(plan);
  const run = new LoadRun(plan);
  const begin = Bun.nanoseconds();
  for (let opened = 0; opened < plan.connections; opened++) run.open();
  run.stayAwake();
  await Promise.race([Bun.sleep(plan.seconds * 1_000), ...(ended ? [ended] : [])]);
  return run.end((Bun.nanoseconds() - begin) / 1e9);
}

function refuseUnbounded({ connections, seconds, requests }: LoadPlan): void {
  const sensible =
    connections >= 1 &&
    connections <= LOAD_CONNECTIONS_MAX &&
    seconds > 0 &&
    seconds <= LOAD_SECONDS_MAX &&
    requests.length > 0;
  if (sensible) return;
  throw new Error(
    `a plan has 1 to ${LOAD_CONNECTIONS_MAX} connections, up to ${LOAD_SECONDS_MAX} seconds and a request`,
  );
}

class LoadRun {
  readonly #plan: LoadPlan;
  readonly #requests: Prepared[];
  readonly #contains: Buffer | undefined;
  readonly #latenciesNs: number[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #sockets = new Set<Bun.Socket<Connection>>();
  #errors = 0;
  #next = 0;
  #running = true;

  constructor(plan: LoadPlan) {
    this.#plan = plan;
    this.#requests = plan.requests.map((request) => this.#prepare(request));
    this.#contains = plan.contains === undefined ? undefined : Buffer.from(plan.contains);
  }

  #prepare = (request: LoadRequest): Prepared => ({
    bytes: encodeRequest(request, this.#plan.port),
    toHead: request.method === "HEAD",
  });

  /** Opens one connection; a broken one is counted and opened again. */
  open(): void {
    if (!this.#running) return;
    const connected = Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: this.#plan.port,
      ...(this.#plan.tls && { tls: { rejectUnauthorized: false } }),
      data: { sentAtNs: 0, toHead: false, own: undefined, received: Buffer.alloc(0) },
      socket: {
        open: (socket) => {
          this.#sockets.add(socket);
          if (this.#plan.carries) socket.data.own = this.#plan.requests[this.#next++];
          this.#send(socket);
        },
        data: (socket, bytes) => this.#receive(socket, bytes),
        close: (socket) => this.#reopen(socket),
      },
    });
    connected.catch(() => {
      this.#errors += 1;
      // Refused immediately: without a pause, a dead server would keep this loop busy.
      setTimeout(() => this.open(), 100).unref();
    });
  }

  /** Waking a sleeping process is work of the server, and costs as much as a short response on virtual cores. */
  stayAwake(): void {
    if (this.#running) setImmediate(() => this.stayAwake());
  }

  end(seconds: number): LoadResult {
    this.#running = false;
    for (const socket of this.#sockets) socket.terminate();
    const sorted = Float64Array.from(this.#latenciesNs).sort();
    const atQuantile = (q: number) => (sorted[Math.ceil(sorted.length * q) - 1] ?? 0) / 1e6;
    return {
      requests: sorted.length,
      seconds,
      perSecond: Math.round(sorted.length / seconds),
      statuses: this.#statuses,
      p50Ms: atQuantile(0.5),
      p99Ms: atQuantile(0.99),
      errors: this.#errors,
    };
  }

  #send(socket: Bun.Socket<Connection>): void {
    const { own } = socket.data;
    const request = own ? this.#prepare(own) : this.#requests[this.#next++ % this.#requests.length];
    if (!request) return;
    socket.data.sentAtNs = Bun.nanoseconds();
    socket.data.toHead = request.toHead;
    // A request larger than the socket buffer would be cut; benchmarks send small ones.
    if (socket.write(request.bytes) !== request.bytes.length)
      throw new Error("a request did not fit the socket");
  }

  #receive(socket: Bun.Socket<Connection>, bytes: Buffer): void {
    if (!this.#running) return;
    const { data } = socket;
    const whole = data.received.length === 0 ? bytes : Buffer.concat([data.received, bytes]);
    try {
      const answer = readResponse(whole, data.toHead);
      if (!answer) {
        data.received = whole;
        return;
      }
      this.#latenciesNs.push(Bun.nanoseconds() - data.sentAtNs);
      this.#statuses[answer.status] = (this.#statuses[answer.status] ?? 0) + 1;
      this.#accept(data, whole.subarray(0, answer.length));
      data.received = whole.subarray(answer.length);
      this.#send(socket);
    } catch {
      socket.terminate();
    }
  }

  /** @throws if the response is not as required */
  #accept(data: Connection, answer: Buffer): void {
    if (this.#contains && !answer.includes(this.#contains)) throw new Error("another answer");
    const { carries } = this.#plan;
    if (!carries || !data.own) return;
    const fields = new URLSearchParams(data.own.body);
    fields.set(carries, JSON.parse(answer.toString("utf8", answer.indexOf(HEAD_END)))[carries]);
    data.own = { ...data.own, body: fields.toString() };
  }

  #reopen(socket: Bun.Socket<Connection>): void {
    this.#sockets.delete(socket);
    if (!this.#running) return;
    this.#errors += 1;
    this.open();
  }
}

if (import.meta.main) {
  const ended = Promise.withResolvers<void>();
  process.once("SIGTERM", () => ended.resolve());
  const plan: LoadPlan = await Bun.stdin.json();
  console.log(JSON.stringify(await runLoad(plan, ended.promise)));
  process.exit(0);
}
