// Operations of the console that depend on the number of rows: searches, the overview, exports of all rows, and event streams of
// administrators.
import { ADMIN_STREAMS_MAX } from "../../../src/server/overview/admin-events.ts";
import { atMost, budgeted, type Figure } from "../figures.ts";
import { peakMb, processorMs, residentMb, startPeak } from "../processes.ts";
import { GROUP_NAMES } from "./console-groups.ts";
import type { ConsoleSite } from "./console-site.ts";

const WARM_UPS = 5;
const TIMES = 40;
const TURN_MAX_MS = 20;

type Longest = (work: () => Promise<unknown>) => Promise<number>;

/** Page, limit in milliseconds, and the requirement that sets it. */
const PAGES: readonly [path: string, ms: number, id: string][] = [
  ["/console/clients?per_page=100&q=workstation-99123", 60, "CON-130"],
  ["/console/clients?per_page=100&q=station-99", 60, "CON-130"],
  ["/console/clients?per_page=100&q=99", 60, "CON-130"],
  ["/console/clients?per_page=100&q=example&sort=host", 60, "CON-130"],
  ["/console/clients?per_page=100&q=nobody", 60, "CON-130"],
  ["/console/clients?per_page=100&sort=user", 60, "CON-130"],
  ["/console/clients?per_page=100&health=attention", 60, "CON-130"],
  ["/console/users?per_page=100&q=worker-99122", 60, "CON-130"],
  ["/console/users?per_page=100&workstations=none", 60, "CON-130"],
  [`/console/users?per_page=100&group=${encodeURIComponent(GROUP_NAMES.small)}`, 60, "CON-130"],
  [`/console/users?per_page=100&group=${encodeURIComponent(GROUP_NAMES.everybody)}`, 60, "CON-130"],
  ["/console/search?q=workstation-99123", 100, "CON-18"],
  ["/console/search?q=worker", 100, "CON-18"],
  ["/console/search?q=nobody", 100, "CON-18"],
  ["/console", 60, "CON-38"],
  ["/console/clients/action?act=revoke&all=1&filter=", 60, "CON-130"],
];

/** @returns the 95th percentile of the responses of each page, and its longest turn */
export async function measureScale({ origin, cookies }: ConsoleSite, longest: Longest): Promise<Figure[]> {
  const figures: Figure[] = [];
  const headers = { cookie: cookies[0] ?? "", "accept-encoding": "gzip" };
  for (const [path, budget, id] of PAGES) {
    const times: number[] = [];
    const turn = await longest(async () => {
      for (let visit = 0; visit < WARM_UPS + TIMES; visit++) {
        const begin = performance.now();
        const answer = await fetch(origin + path, { headers, redirect: "manual" });
        await answer.bytes();
        if (answer.status !== 200) throw new Error(`${path} was answered with ${answer.status}`);
        if (visit >= WARM_UPS) times.push(performance.now() - begin);
      }
    });
    const late = times.toSorted((one, other) => one - other)[Math.floor(0.95 * TIMES) - 1] ?? Number.NaN;
    figures.push(
      { what: `${path}, ${id} whole answer, p95`, unit: "ms", ours: late, verdict: budgeted(budget, late) },
      {
        what: `${path}, CON-132 longest turn`,
        unit: "ms",
        ours: turn,
        verdict: budgeted(TURN_MAX_MS, turn),
      },
    );
  }
  return figures;
}

const FILES = ["/console/clients.csv", "/console/users.csv"];
/** A streamed export uses memory for some pages of rows, not for all. */
const FILE_MEMORY_MB = 64;

/** @returns duration, memory and longest turn of the exports of all rows */
export async function measureFilesOfRows(
  { origin, cookies, service: { pid } }: ConsoleSite,
  longest: Longest,
): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const path of FILES) {
    const headers = { cookie: cookies[0] ?? "" };
    await (await fetch(origin + path, { headers })).bytes(); // fills the page cache of the database
    const before = await startPeak(pid);
    let lines = 0;
    let seconds = 0;
    const turn = await longest(async () => {
      const begin = performance.now();
      const answer = await fetch(origin + path, { headers });
      for await (const chunk of answer.body ?? []) for (const byte of chunk) if (byte === 0x0a) lines += 1;
      seconds = (performance.now() - begin) / 1_000;
    });
    const grown = (await peakMb(pid)) - before;
    figures.push(
      { what: `CON-24 ${path}, rows`, unit: "rows", ours: lines - 1 },
      { what: `CON-24 ${path}`, unit: "s", ours: seconds },
      {
        what: `CON-24 ${path}, memory beyond the one before`,
        unit: "MB",
        ours: grown,
        verdict: atMost(FILE_MEMORY_MB, grown),
      },
      {
        what: `CON-132 ${path}, longest turn`,
        unit: "ms",
        ours: turn,
        verdict: budgeted(TURN_MAX_MS, turn),
      },
    );
  }
  return figures;
}

