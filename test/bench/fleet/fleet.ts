// `bun run bench fleet`: a fleet of workstations at its real rate. Each fetches its policy and reports every 300 s, for
// five minutes. Measures whether every request is answered, the response times, and the memory of the service. On
// request it also finds how many workstations such a machine can serve. Takes the whole machine for minutes, so it runs
// only when it is named. Environment:
//   FLEET_WORKSTATIONS  instead of 200,000; they are users with one workstation each, all of which have reported before
//   FLEET_SECONDS       instead of 300
//   FLEET_PUBLISH=1     publishes a revision halfway, so that the next fetch of each workstation returns a changed policy
//   FLEET_STEP_SECONDS  then raises the rate in steps of that length until answers are late or missing
import { join } from "node:path";
import { ACCESS_TOKEN_TTL_SECONDS } from "../../../src/platform/config/settings/access.ts";
import { follow, typical } from "../../torture/footprint.ts";
import { CLIENT_HEADERS } from "../clients/policy-fetch.ts";
import { atMost, type Figure } from "../figures.ts";
import { onItsCore, processorMs, type Running, residentMb, script } from "../processes.ts";
import type { TokenPlan } from "../tokens/token-load.ts";
import { openBeside, startQuartermaster, temporaryDirectory } from "../tools/installation.ts";
import type { PacedResult } from "../tools/paced-load.ts";
import type { FleetPlan } from "./fleet-load.ts";
import { POLICY_PATH } from "./fleet-requests.ts";
import { writeFleet } from "./fleet-rows.ts";
import { publishPolicies, publishRequirement } from "./workstations.ts";

const CADENCE_SECONDS = 300;
/** of each workstation in that time: its policy, and its report */
const REQUESTS = 2;
/** the 99th percentile; a fleet larger than the default keeps a core busy */
const LATE_MS = { usual: 25, large: 100 };
const USUAL_WORKSTATIONS = 200_000;
/** of a core, in %, for a fleet of the default size */
const PROCESSOR_MAX = 25;
/** for a million workstations */
const MEMORY_MB_MAX = 350;
/** memory in addition to cached tokens (all of them are cached after each has been seen once), in the second half of the time */
const GROWTH_MAX = 1.1;
const STEP = 1.25;
const ATTEMPTS = 2;
/** more than a token has */
const FIRST_LINE_BYTES = 4_096;

const WORKSTATIONS = Number(process.env.FLEET_WORKSTATIONS ?? USUAL_WORKSTATIONS);
const isLarge = WORKSTATIONS > USUAL_WORKSTATIONS;
const SECONDS = Number(process.env.FLEET_SECONDS ?? 300);
const PUBLISHES = process.env.FLEET_PUBLISH === "1";
const STEP_SECONDS = Number(process.env.FLEET_STEP_SECONDS ?? 0);

/** Measures a fleet. Required: no error, a 99th percentile of 100 ms, constant memory. */
export async function* measureFleet(): AsyncGenerator<Figure> {
  using directory = temporaryDirectory();
  const data = join(directory.path, "data");
  const { port, ...prepared } = await prepare(data, join(directory.path, "tokens"));
  await using servers = new AsyncDisposableStack();
  const service = await startQuartermaster(data, "--server-listen", `127.0.0.1:${port}`);
  servers.defer(service.stop);
  const fleet: Fleet = {
    ...prepared,
    port,
    headers: CLIENT_HEADERS,
    etag: await policyEtag(port, prepared.tokens),
  };
  await rememberTokens(fleet);
  await spawnFleet({ ...fleet, perSecond: paceOf(WORKSTATIONS), seconds: WARM_UP_SECONDS, sentBefore: 0 });
  const halfway = () => (PUBLISHES ? publishBeside(data, port) : undefined);
  yield* await runFleet(service, fleet, halfway);
  if (STEP_SECONDS > 0) yield await measureCapacity(fleet);
}

/** A workstation uses a token for 15 minutes, so that the service sees the token of every sixth request for the first time. */
const USES_OF_TOKEN = 6;
/** share of the tokens that the service sees before the measurement, for any length of the measurement */
const SEEN_SHARE = Math.max(0, 1 - Math.max(1, (SECONDS * REQUESTS) / CADENCE_SECONDS) / USES_OF_TOKEN);
const SEEING_CONNECTIONS = 32;
/**
 * Runs the fleet at its rate, before the measurement. The first reports of a process take longer, because their code has not been
 * compiled. `bun run bench tokens` measures a restart.
 */
const WARM_UP_SECONDS = 20;

