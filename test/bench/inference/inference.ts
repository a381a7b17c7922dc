// `bun run bench inference`: requests and streams through the executable, compared with the upstream itself, nginx if
// it is installed, a proxy on this runtime that only forwards, one that does the indispensable work, and LiteLLM if the
// environment names it:
//   LITELLM  command of a LiteLLM proxy, for example /srv/litellm/bin/litellm
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generate } from "selfsigned";
import { atLeast, atMost, type Figure } from "../figures.ts";
import { load, processorMs, residentMb } from "../processes.ts";
import { compareAlternating } from "../tools/compare.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import { PIECES } from "./inference-load.ts";
import { paced, requestsOf, type Target, targetsOf } from "./inference-requests.ts";
import {
  CHAT_PATH,
  type InferenceSite,
  startedIn,
  startInferenceSite,
  startService,
} from "./inference-site.ts";
import { startLitellm } from "./litellm.ts";
import { measureHeldStreams, measurePacedStreams } from "./streams.ts";

const ROUNDS = 5;
const SECONDS = 2;
const CONNECTIONS = 32;
const STREAMS = 16;
const PACED = { perSecond: 300, seconds: 5 };
/** milliseconds of processor time */
const REQUEST_COST_MAX_MS = 0.13;

/** Measures inference. Goals: the inference chapter of the handbook, and the results of the bare proxy in the same run. */
export async function* measureInference(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  mkdirSync(join(directory.path, "site"));
  await using site = await startInferenceSite(join(directory.path, "site"));
  yield* await measureHeldStreams(site); // first, because other load increases the memory
  yield* await measureRequests(site);
  yield* await measureDelay(site);
  yield* await measureFastStreams(site);
  yield* await measurePacedStreams(site);
  yield* await measureLog(site);
  yield* await measureLitellm(site);
  yield await measureTls(site);
}

interface Throughput {
  what: string;
  unit: string;
  answer: string;
  connections: number;
  /** of one request */
  units: number;
}

/** @returns rows of a side-by-side run; the first is the upstream alone */
async function throughput(site: InferenceSite, { answer, connections, units }: Throughput) {
  const least = answer === "json" && { least: { port: site.least.port, path: CHAT_PATH } }; // it forwards no streams
  const targets = { ...targetsOf(site), ...least };
  const subjects = Object.fromEntries(
    Object.entries(targets).map(([name, { port, path }]) => {
      const requests = requestsOf(site, path, answer);
      const run = async () =>
        (await load({ port, connections, seconds: SECONDS, requests }, 200)).perSecond * units;
      return [name, run];
    }),
  );
  for (const run of Object.values(subjects)) await run();
  return await compareAlternating({ rounds: ROUNDS, subjects });
}

type Row = Awaited<ReturnType<typeof throughput>>[number];

const rowOf = (rows: readonly Row[], name: Target): Row | undefined => rows.find((row) => row.name === name);

function tell(rows: readonly Row[], { what }: Throughput): void {
  const medians = rows.map(({ name, median }) => `${name} ${Math.round(median)}`);
  console.error(`  ${what}: ${medians.join(", ")}`);
}

/** @returns the comparison of the service with another server */
function compared(
  rows: readonly Row[],
  { what, unit }: Throughput,
  against: Target,
): Figure & { ratio: number } {
  const ours = rowOf(rows, "ours");
  const reference = rowOf(rows, against);
  const ratio = (ours?.ratio ?? Number.NaN) / (reference?.ratio ?? Number.NaN);
  return {
    what: `${what} (against ${against})`,
    unit,
    ratio,
    ours: ours?.median ?? Number.NaN,
    reference: reference?.median ?? Number.NaN,
  };
}

function comparedWith(goal: number, figure: Figure & { ratio: number }): Figure {
  return { ...figure, verdict: atLeast(goal, figure.ratio) };
}

async function measureRequests(site: InferenceSite): Promise<Figure[]> {
  const plan = {
    what: `2 KB of JSON, ${CONNECTIONS} connections`,
    unit: "requests/s",
    answer: "json",
    connections: CONNECTIONS,
    units: 1,
  };
  const rows = await throughput(site, plan);
  tell(rows, plan);
  const { port, path } = targetsOf(site).ours;
  const usedMs = await processorMs(site.service.pid);
  const requests = requestsOf(site, path);
  const result = await load({ port, connections: CONNECTIONS, seconds: 2 * SECONDS, requests }, 200);
  const costMs = ((await processorMs(site.service.pid)) - usedMs) / result.requests;
  return [
    comparedWith(0.6, compared(rows, plan, "bare")),
    compared(rows, plan, "least"),
    {
      what: "processor time of a request",
      unit: "ms",
      ours: costMs,
      verdict: atMost(REQUEST_COST_MAX_MS, costMs),
    },
  ];
}

