// Gateway keys: what asking for a healthy one costs, how fast many due ones are made while others ask, and that a service
// which is killed again and again loses none upstream. The gateway is gateway-peer.ts, over HTTP.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { countRevocations, countStates } from "../../src/domain/gateway/store.ts";
import { gatewayKeys } from "../../src/domain/gateway/tables.ts";
import { users } from "../../src/domain/identity/tables.ts";
import type { ExistingInstallation } from "../../src/installation.ts";
import { systemIds } from "../../src/platform/ids.ts";
import { atMost, contest, type Figure } from "./figures.ts";
import { logIn, openBeside, startQuartermaster, temporaryDirectory } from "./installation.ts";
import { load, type Running, script, spawnLoad, startServer } from "./processes.ts";

const ROUNDS = 7;
const SECONDS = 1;
const CONNECTIONS = 32;
const DUE_USERS = 10_000;
const CALL_MS = 50;
const CALLS_AT_ONCE = 8;
/** how long the others' requests are measured, idle and beside the work */
const OTHERS_SECONDS = 10;
const OTHERS_CONNECTIONS = 2;
const KILLS = 50;
const [ALIVE_MIN_MS, ALIVE_SPAN_MS] = [300, 1_200];
const TORTURED_USERS = 3_000;
/** a lease of an attempt that died, and the waits after it */
const SETTLING_LIMIT_MS = 10 * 60_000;
const ROWS = 500;

/** Issue "Gateway keys", Measured. */
export async function measureGateway(): Promise<Figure[]> {
  return [await ensureHealthy(), ...(await reconcileMany()), await killAgainAndAgain()];
}

interface Stage extends AsyncDisposable {
  directory: string;
  gateway: Running;
  /** starts the service, again after it was killed */
  start(): Promise<Running>;
}

async function setStage(callMs: number): Promise<Stage> {
  const directory = temporaryDirectory();
  const gateway = await startServer(script("gateway-peer.ts", String(callMs)), "measuring");
  const config = join(directory.path, "quartermaster.yaml");
  writeFileSync(
    config,
    JSON.stringify({
      gateway: {
        type: "litellm",
        url: `http://127.0.0.1:${gateway.port}`,
        inference_proxy_url: `http://127.0.0.1:${gateway.port}`,
        provisioner: {
          type: "builtin-litellm",
          max_concurrency: CALLS_AT_ONCE,
          admin_key: "sk-bench-admin-key-0123456789",
        },
      },
    }),
    { mode: 0o600 },
  );
  return {
    directory: join(directory.path, "data"),
    gateway,
    start: () => startQuartermaster(join(directory.path, "data"), "--config", config),
    async [Symbol.asyncDispose]() {
      await gateway.stop();
      directory[Symbol.dispose]();
    },
  };
}

async function ensureHealthy(): Promise<Figure> {
  await using stage = await setStage(0);
  await using servers = new AsyncDisposableStack();
  const service = await stage.start();
  servers.defer(service.stop);
  const authorization = `Bearer ${await tokenBeside(stage, service)}`;
  const bench = await startServer(script("guard-server.ts", stage.directory, String(service.port)));
  servers.defer(bench.stop);
  const perSecond = (port: number, method: string, path: string) => async () => {
    const requests = [{ method, path, headers: { authorization } }];
    return (await load({ port, connections: CONNECTIONS, seconds: SECONDS, requests }, 200)).perSecond;
  };
  return await contest({
    what: "ensure of a healthy key, against a guarded route that does nothing",
    unit: "requests/s",
    wanted: 0.5,
    rounds: ROUNDS,
    ours: perSecond(service.port, "POST", "/gateway/key/ensure"),
    reference: perSecond(bench.port, "POST", "/guarded"),
  });
}

async function tokenBeside({ directory }: Stage, { port }: Running): Promise<string> {
  const installation = await openBeside(directory, port);
  const [login] = await logIn(installation, 1);
  await installation.close();
  return login?.access_token ?? "";
}

