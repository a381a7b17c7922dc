// Two thousand clients that take their time: silent ones, heads and bodies a byte at a time, answers that nobody reads.
// Others are served all the while as if they were not there, each slow one is closed in the end, and nothing is left of them.
import { connect, type Socket } from "node:net";
import { IDLE_TIMEOUT_SECONDS } from "../../src/server/listen.ts";
import { atMost, type Figure } from "../bench/figures.ts";
import { type Footprint, footprintOf } from "./footprint.ts";
import { createSite, errorsIn, type Site, stop } from "./site.ts";

const CLIENTS = 2_000;
const DRIP_EVERY_MS = 3_000;
const UNREAD_ANSWERS = 5;
/** after the silence that the service allows; it looks for silent connections every few seconds */
const CLOSING_MS = (IDLE_TIMEOUT_SECONDS + 15) * 1_000;
const ASK_EVERY_MS = 20;
const LATE_MS = 100;
const MEMORY_MORE_MB_MAX = 100;
const DESCRIPTORS_MORE_MAX = 3;
const CONNECT_AT_ONCE = 50;

interface Manner {
  begins: string;
  /** sent again and again */
  drips?: string;
  reads: boolean;
}

const HOST = "Host: localhost\r\n";
const POST = `POST /api/auth/sign-in/email HTTP/1.1\r\n${HOST}Content-Type: application/json\r\n`;
const MANNERS: readonly Manner[] = [
  { begins: "", reads: true },
  { begins: "GET /health HTTP/1.1\r\nHost: lo", reads: true },
  { begins: "GET /health HTTP/1.1\r\nX: ", drips: "a", reads: true },
  { begins: `${POST}Content-Length: 1000\r\n\r\n{`, drips: " ", reads: true },
  { begins: `${POST}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`, drips: "1\r\n \r\n", reads: true },
  { begins: `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(UNREAD_ANSWERS), reads: false },
];

/** Issue "An appliance that operators trust", Faults. */
export async function tortureBySlowness(clients = CLIENTS): Promise<Figure[]> {
  using site = await createSite({ workstations: 1 });
  await using service = await site.start();
  const asking = ask(site);
  await Bun.sleep(1_000);
  const before = await footprintOf(service.pid);
  const begin = performance.now();
  const crowd = await arrive(site, clients);
  const during = await footprintOf(service.pid);
  await Promise.race([crowd.gone, Bun.sleep(CLOSING_MS)]);
  const seconds = (performance.now() - begin) / 1_000;
  const left = crowd.open();
  const answers = await asking.stop();
  const after = await footprintOf(service.pid);
  crowd.leave();
  const failures = errorsIn(service);
  for (const failure of failures.slice(0, 20)) console.error(failure);
  await stop(service);
  return figuresOf({ clients, seconds, left, answers, before, during, after, failures: failures.length });
}

interface Findings {
  clients: number;
  seconds: number;
  /** slow connections that the service did not close */
  left: number;
  answers: { latenciesMs: number[]; wrong: number };
  before: Footprint;
  during: Footprint;
  after: Footprint;
  failures: number;
}

function figuresOf(found: Findings): Figure[] {
  const { clients, seconds, left, before, during, after } = found;
  const { latenciesMs, wrong } = found.answers;
  const p99Ms =
    latenciesMs.toSorted((one, other) => one - other)[Math.floor(latenciesMs.length * 0.99)] ?? NaN;
  const what = (name: string) => `${clients} slow clients: ${name}`;
  const descriptors = { reference: before.descriptors, unit: "open" };
  const memory = { reference: before.memoryMb, unit: "MB" };
  const none = (name: string, unit: string, ours: number): Figure => ({
    what: what(name),
    unit,
    ours,
    verdict: atMost(0, ours),
  });
  return [
    { what: what("answers to others"), unit: "answers", ours: latenciesMs.length },
    { what: what("99th percentile of others"), unit: "ms", ours: p99Ms, verdict: atMost(LATE_MS, p99Ms) },
    none("others without a good answer", "requests", wrong),
    { what: what("until the last was closed"), unit: "s", ours: seconds },
    none("never closed", "connections", left),
    { what: what("descriptors meanwhile"), ...descriptors, ours: during.descriptors },
    {
      what: what("descriptors afterwards"),
      ...descriptors,
      ours: after.descriptors,
      verdict: atMost(before.descriptors + DESCRIPTORS_MORE_MAX, after.descriptors),
    },
    { what: what("memory meanwhile"), ...memory, ours: during.memoryMb },
    {
      what: what("memory afterwards"),
      ...memory,
      ours: after.memoryMb,
      verdict: atMost(before.memoryMb + MEMORY_MORE_MB_MAX, after.memoryMb),
    },
    none("failures in the log", "lines", found.failures),
  ];
}

interface Crowd {
  /** when the service has closed the last of them */
  gone: Promise<void>;
  open(): number;
  leave(): void;
}

async function arrive({ port }: Site, clients: number): Promise<Crowd> {
  const sockets = new Set<Socket>();
  const gone = Promise.withResolvers<void>();
  let arrived = 0;
  for (; arrived < clients; arrived += CONNECT_AT_ONCE) {
    const group = Array.from({ length: Math.min(CONNECT_AT_ONCE, clients - arrived) }, (_, at) =>
      begin(port, MANNERS[(arrived + at) % MANNERS.length]),
    );
    for (const socket of await Promise.all(group)) {
      sockets.add(socket);
      socket.on("close", () => {
        sockets.delete(socket);
        if (sockets.size === 0) gone.resolve();
      });
    }
  }
  return {
    gone: gone.promise,
    open: () => sockets.size,
    leave: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** @returns the connection once it is open */
async function begin(port: number, manner: Manner | undefined): Promise<Socket> {
  const { begins = "", drips, reads = true } = manner ?? {};
  const connected = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", connected.resolve);
  socket.on("error", connected.reject); // afterwards nobody hears it: the connection closes, too
  await connected.promise;
  if (reads) socket.resume();
  else socket.pause();
  if (begins !== "") socket.write(begins);
  if (drips !== undefined) {
    const timer = setInterval(() => socket.write(drips), DRIP_EVERY_MS);
    socket.on("close", () => clearInterval(timer));
  }
  return socket;
}

/** Asks at a steady pace; latencies count from when a request was due. */
function ask({ baseUrl }: Site) {
  const answers = { latenciesMs: [] as number[], wrong: 0 };
  const running = new Set<Promise<void>>();
  const one = async () => {
    const dueMs = performance.now();
    const status = await fetch(`${baseUrl}/ready`).then(
      async (answer) => (await answer.bytes()) && answer.status,
      () => 0,
    );
    answers.latenciesMs.push(performance.now() - dueMs);
    if (status !== 200) answers.wrong += 1;
  };
  const timer = setInterval(() => {
    const request = one().finally(() => running.delete(request));
    running.add(request);
  }, ASK_EVERY_MS);
  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(running);
      return answers;
    },
  };
}