async function rememberTokens(fleet: Fleet): Promise<void> {
  const count = Math.floor(WORKSTATIONS * SEEN_SHARE);
  const plan: TokenPlan = {
    ...fleet,
    what: "policy",
    requests: count,
    from: 0,
    count,
    sentBefore: 0,
    connections: SEEING_CONNECTIONS,
  };
  const child = Bun.spawn(onItsCore("measuring", script("tokens/token-load.ts")), {
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("the tokens were not seen before");
}

type Fleet = Omit<FleetPlan, "perSecond" | "seconds" | "sentBefore">;

/** Fills the data directory of a service that later listens on the same port, because tokens contain its address. */
async function prepare(data: string, tokens: string) {
  const { port, stop } = await startQuartermaster(data);
  await stop();
  const installation = await openBeside(data, port, {
    accessAccessTokenTtlSeconds: String(ACCESS_TOKEN_TTL_SECONDS.max),
  });
  const policies = await publishPolicies(installation);
  await writeFleet(installation, {
    count: WORKSTATIONS,
    policy: policies.current,
    tokens,
    round: WORKSTATIONS,
  });
  await installation.close();
  return { port, policies, tokens };
}

async function policyEtag(port: number, tokens: string): Promise<string> {
  const first = await Bun.file(tokens).slice(0, FIRST_LINE_BYTES).text();
  const headers = { ...CLIENT_HEADERS, Authorization: `Bearer ${first.split("\n")[0]}` };
  const answer = await fetch(`http://127.0.0.1:${port}${POLICY_PATH}`, { headers });
  if (answer.status !== 200) throw new Error(`no policy: ${await answer.text()}`);
  return answer.headers.get("etag") ?? "";
}

async function publishBeside(data: string, port: number): Promise<void> {
  const installation = await openBeside(data, port);
  await publishRequirement(installation, ">=2.0.13");
  await installation.close();
}

const paceOf = (workstations: number): number => (workstations * REQUESTS) / CADENCE_SECONDS;
const SENT_BEFORE = Math.floor(paceOf(WORKSTATIONS) * WARM_UP_SECONDS);

async function runFleet(
  { pid }: Running,
  fleet: Fleet,
  halfway: () => Promise<void> | undefined,
): Promise<Figure[]> {
  const what = (name: string) =>
    `${WORKSTATIONS.toLocaleString("en-US")} workstations, ${SECONDS} s: ${name}`;
  const usedMs = await processorMs(pid);
  const pace = { perSecond: paceOf(WORKSTATIONS), seconds: SECONDS };
  const running = spawnFleet({ ...fleet, ...pace, sentBefore: SENT_BEFORE });
  const startMb = await residentMb(pid);
  const taken = follow(pid);
  await Bun.sleep((SECONDS * 1_000) / 2);
  const middleTokensMb = await tokensMb(fleet.port);
  await halfway();
  const result = await running;
  // Memory rises and falls with each collection, so a single sample is not meaningful.
  const samples = taken();
  const quarter = Math.ceil(samples.length / 4);
  const { memoryMb: middleMb } = typical(samples.slice(quarter, 2 * quarter));
  const { memoryMb: endMb } = typical(samples.slice(-quarter));
  const processor = ((await processorMs(pid)) - usedMs) / (SECONDS * 1_000);
  const errors = errorsOf(result);
  const growth = (endMb - (await tokensMb(fleet.port))) / (middleMb - middleTokensMb);
  return [
    { what: what("requests"), unit: "requests", ours: result.due },
    { what: what("new policies"), unit: "answers", ours: result.statuses[200] ?? 0 },
    { what: what("errors"), unit: "requests", ours: errors, verdict: { wanted: "0", isMet: errors === 0 } },
    { what: what("median"), unit: "ms", ours: result.p50Ms },
    {
      what: what("99th percentile"),
      unit: "ms",
      ours: result.p99Ms,
      verdict: atMost(isLarge ? LATE_MS.large : LATE_MS.usual, result.p99Ms),
    },
    { what: what("slowest"), unit: "ms", ours: result.maxMs },
    { what: what("memory at the start"), unit: "MB", ours: startMb },
    { what: what("memory at the end"), unit: "MB", ours: endMb, verdict: atMost(MEMORY_MB_MAX, endMb) },
    {
      what: what("memory but tokens, last quarter against second"),
      unit: "MB",
      ours: endMb,
      reference: middleMb,
      ratio: growth,
      verdict: atMost(GROWTH_MAX, growth),
    },
    {
      what: what("processor"),
      unit: "% of a core",
      ours: processor * 100,
      ...(!isLarge && { verdict: atMost(PROCESSOR_MAX, processor * 100) }),
    },
  ];
}

/** @returns the memory of cached tokens, as the service reports it to local callers */
async function tokensMb(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return Number(/^quartermaster_verified_tokens_bytes (\d+)$/m.exec(text)?.[1]) / 2 ** 20;
}

/** Runs one plan in a separate process. */
async function spawnFleet(plan: FleetPlan): Promise<PacedResult> {
  const child = Bun.spawn(onItsCore("measuring", script("fleet/fleet-load.ts")), {
    stdin: Buffer.from(JSON.stringify(plan)),
    stdout: "pipe",
    stderr: "inherit",
  });
  return JSON.parse(await new Response(child.stdout).text());
}

/** @returns requests without a response, or with another status than 200, 204 or 304 */
function errorsOf({ due, statuses }: PacedResult): number {
  const good = [200, 204, 304].reduce((sum, status) => sum + (statuses[status] ?? 0), 0);
  return due - good;
}

/**
 * Raises the rate of the fleet until a step fails. If the rate needs more workstations than there are rows, the same
 * ones report more often.
 */
async function measureCapacity(fleet: Fleet): Promise<Figure> {
  let carried = 0;
  let workstations = WORKSTATIONS;
  const progress = { sentBefore: SENT_BEFORE + Math.floor(paceOf(WORKSTATIONS) * SECONDS) };
  while (await isCarried(fleet, workstations, progress)) {
    carried = workstations;
    workstations *= STEP;
  }
  return {
    what: `carried with 99 of 100 answers in ${LATE_MS.large} ms`,
    unit: "workstations",
    ours: carried,
  };
}

/** Other load on the machine may disturb one attempt. */
async function isCarried(
  fleet: Fleet,
  workstations: number,
  progress: { sentBefore: number },
): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const pace = { perSecond: paceOf(workstations), seconds: STEP_SECONDS };
    const result = await spawnFleet({ ...fleet, ...pace, ...progress });
    console.error(`${Math.round(workstations)} workstations: ${JSON.stringify(result)}`);
    progress.sentBefore += result.due;
    if (errorsOf(result) === 0 && result.p99Ms <= LATE_MS.large) return true;
  }
  return false;
}
