// What traces cost: requests per second of processor time of a service that traces one request in a hundred, with a collector that
// takes the traces and with one that is down, beside a service that traces nothing.
import { join } from "node:path";
import { POLICY_CAPABILITIES } from "../../../src/domain/governance/wire.ts";
import { enrolReports, reportRequest } from "../clients/clients.ts";
import { atLeast, type Figure } from "../figures.ts";
import { load, processorMs, type Running, WRITING_CALLERS } from "../processes.ts";
import { compareAlternating } from "../tools/compare.ts";
import { startQuartermaster, temporaryDirectory } from "../tools/installation.ts";
import type { LoadRequest } from "../tools/load.ts";

const WORKSTATIONS = 500;
const ROUNDS = 7;
const SECONDS = 0.7;
const WARM_UPS = 5;
const MILLISECONDS = 1_000;
/** of the work without traces */
const WANTED = 0.95;
/** nothing listens there */
const NOWHERE = "http://127.0.0.1:1";

interface Side {
  service: Running;
  policies: LoadRequest[];
  reports: LoadRequest[];
}

/** Required: one request in a hundred costs 5 % at most. */
export async function measureTracing(): Promise<Figure[]> {
  await using servers = new AsyncDisposableStack();
  const collector = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: takeTraces });
  servers.defer(() => collector.stop(true));
  const start = async (...flags: string[]): Promise<Side> => {
    const directory = servers.use(temporaryDirectory());
    const data = join(directory.path, "data");
    const service = await startQuartermaster(data, ...flags);
    servers.defer(service.stop);
    const reports = await enrolReports(data, { port: service.port, workstations: WORKSTATIONS });
    const policies = reports.map(({ token }) => policyRequest(token));
    return { service, policies, reports: reports.map(reportRequest) };
  };
  const traced = (url: string, ratio: string) => start("--tracing-url", url, "--tracing-sample-ratio", ratio);
  const sides = {
    "without traces": await start(),
    "1 in 100": await traced(collector.url.origin, "0.01"),
    "1 in 100, the collector is down": await traced(NOWHERE, "0.01"),
    "all of them": await traced(collector.url.origin, "1"),
  };
  return [
    ...(await compare("policy fetches", sides, ({ policies }) => [policies, 200])),
    ...(await compare("reports", sides, ({ reports }) => [reports, 204])),
  ];
}

async function takeTraces(request: Request): Promise<Response> {
  await request.bytes();
  return Response.json({});
}

const policyRequest = (token: string): LoadRequest => ({
  method: "GET",
  path: "/governance-config",
  headers: {
    Authorization: `Bearer ${token}`,
    "User-Agent": "blue/1.0.0",
    "x-blue-contract-version": "3",
    "x-blue-capabilities": POLICY_CAPABILITIES.join(","),
  },
});

async function compare(
  what: string,
  sides: Readonly<Record<string, Side>>,
  requestsOf: (side: Side) => [requests: LoadRequest[], status: number],
): Promise<Figure[]> {
  const subjects = Object.fromEntries(
    Object.entries(sides).map(([name, side]) => {
      const [requests, status] = requestsOf(side);
      return [name, () => perProcessorSecond(side.service, requests, status)];
    }),
  );
  for (let round = 0; round < WARM_UPS; round++) for (const warmUp of Object.values(subjects)) await warmUp();
  const [reference, ...others] = await compareAlternating({ rounds: ROUNDS, subjects });
  return others.map(({ name, median, ratio }) => ({
    ...{ what: `${what}, traced: ${name}`, unit: "requests/s of processor time", ours: median, ratio },
    reference: reference?.median ?? Number.NaN,
    ...(name !== "all of them" && { verdict: atLeast(WANTED, ratio) }),
  }));
}

/** What else runs on the machine changes the rate of a service, but hardly its processor time. */
async function perProcessorSecond(
  { pid, port }: Running,
  requests: LoadRequest[],
  status: number,
): Promise<number> {
  const beforeMs = await processorMs(pid);
  const result = await load({ port, connections: WRITING_CALLERS, seconds: SECONDS, requests }, status);
  return (result.requests * MILLISECONDS) / ((await processorMs(pid)) - beforeMs);
}
