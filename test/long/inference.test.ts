// Inference at full size, through the executable: more streams than the runtime sends on its own, clients that leave thousands of
// times, and a stop among hundreds of streams.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deviceLogin } from "../support/device-login.ts";
import { ADMIN_KEY, LitellmGateway } from "../support/gateway/litellm-gateway.ts";
import { RawClient } from "../support/inference/raw-client.ts";
import { CHAT } from "../support/inference/recordings.ts";
import { EVENT_STREAM, ScriptedUpstream, type UpstreamExchange } from "../support/inference/upstream.ts";
import { type RunningService, startService } from "../support/running-service.ts";
import { temporaryDirectory } from "../support/world.ts";

const LIMIT_MS = 240_000;
const EMAIL = "admin@example.com";
/** clients that leave at the same time */
const AT_ONCE = 20;
const FIRST = CHAT.events[0] ?? "";
const DONE = "data: [DONE]\n\n";

const folder = temporaryDirectory();
let keys: LitellmGateway;
let gateway: ScriptedUpstream;
let streams: UpstreamExchange[] = [];
/** requests that a test awaits at the upstream, by their header `x-round` */
const awaited = new Map<string, (exchange: UpstreamExchange) => void>();

beforeAll(async () => {
  keys = await LitellmGateway.start();
  keys.addUser(EMAIL);
  gateway = await ScriptedUpstream.start(serve);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await keys.stop();
  rmSync(folder, { recursive: true });
});

/** Administration with the key of the administrator; else a stream that begins, or with `x-phase: head` no response. */
async function serve(exchange: UpstreamExchange): Promise<void> {
  const body = await exchange.body();
  const { method, target } = exchange;
  const authorization = exchange.header("authorization") ?? "";
  if (authorization === `Bearer ${ADMIN_KEY}`) {
    const headers = { authorization, "content-type": "application/json" };
    const response = await fetch(keys.origin + target, {
      method,
      headers,
      ...(body.length > 0 && { body: String(body) }),
    });
    return await exchange.answer(response.status, await response.bytes());
  }
  awaited.get(exchange.header("x-round") ?? "")?.(exchange);
  if (exchange.header("x-phase") === "head") return;
  if (exchange.header("x-phase") === "json") return await exchange.answer(200, "{}");
  streams.push(exchange);
  await exchange.head(200, EVENT_STREAM);
  await exchange.chunk(FIRST);
}

interface Site extends AsyncDisposable {
  service: RunningService;
  data: string;
  /** @param headers `x-phase` selects the response of the upstream: `json`, `head` for no response, or else a stream */
  send(headers?: Readonly<Record<string, string>>): RawClient;
  /** @returns the value of a metric without labels */
  metric(name: string): Promise<number>;
}