/** The added latency of a request compared with no proxy, at a rate that overloads none of them. */
async function measureDelay(site: InferenceSite): Promise<Figure[]> {
  const { direct, ours } = targetsOf(site);
  const p50: Record<string, number[]> = { direct: [], ours: [] };
  const p99: Record<string, number[]> = { direct: [], ours: [] };
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, { port, path }] of Object.entries({ direct, ours })) {
      const result = await paced({ ...PACED, port, requests: requestsOf(site, path) });
      p50[name]?.push(result.p50Ms);
      p99[name]?.push(result.p99Ms);
    }
  }
  const added = (what: string, samples: Record<string, number[]>, wanted: number): Figure => {
    const [least, own] = [middle(samples.direct), middle(samples.ours)];
    const ours = own - least;
    const name = `${PACED.perSecond} requests/s: added to the ${what}`;
    return { what: name, unit: "ms", ours, verdict: atMost(wanted, ours) };
  };
  return [added("median", p50, 0.8), added("99th percentile", p99, 3)];
}

const middle = (samples: readonly number[] = []): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length / 2)] ?? Number.NaN;

async function measureFastStreams(site: InferenceSite): Promise<Figure[]> {
  const plan = {
    what: `${STREAMS} streams as fast as possible`,
    unit: "pieces/s",
    answer: "fast",
    connections: STREAMS,
    units: PIECES,
  };
  const rows = await throughput(site, plan);
  tell(rows, plan);
  return [comparedWith(0.45, compared(rows, plan, "direct"))];
}

const DROPPED = /^quartermaster_inference_log_dropped_total(?:\{[^}]*\})? (\d+)/gm;

/** After all earlier requests: rows that the log lost, and the memory of the service. */
async function measureLog({ service }: InferenceSite): Promise<Figure[]> {
  const metrics = await (await fetch(`http://127.0.0.1:${service.port}/metrics`)).text();
  const dropped = [...metrics.matchAll(DROPPED)].reduce((sum, [, count]) => sum + Number(count), 0);
  return [
    {
      what: "rows of the request log lost in all that",
      unit: "rows",
      ours: dropped,
      verdict: atMost(0, dropped),
    },
    { what: "memory after all that", unit: "MB", ours: await residentMb(service.pid) },
  ];
}

async function measureLitellm(site: InferenceSite): Promise<Figure[]> {
  const command = process.env.LITELLM;
  if (command === undefined) return [];
  await using litellm = await startLitellm(command, site);
  const { port, path } = targetsOf(site).ours;
  const seconds = 5;
  const ours = await load({ port, connections: CONNECTIONS, seconds, requests: requestsOf(site, path) }, 200);
  const requests = requestsOf({ ...site, tokens: [litellm.key] }, CHAT_PATH);
  const plan = { port: litellm.port, connections: CONNECTIONS, seconds, requests };
  await load(plan, 200); // it loads modules with its first requests, which take three times as long
  const peer = await load(plan, 200);
  const ratio = ours.perSecond / peer.perSecond;
  return [
    {
      what: `2 KB of JSON, ${CONNECTIONS} connections (against LiteLLM, one worker)`,
      unit: "requests/s",
      ours: ours.perSecond,
      reference: peer.perSecond,
      ratio,
      verdict: atLeast(100, ratio),
    },
  ];
}

/** The same with TLS to the workstation, without a goal. */
async function measureTls(site: InferenceSite): Promise<Figure> {
  await using starting = new AsyncDisposableStack();
  const directory = join(site.directory, "tls");
  mkdirSync(directory);
  const origin = `http://127.0.0.1:${site.upstream.port}`;
  const secured = await startService(directory, origin, startedIn(starting), await certificateIn(directory));
  const { path } = targetsOf(site).ours;
  const measure = async (one: Pick<InferenceSite, "service" | "tokens">, tls: boolean) => {
    const requests = requestsOf({ ...site, ...one }, path);
    const plan = { port: one.service.port, tls, connections: CONNECTIONS, seconds: 2 * SECONDS, requests };
    return (await load(plan, 200)).perSecond;
  };
  const reference = await measure(site, false);
  const ours = await measure(secured, true);
  const what = `2 KB of JSON, ${CONNECTIONS} connections, with TLS (against without)`;
  return { what, unit: "requests/s", ours, reference, ratio: ours / reference };
}

/** @returns flags of the service */
async function certificateIn(directory: string): Promise<string[]> {
  const { cert, private: key } = await generate([{ name: "commonName", value: "localhost" }]);
  const [certFile, keyFile] = [join(directory, "cert.pem"), join(directory, "key.pem")];
  writeFileSync(certFile, cert);
  writeFileSync(keyFile, key, { mode: 0o600 });
  return ["--server-tls-cert", certFile, "--server-tls-key", keyFile];
}
