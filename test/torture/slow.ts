// Two thousand slow clients: silent ones, heads and bodies sent a byte at a time, responses that nobody reads. Other clients must be
// served as usual, each slow connection must be closed in the end, and none of its resources may remain.
import { connect, type Socket } from "node:net";
import { IDLE_TIMEOUT_SECONDS } from "../../src/server/listener/listen.ts";
import { atMost, type Figure } from "../bench/figures.ts";
import { quantile } from "../bench/tools/compare.ts";
import { type Footprint, footprintOf } from "./footprint.ts";
import { createSite, errorsIn, type Site, stop } from "./site.ts";

const CLIENTS = 2_000;
const DRIP_EVERY_MS = 3_000;
const UNREAD_RESPONSES = 5;
/** the silence that the service allows, and time for its check, which runs every few seconds */
const CLOSING_MS = (IDLE_TIMEOUT_SECONDS + 15) * 1_000;
const ASK_EVERY_MS = 20;
/** The limit is twice the time without slow clients if that is more, as on a busy machine. */
const LATE_MS = 100;
const CALM_MS = 20_000;
const CHECK_EVERY_MS = 500;
const MEMORY_MORE_MB_MAX = 100;
/** ordinary clients also have some open connections */
const DESCRIPTORS_MORE_MAX = 10;
const CONNECT_AT_ONCE = 50;

interface Manner {
  begins: string;
  /** sent repeatedly */
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
  { begins: `GET /openapi.json HTTP/1.1\r\n${HOST}\r\n`.repeat(UNREAD_RESPONSES), reads: false },
];

/** Opens many slow connections and checks that others are still served. */
export async function tortureBySlowness(clients = CLIENTS): Promise<Figure[]> {
  using site = await createSite({ workstations: 1 });
  await using service = await site.start();
  const calm = ask(site);
  await Bun.sleep(CALM_MS);
  const before = await footprintOf(service.pid);
  const calmly = await calm.stop();
  const crowded = ask(site);
  const begin = performance.now();
  const sockets = await arrive(site, clients);
  await Bun.sleep(CHECK_EVERY_MS); // until the last connection has been accepted
  const during = await footprintOf(service.pid);
  const isCrowded = async () =>
    (await footprintOf(service.pid)).descriptors > before.descriptors + DESCRIPTORS_MORE_MAX;
  while ((await isCrowded()) && performance.now() < begin + CLOSING_MS) await Bun.sleep(CHECK_EVERY_MS);
  const seconds = (performance.now() - begin) / 1_000;
  const responses = await crowded.stop();
  const after = await footprintOf(service.pid);
  for (const socket of sockets) socket.destroy();
  const failures = errorsIn(service);
  for (const failure of failures.slice(0, 20)) console.error(failure);
  await stop(service);
  return figuresOf({
    clients,
    seconds,
    calmly,
    answers: responses,
    before,
    during,
    after,
    failures: failures.length,
  });
}

interface Answers {
  latenciesMs: number[];
  wrong: number;
}

interface Findings {
  clients: number;
  seconds: number;
  /** latencies of other clients: `calmly` before the slow ones connect, `answers` afterwards */
  calmly: Answers;
  answers: Answers;
  before: Footprint;
  during: Footprint;
  after: Footprint;
  failures: number;
}

function figuresOf(found: Findings): Figure[] {
  const { clients, seconds, calmly, answers, before, during, after } = found;
  const [p99Ms, calmP99Ms] = [p99Of(answers), p99Of(calmly)];
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
    { what: what("answers to others"), unit: "answers", ours: answers.latenciesMs.length },
    {
      what: what("99th percentile of others"),
      unit: "ms",
      ours: p99Ms,
      reference: calmP99Ms,
      verdict: atMost(Math.max(LATE_MS, 2 * calmP99Ms), p99Ms),
    },
    none("others without a good answer", "requests", answers.wrong),
    { what: what("until the last was closed"), unit: "s", ours: seconds },
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

const p99Of = ({ latenciesMs }: Answers): number => quantile(latenciesMs, 0.99);

async function arrive({ port }: Site, clients: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  while (sockets.length < clients) {
    const first = sockets.length;
    const group = Array.from({ length: Math.min(CONNECT_AT_ONCE, clients - first) }, (_, at) =>
      begin(port, MANNERS[(first + at) % MANNERS.length]),
    );
    sockets.push(...(await Promise.all(group)));
  }
  return sockets;
}

/** @returns the connection once it is open */
async function begin(port: number, manner: Manner | undefined): Promise<Socket> {
  const { begins = "", drips, reads = true } = manner ?? {};
  const connected = Promise.withResolvers<void>();
  const socket = connect(port, "127.0.0.1", connected.resolve);
  socket.on("error", connected.reject); // an error after the connection is open has no effect here: it also closes the socket
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

/** Sends requests at a steady rate, each over its own connection; latencies count from when a request was due. */
function ask({ baseUrl }: Site) {
  const responses: Answers = { latenciesMs: [], wrong: 0 };
  const running = new Set<Promise<void>>();
  const one = async () => {
    const dueMs = performance.now();
    const status = await fetch(`${baseUrl}/ready`, { keepalive: false }).then(
      async (response) => (await response.bytes()) && response.status,
      () => 0,
    );
    responses.latenciesMs.push(performance.now() - dueMs);
    if (status !== 200) responses.wrong += 1;
  };
  const timer = setInterval(() => {
    const request = one().finally(() => running.delete(request));
    running.add(request);
  }, ASK_EVERY_MS);
  return {
    async stop(): Promise<Answers> {
      clearInterval(timer);
      await Promise.all(running);
      return responses;
    },
  };
}
