// Measures the delay of other callers while the service sees many tokens for the first time: after a restart, when a
// whole fleet returns simultaneously, and when somebody sends forged tokens.
import { atMost, type Figure } from "../figures.ts";
import { processorMs } from "../processes.ts";
import { quantile } from "../tools/compare.ts";
import type { TokenResult } from "./token-load.ts";
import { costOf, FLEET, type Load, PERSON, run, type Site, start } from "./token-site.ts";

const LATE_MS = 100;
const BURST_CONNECTIONS = 1_000;
const FLOOD_CONNECTIONS = 64;
const FLOOD_REQUESTS = 100_000;
const PROBE_EVERY_MS = 20;
/** Checking the password takes a seventh of a second, in a thread that shares the core here: the time beyond that is reported. */
const SIGN_IN_EVERY_MS = 700;
/** tokens that the service already knows: the policy fetches with these must not wait */
const KNOWN = 100;

/** Measures a fleet whose tokens the service does not know yet: after a restart, and together with forged tokens. */
export async function measureBurst(site: Site): Promise<Figure[]> {
  return [
    ...(await beside(site, "restart", {
      what: "policy",
      requests: FLEET - KNOWN,
      from: KNOWN,
      count: FLEET - KNOWN,
      connections: BURST_CONNECTIONS,
    })),
    ...(await beside(site, "forged tokens", {
      what: "forged",
      requests: FLOOD_REQUESTS,
      from: KNOWN,
      count: FLEET - KNOWN,
      connections: FLOOD_CONNECTIONS,
    })),
  ];
}

/** Sends probes from this process while the load runs in a separate process. */
async function beside(site: Site, name: string, load: Load): Promise<Figure[]> {
  await using servers = new AsyncDisposableStack();
  const service = await start(site.data, site.port);
  servers.defer(service.stop);
  await costOf(site, service, { what: "policy", requests: KNOWN * 20, from: 0, count: KNOWN });
  const idle = await probing(site, () => Bun.sleep(SIGN_IN_EVERY_MS * 5));
  const before = await processorMs(service.pid);
  let result: TokenResult | undefined;
  const busy = await probing(site, async () => {
    result = await run(site, load);
  });
  const usedMs = (await processorMs(service.pid)) - before;
  console.error(`${name}: ${JSON.stringify(result)}`);
  const late = (what: string, of: (times: Latencies) => number[]): Figure => {
    const [ours, reference] = [quantile(of(busy), 0.99), quantile(of(idle), 0.99)];
    const figure = { what: `${name}: ${what}, 99th percentile`, unit: "ms", ours, reference };
    return what === WITH_PASSWORD ? figure : { ...figure, verdict: atMost(LATE_MS, ours) };
  };
  return [
    {
      what: `${name}: processor time of a request`,
      unit: "µs",
      ours: (usedMs * 1_000) / load.requests,
    },
    { what: `${name}: tokens a second`, unit: "requests/s", ours: load.requests / (result?.seconds ?? 0) },
    late("/ready", ({ ready }) => ready),
    late("policy, known token", ({ policy }) => policy),
    late("sign-in page", ({ page }) => page),
    late(WITH_PASSWORD, ({ signIn }) => signIn),
  ];
}

const WITH_PASSWORD = "sign-in with a password";

interface Latencies {
  page: number[];
  ready: number[];
  policy: number[];
  signIn: number[];
}

async function probing(site: Site, meanwhile: () => Promise<void>): Promise<Latencies> {
  const times: Latencies = { page: [], ready: [], policy: [], signIn: [] };
  const origin = `http://127.0.0.1:${site.port}`;
  const [token = ""] = (await Bun.file(site.traffic.tokens).slice(0, 4_096).text()).split("\n");
  const headers = {
    ...site.traffic.headers,
    "If-None-Match": site.traffic.etag,
    Authorization: `Bearer ${token}`,
  };
  let isOver = false;
  const repeat = async (list: number[], everyMs: number, ask: () => Promise<Response>) => {
    while (!isOver) {
      const begin = performance.now();
      const answer = await ask();
      await answer.bytes();
      list.push(performance.now() - begin);
      if (answer.status >= 400) throw new Error(`a probe was answered ${answer.status}`);
      await Bun.sleep(everyMs);
    }
  };
  const signIn = () =>
    fetch(`${origin}/api/auth/sign-in/email`, {
      method: "POST",
      headers: { "content-type": "application/json", origin },
      body: JSON.stringify(PERSON),
    });
  const probes = [
    repeat(times.page, PROBE_EVERY_MS, () => fetch(`${origin}/login`)),
    repeat(times.ready, PROBE_EVERY_MS, () => fetch(`${origin}/ready`)),
    repeat(times.policy, PROBE_EVERY_MS, () => fetch(`${origin}/governance-config`, { headers })),
    repeat(times.signIn, SIGN_IN_EVERY_MS, signIn),
  ];
  await meanwhile();
  isOver = true;
  await Promise.all(probes);
  return times;
}
