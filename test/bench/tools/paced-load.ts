// Requests at a constant rate, whether or not a server keeps up: every latency counts from the moment a request was due, so that a
// stall is visible in all requests that had to wait and not in one. They share a pool of connections, as behind a reverse proxy; a
// request without a free connection waits. Run as a process, it sends the requests of a plan in turn.
import { encodeRequest, type LoadRequest, readResponse } from "./load.ts";

const CONNECTIONS = 256;
/** how long responses may take after the last request */
const PATIENCE_MS = 10_000;

export interface Pace {
  port: number;
  perSecond: number;
  seconds: number;
}

/** Read from standard input, as JSON. */
export interface PacedPlan extends Pace {
  /** sent in turn */
  requests: readonly LoadRequest[];
}

export interface PacedResult {
  /** requests that were due */
  due: number;
  /** answers by status code */
  statuses: Record<string, number>;
  /** requests without a response: a connection broke, or the time limit was reached */
  unanswered: number;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

interface Due {
  at: number;
  /** by performance.now() */
  dueAtMs: number;
}

interface Connection {
  awaited: Due | undefined;
  received: Buffer;
}

type Socket = Bun.Socket<Connection>;

const NOTHING = Buffer.alloc(0);

/** One run. `requestAt` returns the request of each turn, from 0. */
export class PacedRun {
  readonly #latenciesMs: number[] = [];
  readonly #statuses: Record<string, number> = {};
  readonly #idle: Socket[] = [];
  readonly #waiting: Due[] = [];
  #broken = 0;

  constructor(
    private readonly plan: Pace,
    private readonly requestAt: (turn: number) => LoadRequest,
  ) {}

  async run(): Promise<PacedResult> {
    const { perSecond, seconds } = this.plan;
    for (let opened = 0; opened < CONNECTIONS; opened++) this.#idle.push(await this.#connect());
    const due = Math.floor(perSecond * seconds);
    const begin = performance.now();
    for (let at = 0; at < due; await Bun.sleep(1)) {
      const elapsedMs = performance.now() - begin;
      for (; at < due && (at * 1_000) / perSecond <= elapsedMs; at++)
        this.#send({ at, dueAtMs: begin + (at * 1_000) / perSecond });
    }
    const deadline = performance.now() + PATIENCE_MS;
    while (this.#latenciesMs.length + this.#broken < due && performance.now() < deadline) await Bun.sleep(10);
    return this.#result(due);
  }

  #result(due: number): PacedResult {
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const atQuantile = (q: number) => sorted[Math.ceil(sorted.length * q) - 1] ?? Number.NaN;
    return {
      due,
      statuses: this.#statuses,
      unanswered: due - sorted.length,
      p50Ms: atQuantile(0.5),
      p99Ms: atQuantile(0.99),
      maxMs: atQuantile(1),
    };
  }

  #connect = (): Promise<Socket> =>
    Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: this.plan.port,
      data: { awaited: undefined, received: NOTHING },
      socket: {
        data: (socket, bytes) => {
          try {
            this.#receive(socket, bytes);
          } catch {
            socket.terminate(); // not HTTP
          }
        },
        close: (socket) => this.#replace(socket),
      },
    });

  /** The connection that was idle longest is used next, so that none is closed as idle. */
  #send(due: Due): void {
    const socket = this.#idle.shift();
    if (!socket) {
      this.#waiting.push(due);
      return;
    }
    socket.data.awaited = due;
    const bytes = encodeRequest(this.requestAt(due.at), this.plan.port);
    if (socket.write(bytes) !== bytes.length) socket.terminate();
  }

  #receive(socket: Socket, bytes: Buffer): void {
    const { data } = socket;
    data.received = data.received.length === 0 ? bytes : Buffer.concat([data.received, bytes]);
    const answer = readResponse(data.received, false);
    if (!answer || !data.awaited) return;
    this.#latenciesMs.push(performance.now() - data.awaited.dueAtMs);
    this.#statuses[answer.status] = (this.#statuses[answer.status] ?? 0) + 1;
    data.awaited = undefined;
    data.received = NOTHING;
    this.#rest(socket);
  }

  #rest(socket: Socket): void {
    this.#idle.push(socket);
    const next = this.#waiting.shift();
    if (next) this.#send(next);
  }

  /** Its request, if it had one, stays unanswered; a stopped service is not called again. */
  #replace(socket: Socket): void {
    const at = this.#idle.indexOf(socket);
    if (at >= 0) this.#idle.splice(at, 1);
    if (socket.data.awaited) this.#broken += 1;
    this.#connect().then(
      (fresh) => this.#rest(fresh),
      () => {},
    );
  }
}

if (import.meta.main) {
  const plan: PacedPlan = await Bun.stdin.json();
  const { requests } = plan;
  const requestAt = (turn: number): LoadRequest =>
    requests[turn % requests.length] ?? { method: "GET", path: "/" };
  console.log(JSON.stringify(await new PacedRun(plan, requestAt).run()));
  process.exit(0);
}
