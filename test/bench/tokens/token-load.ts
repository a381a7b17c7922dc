// Many tokens, from a separate process: a number of requests over some connections, one in flight on each, every one
// with the token of another workstation, in an order unrelated to the enrollment.
import {
  type FleetTraffic,
  policyRequest,
  readTokens,
  statusRequest,
  workstationAt,
} from "../fleet/fleet-requests.ts";
import { encodeRequest, readResponse } from "../tools/load.ts";

/** Read from standard input, as JSON. */
export interface TokenPlan extends FleetTraffic {
  port: number;
  connections: number;
  requests: number;
  /** `forged`: fetches the policy with tokens whose signature is wrong */
  what: "policy" | "report" | "forged";
  /** number of tokens to use, and the first one */
  from: number;
  count: number;
  /** so that this run continues with other workstations */
  sentBefore: number;
}

export interface TokenResult {
  seconds: number;
  /** answers by status code */
  statuses: Record<string, number>;
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
}

interface Connection {
  sentAtMs: number;
  received: Buffer;
}

const NOTHING = Buffer.alloc(0);
/** distance from the end of a token: a character in the middle of its signature */
const FORGED_AT = 40;
const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/** @returns a token with a different signature than the given token and the token of the next call */
function forged(token: string, at: number): string {
  const forgery = [0, 6, 12, 18].map((shift) => ALPHABET[(at >>> shift) & 63]).join("");
  return `${token.slice(0, -FORGED_AT)}${forgery}${token.slice(4 - FORGED_AT)}`;
}

class TokenRun {
  readonly #latenciesMs: number[] = [];
  readonly #statuses: Record<string, number> = {};
  #next = 0;
  readonly #ended = Promise.withResolvers<void>();

  constructor(
    private readonly plan: TokenPlan,
    private readonly tokens: readonly string[],
  ) {}

  async run(): Promise<TokenResult> {
    const begin = performance.now();
    const opening = Array.from({ length: this.plan.connections }, () => this.#connect());
    await Promise.all(opening);
    await this.#ended.promise;
    const seconds = (performance.now() - begin) / 1_000;
    const sorted = Float64Array.from(this.#latenciesMs).sort();
    const atQuantile = (q: number) => sorted[Math.ceil(sorted.length * q) - 1] ?? Number.NaN;
    const [p50Ms, p99Ms, maxMs] = [atQuantile(0.5), atQuantile(0.99), atQuantile(1)];
    return { seconds, statuses: this.#statuses, p50Ms, p99Ms, maxMs };
  }

  #connect = () =>
    Bun.connect<Connection>({
      hostname: "127.0.0.1",
      port: this.plan.port,
      data: { sentAtMs: 0, received: NOTHING },
      socket: {
        open: (socket) => this.#send(socket),
        data: (socket, bytes) => this.#receive(socket, bytes),
        close: () => this.#ended.reject(new Error("the service closed a connection")),
      },
    });

  #send(socket: Bun.Socket<Connection>): void {
    const at = this.#next++;
    if (at >= this.plan.requests) return;
    socket.data.sentAtMs = performance.now();
    const bytes = encodeRequest(this.#requestAt(at), this.plan.port);
    if (socket.write(bytes) !== bytes.length) throw new Error("a request did not fit the socket");
  }

  #requestAt(at: number) {
    const { what, from, count, sentBefore } = this.plan;
    const workstation = from + workstationAt(sentBefore + at, count);
    const token = this.tokens[workstation] ?? "";
    if (what === "report") return statusRequest(this.plan, workstation, token);
    return policyRequest(this.plan, workstation, what === "forged" ? forged(token, at) : token);
  }

  #receive(socket: Bun.Socket<Connection>, bytes: Buffer): void {
    const { data } = socket;
    data.received = data.received.length === 0 ? bytes : Buffer.concat([data.received, bytes]);
    const answer = readResponse(data.received, false);
    if (!answer) return;
    data.received = NOTHING;
    this.#statuses[answer.status] = (this.#statuses[answer.status] ?? 0) + 1;
    this.#latenciesMs.push(performance.now() - data.sentAtMs);
    if (this.#latenciesMs.length === this.plan.requests) this.#ended.resolve();
    else this.#send(socket);
  }
}

if (import.meta.main) {
  const plan: TokenPlan = await Bun.stdin.json();
  console.log(JSON.stringify(await new TokenRun(plan, await readTokens(plan)).run()));
  process.exit(0);
}