/** All become due at once, and the service finds them as it finds whatever is due. */
async function reconcileMany(): Promise<Figure[]> {
  await using stage = await setStage(CALL_MS);
  const service = await stage.start();
  await using _ = { [Symbol.asyncDispose]: service.stop };
  const token = await tokenBeside(stage, service);
  const idle = await askAsOthers(service, token);
  const installation = await openBeside(stage.directory, service.port);
  await addDueUsers(installation, DUE_USERS);
  const waitingMs = await waitUntil(() => countReady(installation) > 0);
  const beginMs = performance.now();
  const busy = askAsOthers(service, token);
  await waitUntil(() => countReady(installation) >= DUE_USERS);
  const tookMs = performance.now() - beginMs;
  const busyMs = await busy;
  await installation.close();
  const idealMs = (DUE_USERS * CALL_MS) / CALLS_AT_ONCE;
  console.error(`  the work began ${Math.round(waitingMs)} ms after the users were due`);
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
      what: "99th percentile of GET /gateway/key meanwhile, against idle",
      unit: "ms",
      ours: busyMs,
      reference: idle,
      ratio: busyMs / idle,
      verdict: atMost(3, busyMs / idle),
    },
  ];
}

/** @returns the 99th percentile of what other users' requests take */
async function askAsOthers({ port }: Running, token: string): Promise<number> {
  const requests = [{ method: "GET", path: "/gateway/key", headers: { authorization: `Bearer ${token}` } }];
  const plan = { port, connections: OTHERS_CONNECTIONS, seconds: OTHERS_SECONDS, requests };
  return (await spawnLoad(plan)).p99Ms;
}

const addDueUsers = ({ db, organizationId }: ExistingInstallation, count: number): Promise<void> =>
  db.write((tx) => {
    const nowMs = Date.now();
    const people = Array.from({ length: count }, (_, at) => ({
      id: systemIds.uuid(),
      email: `due-${at}@example.org`,
    }));
    for (let at = 0; at < people.length; at += ROWS) {
      const some = people.slice(at, at + ROWS);
      const times = { createdAtMs: nowMs, updatedAtMs: nowMs };
      const account = { organizationId, role: "member", status: "active", ...times } as const;
      tx.insert(users)
        .values(some.map(({ id, email }) => ({ ...account, id, subject: id, email, emailKey: email })))
        .run();
      const key = {
        organizationId,
        state: "error",
        failures: 0,
        replacements: 0,
        leftovers: false,
        ...times,
      } as const;
      tx.insert(gatewayKeys)
        .values(
          some.map(({ id, email }) => ({
            ...key,
            userId: id,
            email,
            credentialVersion: systemIds.uuid(),
            nextAttemptAtMs: nowMs,
          })),
        )
        .run();
    }
  });

const countReady = ({ db }: ExistingInstallation): number =>
  countStates(db.read).find(({ state }) => state === "ready")?.total ?? 0;

/** Each look counts all keys, on a core that has other things to do. */
const LOOK_EVERY_MS = 250;

/** @returns how long it took */
async function waitUntil(
  isDone: () => boolean | Promise<boolean>,
  limitMs = SETTLING_LIMIT_MS,
): Promise<number> {
  const beginMs = performance.now();
  while (!(await isDone())) {
    if (performance.now() - beginMs > limitMs) throw new Error("what was waited for did not happen");
    await Bun.sleep(LOOK_EVERY_MS);
  }
  return performance.now() - beginMs;
}

/** Afterwards every upstream key must be held by its user, or be gone. */
async function killAgainAndAgain(): Promise<Figure> {
  await using stage = await setStage(CALL_MS);
  const first = await stage.start();
  const installation = await openBeside(stage.directory, first.port);
  await addDueUsers(installation, TORTURED_USERS);
  let service = first;
  for (let kill = 0; kill < KILLS; kill += 1) {
    await Bun.sleep(ALIVE_MIN_MS + Math.random() * ALIVE_SPAN_MS);
    process.kill(service.pid, "SIGKILL");
    await service.stop();
    service = await stage.start();
  }
  await waitUntil(
    () => countReady(installation) === TORTURED_USERS && countRevocations(installation.db.read) === 0,
  );
  const held = new Set(
    installation.db.read
      .select({ id: gatewayKeys.externalId })
      .from(gatewayKeys)
      .all()
      .map(({ id }) => id),
  );
  const upstream: { token: string }[] = await (
    await fetch(`http://127.0.0.1:${stage.gateway.port}/bench/keys`)
  ).json();
  const leaked = upstream.filter(({ token }) => !held.has(token)).length;
  const lost = held.size - (upstream.length - leaked);
  await service.stop();
  await installation.close();
  return {
    what: `keys leaked or lost after ${KILLS} kills among ${TORTURED_USERS} users`,
    unit: "keys",
    ours: leaked + lost,
    verdict: { wanted: "0", isMet: leaked + lost === 0 },
  };
}
