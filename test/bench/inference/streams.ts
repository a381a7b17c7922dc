// Event streams over time: the added delay of a chunk, the memory of idle streams, and the slowdown of the control API in the
// meantime.
import { CLIENT_HEADERS } from "../clients/policy-fetch.ts";
import { atLeast, atMost, type Figure } from "../figures.ts";
import { onItsCore, residentMb, script } from "../processes.ts";
import { PACE_MS, type StreamPlan, type StreamResult } from "./inference-load.ts";
import { BODY, paced, targetsOf } from "./inference-requests.ts";
import type { InferenceSite } from "./inference-site.ts";

const PACED_STREAMS = 50;
const PACED_SECONDS = 8;
/** delay that a proxy may add to a chunk, in ms, and the share of the rate that it must keep */
const ADDED_MAX_MS = 0.5;
const RATE_MIN = 0.97;
/** megabytes with this many idle streams */
const HELD = [
  { streams: 500, wantedMb: 110 },
  { streams: 2_000, wantedMb: 200 },
];
const SETTLING_MS = 3_000;
const CONTROL = { perSecond: 200, seconds: 5 };
const CONTROL_PATHS = ["/admin/package-catalog", "/governance-config"];

/** Streams with a chunk from the upstream every 10 ms, through each server side by side. */
export async function measurePacedStreams(site: InferenceSite): Promise<Figure[]> {
  const results: Record<string, StreamResult> = {};
  for (const [name, { port, path }] of Object.entries(targetsOf(site))) {
    const plan = planOf(site, { port, path, streams: PACED_STREAMS, answer: "paced" });
    const running = startStreams({ ...plan, seconds: PACED_SECONDS });
    results[name] = await running.result;
  }
  const told = Object.entries(results).map(([name, { p50Ms, p99Ms }]) => `${name} ${p50Ms}/${p99Ms}`);
  console.error(`  milliseconds from upstream to reader, median/99th: ${told.join(", ")}`);
  const { direct, ours } = results;
  const added = (ours?.p50Ms ?? Number.NaN) - (direct?.p50Ms ?? Number.NaN);
  const rate = (ours?.pieces ?? Number.NaN) / (direct?.pieces ?? Number.NaN);
  const what = `${PACED_STREAMS} streams with a piece every ${PACE_MS} ms`;
  return [
    { what: `${what}: added to the median`, unit: "ms", ours: added, verdict: atMost(ADDED_MAX_MS, added) },
    {
      what: `${what}: pieces (against direct)`,
      unit: "pieces",
      ours: ours?.pieces ?? Number.NaN,
      reference: direct?.pieces ?? Number.NaN,
      ratio: rate,
      verdict: atLeast(RATE_MIN, rate),
    },
  ];
}

/**
 * Streams that stay open without data, and requests to the control API while most of them are open. The bare proxy
 * holds the same streams and little else, so the addition of the streams is compared.
 */
export async function measureHeldStreams(site: InferenceSite): Promise<Figure[]> {
  const { ours } = targetsOf(site);
  const { pid } = site.service;
  const figures: Figure[] = [];
  const addedToBare = await measureBareStreams(site);
  const idle = await controlLatencies(site);
  const beforeMb = await residentMb(pid);
  for (const { streams, wantedMb } of HELD) {
    const held = await holdStreams(site, ours, streams);
    const mb = await residentMb(pid);
    const what = `memory with ${streams} quiet streams`;
    figures.push({ what, unit: "MB", ours: mb, verdict: atMost(wantedMb, mb) });
    const [added, reference] = [mb - beforeMb, addedToBare.get(streams) ?? Number.NaN];
    figures.push({
      what: "memory that they add (against bare)",
      unit: "MB",
      ours: added,
      reference,
      ratio: added / reference,
    });
    if (streams === HELD.at(-1)?.streams) figures.push(...besideStreams(idle, await controlLatencies(site)));
    const { open } = await held.end();
    figures.push({
      what: `quiet streams open`,
      unit: "streams",
      ours: open,
      verdict: atLeast(streams, open),
    });
  }
  await Bun.sleep(SETTLING_MS);
  const afterMb = await residentMb(pid);
  const ratio = afterMb / beforeMb;
  return [
    ...figures,
    {
      what: "memory after the streams (against before)",
      unit: "MB",
      ours: afterMb,
      reference: beforeMb,
      ratio,
      verdict: atMost(1.2, ratio),
    },
  ];
}

/** @returns megabytes that quiet streams add to the bare proxy, by their number */
async function measureBareStreams(site: InferenceSite): Promise<Map<number, number>> {
  const { pid } = site.bare;
  const beforeMb = await residentMb(pid);
  const added = new Map<number, number>();
  for (const { streams } of HELD) {
    const held = await holdStreams(site, targetsOf(site).bare, streams);
    added.set(streams, (await residentMb(pid)) - beforeMb);
    await held.end();
  }
  return added;
}

async function holdStreams(site: InferenceSite, target: Pick<StreamPlan, "port" | "path">, streams: number) {
  const plan = planOf(site, { ...target, streams, answer: "quiet" });
  const held = startStreams({ ...plan, seconds: 0 });
  await held.open;
  return held;
}

/** @returns the 99th percentile of each path */
async function controlLatencies({ service, administrator }: InferenceSite): Promise<number[]> {
  const headers = { ...CLIENT_HEADERS, Authorization: `Bearer ${administrator}` };
  const latencies: number[] = [];
  for (const path of CONTROL_PATHS) {
    const requests = [{ method: "GET", path, headers }];
    latencies.push((await paced({ ...CONTROL, port: service.port, requests })).p99Ms);
  }
  return latencies;
}

const besideStreams = (idle: readonly number[], beside: readonly number[]): Figure[] =>
  CONTROL_PATHS.map((path, at) => {
    const [reference, ours] = [idle[at] ?? Number.NaN, beside[at] ?? Number.NaN];
    const ratio = ours / reference;
    const what = `99th percentile of GET ${path} beside ${HELD.at(-1)?.streams} streams, against idle`;
    return { what, unit: "ms", ours, reference, ratio, verdict: atMost(2, ratio) };
  });

const planOf = (
  { tokens }: InferenceSite,
  target: Pick<StreamPlan, "port" | "path" | "streams" | "answer">,
): Omit<StreamPlan, "seconds"> => ({ ...target, tokens, body: BODY });

/** Starts readers of streams. `open` resolves once all idle streams have started. */
function startStreams(plan: StreamPlan) {
  const child = Bun.spawn(onItsCore("measuring", script("inference/inference-load.ts")), {
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  const opened = Promise.withResolvers<void>();
  const result = readResult(lines, opened.resolve);
  return {
    open: opened.promise,
    result,
    end() {
      child.kill("SIGTERM");
      return result;
    },
  };
}

async function readResult(lines: ReadableStream<string>, opened: () => void): Promise<StreamResult> {
  let said = "";
  for await (const text of lines) {
    said += text;
    if (said.startsWith("open\n")) opened();
  }
  opened();
  return JSON.parse(said.replace("open\n", ""));
}
