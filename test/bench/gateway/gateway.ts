// Gateway keys: the cost of a request for a healthy key, and how fast many due keys are created while users who have a key request
// its state. gateway-kills.ts tests kills.
import type { ExistingInstallation } from "../../../src/app/installation/installation.ts";
import { atMost, contest, type Figure } from "../figures.ts";
import { enrol } from "../fleet/workstations.ts";
import { load, needStatus, type Running, script, startLoad, startServer } from "../processes.ts";
import { logIn, openBeside } from "../tools/installation.ts";
import { LOAD_SECONDS_MAX, type LoadPlan } from "../tools/load.ts";
import { killAgainAndAgain } from "./gateway-kills.ts";
import { addDueUsers, CALLS_AT_ONCE, countReady, type Stage, setStage, waitUntil } from "./gateway-stage.ts";

const ROUNDS = 7;
const SECONDS = 1;
const CONNECTIONS = 32;
const DUE_USERS = 10_000;
const CALL_MS = 50;
/** users who have a key and request its state, when the service is idle and during the work */
const HOLDERS = 200;
const HOLDERS_CONNECTIONS = 2;
const IDLE_SECONDS = 10;
const IS_READY = '"status":"ready"';
/** Reports that refer to no policy. */
const NO_POLICY = { revision: "unknown", packages: [] };

/** Measures gateway keys: a healthy one, the reconciliation of many, and kills. */
export async function* measureGateway(): AsyncGenerator<Figure> {
  yield await ensureHealthy();
  yield* await reconcileMany();
  yield* await killAgainAndAgain();
}

async function ensureHealthy(): Promise<Figure> {
  await using stage = await setStage(0);
  await using servers = new AsyncDisposableStack();
  const service = await stage.start();
  servers.defer(service.stop);
  const authorization = `Bearer ${await administratorToken(stage, service)}`;
  const bench = await startServer(script("guard/guard-server.ts", stage.directory, String(service.port)));
  servers.defer(bench.stop);
  const perSecond = (port: number, path: string, contains?: string) => async () => {
    const requests = [{ method: "POST", path, headers: { authorization } }];
    const plan = {
      port,
      connections: CONNECTIONS,
      seconds: SECONDS,
      requests,
      ...(contains && { contains }),
    };
    return (await load(plan, 200)).perSecond;
  };
  return await contest({
    what: "ensure of a healthy key, against a guarded route that does nothing",
    unit: "requests/s",
    wanted: 0.5,
    rounds: ROUNDS,
    ours: perSecond(service.port, "/gateway/key/ensure", IS_READY),
    reference: perSecond(bench.port, "/guarded"),
  });
}

async function administratorToken({ directory }: Stage, { port }: Running): Promise<string> {
  const installation = await openBeside(directory, port);
  const [login] = await logIn(installation, 1);
  await installation.close();
  return login?.access_token ?? "";
}

/** All become due at the same time, and the service finds them like all due keys. */
async function reconcileMany(): Promise<Figure[]> {
  await using stage = await setStage(CALL_MS);
  const service = await stage.start();
  await using _ = { [Symbol.asyncDispose]: service.stop };
  const installation = await openBeside(stage.directory, service.port);
  const questions = await questionsOfHolders(installation, service);
  const idleMs = needStatus(await startLoad({ ...questions, seconds: IDLE_SECONDS }).result, 200).p99Ms;
  await addDueUsers(installation, DUE_USERS);
  const waitingMs = await waitUntil(() => countReady(installation) > HOLDERS);
  const beginMs = performance.now();
  const busy = startLoad(questions);
  await waitUntil(() => countReady(installation) >= HOLDERS + DUE_USERS);
  const tookMs = performance.now() - beginMs;
  const request = needStatus(await busy.end(), 200);
  await installation.close();
  const idealMs = (DUE_USERS * CALL_MS) / CALLS_AT_ONCE;
  console.error(`  the work began ${Math.round(waitingMs)} ms after the users were due`);
  console.error(`  ${request.requests} questions in ${request.seconds.toFixed(1)} s of it`);
  return [
    {
      what: `${DUE_USERS} keys due at once, against the ideal time`,
      unit: "ms",
      ours: tookMs,
      reference: idealMs,
      ratio: tookMs / idealMs,
      verdict: atMost(1.15, tookMs / idealMs),
    },
    {
      what: "99th percentile of GET /gateway/key by users who have one, all that time, against idle",
      unit: "ms",
      ours: request.p99Ms,
      reference: idleMs,
      ratio: request.p99Ms / idleMs,
      verdict: atMost(3, request.p99Ms / idleMs),
    },
  ];
}

/** Gives each user a key. @returns the load of their requests; every response must include the key */
async function questionsOfHolders(installation: ExistingInstallation, { port }: Running): Promise<LoadPlan> {
  const batches = await Array.fromAsync(enrol(installation, { count: HOLDERS, policy: NO_POLICY }));
  const headers = batches.flat().map((token) => ({ Authorization: `Bearer ${token}` }));
  const ensure = { method: "POST", path: "/gateway/key/ensure" };
  const made = { port, connections: CALLS_AT_ONCE, seconds: HOLDERS / 10, contains: IS_READY };
  const making = startLoad({ ...made, requests: headers.map((one) => ({ ...ensure, headers: one })) });
  await waitUntil(() => countReady(installation) === HOLDERS);
  needStatus(await making.end(), 200);
  return {
    port,
    connections: HOLDERS_CONNECTIONS,
    seconds: LOAD_SECONDS_MAX,
    requests: headers.map((one) => ({ method: "GET", path: "/gateway/key", headers: one })),
    contains: IS_READY,
  };
}
