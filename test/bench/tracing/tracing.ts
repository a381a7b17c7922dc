// The cost of traces: requests per second of processor time of a service that traces one request in a hundred, with a collector
// that accepts the traces and with one that is down, compared with a service that traces nothing. Two processes of the same
// executable differ by more than the traces cost, so several processes of each kind are measured, and two kinds trace nothing.
import { join } from "node:path";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { enrolReports, reportRequest } from "../clients/clients.ts";
import { policyFetch } from "../clients/policy-fetch.ts";
import { atLeast, type Figure } from "../figures.ts";
import { load, processorMs, type Running, WRITING_CALLERS } from "../processes.ts";
import { compareAlternating, median } from "../tools/compare.ts";
import { startQuartermaster, temporaryDirectory } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";
import { startTraceCollector } from "./trace-collector.ts";

const WORKSTATIONS = 500;
/** new processes of each kind */
const GENERATIONS = 3;
const ROUNDS = 5;
const SECONDS = 0.7;
const WARM_UPS = 5;
/** share of the rate without traces */
const WANTED = 0.95;
/** nothing listens there */
const NOWHERE = "http://127.0.0.1:1";

interface Side {
  service: Running;
  policies: LoadRequest[];
  reports: LoadRequest[];
}

/** no threshold, because the difference is below the precision of the measurement, or irrelevant */
const NOTHING = "nothing, in another process";
const ALL = "all of them";

interface Share {
  what: string;
  ours: number;
  reference: number;
  ratio: number;
}

/** Required: tracing one request in a hundred costs 5 % at most. */
export async function* measureTracing(): AsyncGenerator<Figure> {
  const generations: Share[][] = [];
  while (generations.length < GENERATIONS) generations.push(await measureProcesses());
  yield* (generations[0] ?? []).map(({ what }, at) => {
    const middle = (of: (share: Share) => number) =>
      median(generations.flatMap((shares) => shares[at] ?? []).map(of));
    const ratio = middle((share) => share.ratio);
    const isJudged = !(what.endsWith(NOTHING) || what.endsWith(ALL));
    return {
      what,
      unit: "requests/s of processor time",
      ours: middle((share) => share.ours),
      reference: middle((share) => share.reference),
      ratio,
      ...(isJudged && { verdict: atLeast(WANTED, ratio) }),
    };
  });
}

/** @returns the shares of one process of each kind */
async function measureProcesses(): Promise<Share[]> {
  await using servers = new AsyncDisposableStack();
  const collector = servers.use(startTraceCollector());
  const start = async (...flags: string[]): Promise<Side> => {
    const directory = servers.use(temporaryDirectory());
    const data = join(directory.path, "data");
    const service = await startQuartermaster(data, ...flags);
    servers.defer(service.stop);
    const reports = await enrolReports(data, { port: service.port, workstations: WORKSTATIONS });
    const policies = reports.map(({ token }) => policyFetch(token));
    return { service, policies, reports: reports.map(reportRequest) };
  };
  const traced = (url: string, ratio: string) => start("--tracing-url", url, "--tracing-sample-ratio", ratio);
  const sides = {
    "without traces": await start(),
    "1 in 100": await traced(collector.origin, "0.01"),
    "1 in 100, the collector is down": await traced(NOWHERE, "0.01"),
    [NOTHING]: await start(),
    [ALL]: await traced(collector.origin, "1"),
  };
  return [
    ...(await compare("policy fetches", sides, ({ policies }) => [policies, 200])),
    ...(await compare("reports", sides, ({ reports }) => [reports, 204])),
  ];
}

async function compare(
  what: string,
  sides: Readonly<Record<string, Side>>,
  requestsOf: (side: Side) => [requests: LoadRequest[], status: number],
): Promise<Share[]> {
  const subjects = Object.fromEntries(
    Object.entries(sides).map(([name, side]) => {
      const [requests, status] = requestsOf(side);
      return [name, () => perProcessorSecond(side.service, requests, status)];
    }),
  );
  const [reference, ...others] = await compareAlternating({ rounds: ROUNDS, warmUps: WARM_UPS, subjects });
  return others.map(({ name, median: ours, ratio }) => ({
    what: `${what}, traced: ${name}`,
    ours,
    ratio,
    reference: reference?.median ?? Number.NaN,
  }));
}

/** Other load on the machine changes the rate of a service, but hardly its processor time. */
async function perProcessorSecond(
  { pid, port }: Running,
  requests: LoadRequest[],
  status: number,
): Promise<number> {
  const beforeMs = await processorMs(pid);
  const result = await load({ port, connections: WRITING_CALLERS, seconds: SECONDS, requests }, status);
  return (result.requests * SECOND_MS) / ((await processorMs(pid)) - beforeMs);
}