async function start(name: string): Promise<Site> {
  streams = [];
  const data = join(folder, name);
  const config = join(folder, `${name}.yaml`);
  const provisioner = { type: "builtin-litellm", admin_key: ADMIN_KEY };
  const limits = { max_in_flight: 4_000, token_rps: 100_000, token_burst: 100_000, drain_seconds: 3 };
  const proxy = { ...limits, budgets: { parallel_requests: 0 } };
  const settings = { gateway: { type: "litellm", url: gateway.origin, provisioner, proxy } };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  const service = await startService({ args: ["--data-dir", data, "--config", config] });
  const password = service.password();
  const { access_token } = await deviceLogin(service.baseUrl, { email: EMAIL, password });
  const headers = { authorization: `Bearer ${access_token}` };
  await fetch(`${service.baseUrl}/gateway/key/ensure`, { method: "POST", headers });
  const minted = await fetch(`${service.baseUrl}/gateway/token`, { method: "POST", headers });
  const { token } = await minted.json();
  const port = Number(new URL(service.baseUrl).port);
  return {
    service,
    data,
    send(more = {}) {
      const fields = Object.entries({ Authorization: `Bearer ${token}`, ...more });
      const headers = fields.map(([field, value]) => `${field}: ${value}\r\n`).join("");
      return RawClient.post(port, `/inference${CHAT.path}`, CHAT.request, { headers });
    },
    async metric(wanted) {
      const text = await (await fetch(`${service.baseUrl}/metrics`)).text();
      return Number(new RegExp(`^${wanted} (\\d+)$`, "m").exec(text)?.[1]);
    },
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}

/** @returns clients whose streams have begun; they connect in batches, because a listener's queue is finite */
async function open(site: Site, count: number): Promise<RawClient[]> {
  const clients: RawClient[] = [];
  while (clients.length < count) {
    const some = Array.from({ length: Math.min(100, count - clients.length) }, () => site.send());
    await Promise.all(some.map((client) => client.until(({ body }) => String(body) === FIRST)));
    clients.push(...some);
  }
  return clients;
}

const until = async (isMet: () => Promise<boolean>): Promise<void> => {
  while (!(await isMet())) await Bun.sleep(20);
};

test(
  "INF-61 another request is answered while thousands of streams are quiet",
  async () => {
    await using site = await start("quiet");
    const clients = await open(site, 3_000);
    expect([streams.length, gateway.open >= 3_000]).toEqual([3_000, true]);
    expect(await site.metric("quartermaster_inference_streams")).toBe(3_000);
    const beside = site.send({ "x-phase": "json" });
    await beside.until(({ isWhole }) => isWhole);
    expect(beside.status).toBe(200);
    for (const client of clients) client.leave();
    await until(async () => (await site.metric("quartermaster_inference_in_flight")) === 0);
    await until(async () => streams.every(({ isOpen }) => !isOpen));
  },
  LIMIT_MS,
);

test(
  "INF-27 thousands of clients that leave hold no permit, descriptor or memory",
  async () => {
    await using site = await start("leaving");
    const { pid } = site.service;
    const descriptors = () => readdirSync(`/proc/${pid}/fd`).length;
    const residentMb = async () => {
      const status = await Bun.file(`/proc/${pid}/status`).text();
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1_024;
    };
    let sent = 0;
    const leaveOnce = async (round: number) => {
      const { promise, resolve } = Promise.withResolvers<UpstreamExchange>();
      awaited.set(`${round}`, resolve);
      const isStream = round % 2 === 0;
      const client = site.send({ "x-round": `${round}`, ...(!isStream && { "x-phase": "head" }) });
      if (isStream) await client.until(({ body }) => body.length > 0);
      const exchange = await promise;
      client.leave(round % 3 === 0 ? "rst" : "fin");
      await exchange.closed;
      awaited.delete(`${round}`);
    };
    const leave = async (rounds: number) => {
      for (const end = sent + rounds; sent < end; sent += AT_ONCE)
        await Promise.all(Array.from({ length: AT_ONCE }, (_, at) => leaveOnce(sent + at)));
      gateway.exchanges.length = 0;
      streams = [];
      await until(async () => (await site.metric("quartermaster_inference_in_flight")) === 0);
    };
    await leave(2_000);
    const [files, mb] = [descriptors(), await residentMb()];
    await leave(5_000);
    expect(descriptors()).toBeLessThan(files + 20);
    expect(await residentMb()).toBeLessThan(mb + 30);
  },
  LIMIT_MS,
);

test(
  "INF-36 a stop with hundreds of open streams ends each correctly, writes every row, and finishes in time",
  async () => {
    await using site = await start("stopping");
    const clients = await open(site, 500);
    site.service.signal("SIGTERM");
    await site.service.logged("service.stopping");
    for (const exchange of streams.slice(0, 250)) {
      await exchange.chunk(DONE);
      await exchange.lastChunk();
    }
    await Promise.all(clients.map((client) => client.until(({ isWhole }) => isWhole)));
    const ends = clients.map(({ body }) => String(body).slice(FIRST.length));
    expect(ends.filter((end) => end === DONE)).toHaveLength(250);
    expect(ends.filter((end) => /^data: \{"error":.*service\.stopping.*\n\n$/.test(end))).toHaveLength(250);
    for (const client of clients) client.leave();
    expect(await site.service.ended()).toBe(0);
    using rows = new Database(join(site.data, "request-logs.db"), { readonly: true });
    const outcomes = rows
      .query("SELECT outcome, count(*) AS total FROM requests GROUP BY outcome ORDER BY 1")
      .all();
    expect(outcomes).toEqual([
      { outcome: "complete", total: 250 },
      { outcome: "stopped", total: 250 },
    ]);
  },
  LIMIT_MS,
);
