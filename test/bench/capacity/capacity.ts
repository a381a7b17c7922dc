// `bun run bench capacity`: the cost of operations with ten times the rows, the size of a workstation on disk and in a replica, and
// how many workstations a core serves at each interval.
import { statSync } from "node:fs";
import { atMost, type Figure } from "../figures.ts";
import { paced } from "../inference/inference-requests.ts";
import { load, processorMs } from "../processes.ts";
import { compareAlternating } from "../tools/compare.ts";
import { temporaryDirectory } from "../tools/installation.ts";
import type { PacedResult } from "../tools/paced-load.ts";
import { type CapacitySite, type Operation, startCapacitySite } from "./capacity-site.ts";
import { measureEverything } from "./everything.ts";

/** The smaller installation also fills a page of each list, so that the pages differ only by the number of rows behind them. */
const SMALL = { workstations: 5_000, revisions: 100, auditEntries: 1_000 };
const TIMES = 10;
const LARGE = {
  workstations: SMALL.workstations * TIMES,
  revisions: SMALL.revisions * TIMES,
  auditEntries: SMALL.auditEntries * TIMES,
};
const ROUNDS = 3;
const SECONDS = 1.2;
const CALLERS = 4;
/** processor time is counted in steps of 10 ms, and a page takes some ms */
const PAGES = 60;
const US_PER_MS = 1_000;
/** accepted growth of the cost, because the cost of operations should not depend on the number of rows */
const GROWTH_MAX = 1.5;
/** rate at which the cost of a request is measured: low enough that most requests arrive alone */
const PACE = { perSecond: 500, seconds: 6 };
const CADENCES_SECONDS = [60, 300, 900];
/** share of a core; the rest is reserved for bursts */
const USED_SHARE = 0.5;
const US_PER_SECOND = 1_000_000;

/** Measures small and large installations side by side. */
export async function* measureCapacity(): AsyncGenerator<Figure> {
  await using servers = new AsyncDisposableStack();
  const start = async (rows: typeof SMALL, flags: readonly string[] = []): Promise<CapacitySite> => {
    const directory = servers.use(temporaryDirectory());
    const site = await startCapacitySite(directory.path, rows, flags);
    servers.defer(site.service.stop);
    return site;
  };
  const [small, large] = [await start(SMALL), await start(LARGE)];
  yield* await costs(small, large);
  yield bytesEach(small, large);
  yield* await perCore(large);
  yield* await replicated(await start(SMALL, ["--database-replicated", "yes"]));
  await servers.disposeAsync(); // nothing else may run beside the last part
  yield* await besideEverything();
}

async function costs(small: CapacitySite, large: CapacitySite): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, operation] of Object.entries(small.operations)) {
    console.error(`  ${name} …`);
    const other = large.operations[name];
    if (!other) throw new Error(`both have ${name}`);
    const subjects = {
      small: () => processorUs(small, operation),
      large: () => processorUs(large, other),
    };
    const [reference, ours] = await compareAlternating({ rounds: ROUNDS, warmUps: 1, subjects });
    const ratio = ours?.ratio ?? Number.NaN;
    figures.push({
      what: `${name}, ${TIMES} times the rows`,
      unit: "µs of processor time",
      ours: ours?.median ?? Number.NaN,
      reference: reference?.median ?? Number.NaN,
      ratio,
      verdict: atMost(GROWTH_MAX, ratio),
    });
  }
  return figures;
}

/** @returns processor time of one request, in microseconds */
async function processorUs(site: CapacitySite, operation: Operation): Promise<number> {
  const { pid } = site.service;
  const beforeMs = await processorMs(pid);
  const requests = await (operation.isSlow ? sendSome : sendMany)(site, operation);
  return (((await processorMs(pid)) - beforeMs) * US_PER_MS) / requests;
}

async function sendMany(
  { service: { port } }: CapacitySite,
  { requests, status }: Operation,
): Promise<number> {
  return (await load({ port, connections: CALLERS, seconds: SECONDS, requests }, status)).requests;
}