interface Page {
  events: number;
  hasEnded: boolean;
}

const PATIENCE_MS = 20_000;
const EVENTS = 20;
const LATEST_MS = 2_500;

/** Changes made while streams are open, from another process than the one that serves the streams. */
export interface StreamChanges {
  /** Causes an event for every stream. */
  change(): Promise<unknown>;
  /** Ends the session of one cookie. */
  revoke(cookie: string): Promise<unknown>;
}

/** @returns memory, cost of an event, and how soon streams receive a change and the end of their session */
export async function measureAdminStreams(
  { service, cookies }: ConsoleSite,
  { change, revoke }: StreamChanges,
): Promise<Figure[]> {
  const { pid, port } = service;
  const before = await residentMb(pid);
  const pages = await Promise.all(
    Array.from({ length: ADMIN_STREAMS_MAX }, (_, at) =>
      openStream(port, cookies[at % cookies.length] ?? ""),
    ),
  );
  await waitFor(() => pages.every(({ isOpen }) => isOpen));
  const memory = (await residentMb(pid)) - before;
  const refused = await openStream(port, cookies[0] ?? "");
  await waitFor(() => refused.status !== 0);
  const used = await processorMs(pid);
  const times: number[] = [];
  for (let at = 1; at <= EVENTS; at++) {
    const least = Math.min(...pages.map(({ events }) => events));
    const begin = performance.now();
    await change();
    await waitFor(() => pages.every(({ events }) => events > least));
    times.push(performance.now() - begin);
  }
  const spent = (await processorMs(pid)) - used;
  const own = pages.filter((_, at) => at % cookies.length === 0);
  const begin = performance.now();
  await revoke(cookies[0] ?? "");
  await waitFor(() => own.every(({ hasEnded }) => hasEnded));
  const revoked = performance.now() - begin;
  const others = pages.filter(({ hasEnded }) => hasEnded).length - own.length;
  for (const { close } of pages) close();
  const slowest = Math.max(...times);
  return [
    { what: "CON-115 simultaneous event streams of administrators", unit: "streams", ours: pages.length },
    { what: "CON-115 status of one more", unit: "status", ours: refused.status },
    { what: "memory for each of them", unit: "KB", ours: (memory * 1_024) / pages.length },
    {
      what: `from a change until the last stream heard of it, slowest of ${EVENTS}`,
      unit: "ms",
      ours: slowest,
      verdict: atMost(LATEST_MS, slowest),
    },
    { what: "processor time of an event and the second around it", unit: "ms", ours: spent / EVENTS },
    {
      what: "from the end of a session until its last stream ended",
      unit: "ms",
      ours: revoked,
      verdict: atMost(LATEST_MS, revoked),
    },
    {
      what: "streams of other sessions that ended with it",
      unit: "streams",
      ours: others,
      verdict: atMost(0, others),
    },
  ];
}

interface Stream extends Page {
  isOpen: boolean;
  status: number;
  close(): void;
}

async function openStream(port: number, cookie: string): Promise<Stream> {
  const stream: Stream = { events: 0, hasEnded: false, isOpen: false, status: 0, close: () => undefined };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, bytes) {
        const text = bytes.toString();
        stream.status ||= Number(/^HTTP\/1.1 (\d+)/.exec(text)?.[1] ?? 0);
        if (text.includes("retry: ")) stream.isOpen = true;
        if (text.includes("event: ")) stream.events += 1;
        if (text.endsWith("0\r\n\r\n")) stream.hasEnded = true; // the last chunk (RFC 9112 section 7.1)
      },
      close() {
        stream.hasEnded = true;
      },
    },
  });
  socket.write(`GET /admin/events HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: ${cookie}\r\n\r\n`);
  stream.close = () => socket.end();
  return stream;
}

async function waitFor(holds: () => boolean): Promise<void> {
  const until = performance.now() + PATIENCE_MS;
  while (!holds()) {
    if (performance.now() > until) throw new Error("the streams did not do what was waited for");
    await Bun.sleep(1);
  }
}
