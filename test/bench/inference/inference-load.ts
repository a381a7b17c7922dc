// Readers of event streams for benchmarks, in a separate process. They measure the delay of each chunk from the timestamp of the
// upstream and the number of chunks, or hold many idle streams open.
import { encodeRequest } from "../tools/load.ts";

/** The response of the upstream: `json`, `fast`, `paced` or `quiet`. */
export const BENCH_HEADER = "x-bench";
export const PIECES = 100;
export const PIECE_BYTES = 200;
export const PACE_MS = 10;

/** Read from standard input, as JSON. */
export interface StreamPlan {
  port: number;
  streams: number;
  path: string;
  /** used in turn */
  tokens: readonly string[];
  body: string;
  answer: "paced" | "quiet";
  /** paced streams are restarted until then; quiet ones are held until the process ends */
  seconds: number;
}

export interface StreamResult {
  /** streams that have started */
  open: number;
  pieces: number;
  p50Ms: number;
  p99Ms: number;
  /** broken connections, and responses other than 200 */
  errors: number;
}

const OPENED_AT_ONCE = 100;
const HEADER = { "Content-Type": "application/json" };
const STAMP = /data: (\d+\.?\d*) /g;
/** the last chunk (RFC 9112 section 7.1) */
const ENDED = "0\r\n\r\n";

interface Stream {
  token: string;
  hasBegun: boolean;
}

class StreamRun {
  readonly #delaysMs: number[] = [];
  #open = 0;
  #errors = 0;
  #isOver = false;

  constructor(private readonly plan: StreamPlan) {}

  async open(): Promise<void> {
    const { streams, tokens } = this.plan;
    for (let at = 0; at < streams; at += OPENED_AT_ONCE) {
      const some = Array.from({ length: Math.min(OPENED_AT_ONCE, streams - at) }, (_, index) =>
        this.#connect(tokens[(at + index) % tokens.length] ?? ""),
      );
      await Promise.all(some);
    }
  }

  async #connect(token: string): Promise<void> {
    const begun = Promise.withResolvers<void>();
    const socket = await Bun.connect<Stream>({
      hostname: "127.0.0.1",
      port: this.plan.port,
      data: { token, hasBegun: false },
      socket: {
        data: (one, bytes) => {
          this.#receive(one, bytes.toString("latin1"));
          begun.resolve();
        },
        close: () => {
          if (!this.#isOver) this.#errors += 1;
          begun.resolve();
        },
      },
    });
    this.#ask(socket);
    await begun.promise;
  }

  #ask(socket: Bun.Socket<Stream>): void {
    const { port, path, body, answer } = this.plan;
    const headers = { ...HEADER, [BENCH_HEADER]: answer, Authorization: `Bearer ${socket.data.token}` };
    socket.data.hasBegun = false;
    socket.write(encodeRequest({ method: "POST", path, headers, body }, port));
  }

  #receive(socket: Bun.Socket<Stream>, text: string): void {
    const nowMs = performance.timeOrigin + performance.now();
    if (!socket.data.hasBegun) {
      socket.data.hasBegun = true;
      if (text.startsWith("HTTP/1.1 200")) this.#open += 1;
      else this.#errors += 1;
    }
    for (const [, stamp] of text.matchAll(STAMP)) this.#delaysMs.push(nowMs - Number(stamp));
    if (text.endsWith(ENDED) && !this.#isOver) this.#ask(socket);
  }

  result(): StreamResult {
    this.#isOver = true;
    const sorted = Float64Array.from(this.#delaysMs).sort();
    const atQuantile = (q: number) => sorted[Math.ceil(sorted.length * q) - 1] ?? Number.NaN;
    return {
      open: this.#open,
      pieces: sorted.length,
      p50Ms: atQuantile(0.5),
      p99Ms: atQuantile(0.99),
      errors: this.#errors,
    };
  }
}

if (import.meta.main) {
  const plan: StreamPlan = await Bun.stdin.json();
  const run = new StreamRun(plan);
  const ended = Promise.withResolvers<void>();
  process.once("SIGTERM", () => ended.resolve());
  await run.open();
  if (plan.answer === "quiet") {
    console.log("open");
    await ended.promise;
  } else await Bun.sleep(plan.seconds * 1_000);
  console.log(JSON.stringify(run.result()));
  process.exit(0);
}