/** Opens the pages one after another, as an administrator does. */
async function sendSome(
  { service: { port } }: CapacitySite,
  { requests, status }: Operation,
): Promise<number> {
  for (let at = 0; at < PAGES; at++)
    for (const { path, headers = {} } of requests) {
      const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
      await answer.bytes();
      if (answer.status !== status) throw new Error(`${path} was answered ${answer.status}`);
    }
  return PAGES * requests.length;
}

const bytesEach = (small: CapacitySite, large: CapacitySite): Figure => ({
  what: "a workstation with its own user, in the database",
  unit: "bytes",
  ours: (large.fleetBytes - small.fleetBytes) / (LARGE.workstations - SMALL.workstations),
});

/** A request costs more at a steady rate than under full load, where requests share turns and commits. */
async function perCore(site: CapacitySite): Promise<Figure[]> {
  const at = async (name: string): Promise<number> => {
    const { requests = [] } = site.operations[name] ?? {};
    const beforeMs = await processorMs(site.service.pid);
    const { due }: PacedResult = await pacedAt(site, requests);
    return (((await processorMs(site.service.pid)) - beforeMs) * US_PER_MS) / due;
  };
  const [policyUs, reportUs] = [await at("unchanged policy"), await at("report")];
  const unit = "µs of processor time";
  return [
    { what: `unchanged policy at ${PACE.perSecond} a second`, unit, ours: policyUs },
    { what: `report at ${PACE.perSecond} a second`, unit, ours: reportUs },
    ...workstations("half a core", { share: USED_SHARE, costUs: policyUs + reportUs }),
  ];
}

async function besideEverything(): Promise<Figure[]> {
  const { share, policyUs, reportUs, figures } = await measureEverything();
  const left = { share: USED_SHARE - share, costUs: policyUs + reportUs };
  return [...figures, ...workstations("half a core with all other parts in use", left)];
}

/** @param costUs of the policy and the report of a workstation @returns how many of them that share of a core serves */
const workstations = (where: string, { share, costUs }: { share: number; costUs: number }): Figure[] =>
  CADENCES_SECONDS.map((cadence) => ({
    what: `${where}: policy and report every ${cadence} s`,
    unit: "workstations",
    ours: (share * US_PER_SECOND * cadence) / costUs,
  }));

const pacedAt = ({ service: { port } }: CapacitySite, requests: Operation["requests"]) =>
  paced({ ...PACE, port, requests });

/** With replication software the log only grows, so its size shows how much is sent to a replica, before compression. */
async function replicated(site: CapacitySite): Promise<Figure[]> {
  const { report } = site.operations;
  if (!report) throw new Error("a site has reports");
  const logBytes = () => statSync(`${site.database}-wal`).size;
  const beforeReports = logBytes();
  const { due } = await pacedAt(site, report.requests);
  const afterReports = logBytes();
  const refreshed = await refreshAll(site);
  return [
    {
      what: `a report at ${PACE.perSecond} a second, in the write-ahead log`,
      unit: "bytes",
      ours: (afterReports - beforeReports) / due,
    },
    {
      what: "a token refresh that is alone, in the write-ahead log",
      unit: "bytes",
      ours: (logBytes() - afterReports) / refreshed,
    },
  ];
}

/** Sends one request after another, because requests of a fleet rarely coincide. @returns the number of requests */
async function refreshAll({ service: { port }, refreshTokens }: CapacitySite): Promise<number> {
  for (const token of refreshTokens) {
    const fields = { client_id: "blue-cli", grant_type: "refresh_token", refresh_token: token };
    const body = new URLSearchParams(fields);
    const answer = await fetch(`http://127.0.0.1:${port}/api/auth/oauth2/token`, { method: "POST", body });
    if (answer.status !== 200) throw new Error(`refresh: ${answer.status} ${await answer.text()}`);
  }
  return refreshTokens.length;
}
