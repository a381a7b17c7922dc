// A service that stops while inference requests run: the response to new requests, the end of running ones, and what is on disk
// afterwards.
import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Service, startService } from "../../../src/app/service/service.ts";
import { OAUTH_CLIENT_ID } from "../../../src/domain/access/wire.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { ADMIN_KEY, LitellmGateway } from "../../support/gateway/litellm-gateway.ts";
import { CHEAP } from "../../support/in-process.ts";
import { RawClient } from "../../support/inference/raw-client.ts";
import { CHAT } from "../../support/inference/recordings.ts";
import { EVENT_STREAM, ScriptedUpstream, type UpstreamExchange } from "../../support/inference/upstream.ts";
import { temporaryDirectory } from "../../support/world.ts";

const ACCOUNT = { email: "root@example.org", password: "correct horse battery" };
/** Half of the streams end on their own. */
const STREAMS = 100;
const FIRST = CHAT.events[0] ?? "";

const dataDir = temporaryDirectory();
let administration: LitellmGateway;
let gateway: ScriptedUpstream;
/** the streams of agents */
const streams: UpstreamExchange[] = [];
const errors: string[] = [];

beforeAll(async () => {
  administration = await LitellmGateway.start();
  administration.addUser(ACCOUNT.email);
  gateway = await ScriptedUpstream.start(serve);
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await administration.stop();
  rmSync(dataDir, { recursive: true });
});

/** One gateway: its models are scripted here, and its administration works like the real one. */
async function serve(exchange: UpstreamExchange): Promise<void> {
  const body = await exchange.body();
  if (exchange.target === CHAT.path) {
    streams.push(exchange);
    await exchange.head(200, EVENT_STREAM);
    return await exchange.chunk(FIRST);
  }
  const { method, target } = exchange;
  const headers = {
    authorization: exchange.header("authorization") ?? "",
    "content-type": "application/json",
  };
  const hasBody = method !== "GET" && body.length > 0;
  const response = await fetch(administration.origin + target, {
    method,
    headers,
    ...(hasBody && { body: String(body) }),
  });
  await exchange.answer(response.status, await response.bytes());
}

function start(): Promise<Service> {
  const provisioner = { type: "builtin-litellm", admin_key: ADMIN_KEY };
  const config = join(dataDir, "gateway.yaml");
  const proxy = { drain_seconds: 1, budgets: { parallel_requests: 0 }, token_burst: 1_000 };
  writeFileSync(
    config,
    JSON.stringify({ gateway: { type: "litellm", url: gateway.origin, provisioner, proxy } }),
    {
      mode: 0o600,
    },
  );
  const flags = { config, dataDir, serverListen: "127.0.0.1:0", bootstrapAdminEmail: ACCOUNT.email };
  const env = { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: ACCOUNT.password };
  return startService({
    config: loadConfig({ flags, env, cwd: dataDir }),
    clock: systemClock,
    ids: systemIds,
    log: createLog({
      level: "error",
      format: "json",
      write: (line) => errors.push(line),
      clock: systemClock,
    }),
    passwordCost: CHEAP.passwordCost,
    onBootstrap: () => {},
  });
}

/** @returns an inference token of the administrator, by a device login */
async function tokenFrom({ baseUrl, installation: { db, domain } }: Service): Promise<string> {
  const organizationId = domain.identity.organization()?.id ?? "";
  const user = domain.identity.users.find(organizationId, ACCOUNT.email);
  const { deviceLogins, grants, sessions } = domain.access;
  const form = { clientId: OAUTH_CLIENT_ID, address: "192.0.2.7" };
  const { deviceCode, linkToken } = await deviceLogins.request(form);
  const origin = { address: form.address, userAgent: "Firefox", isFresh: true };
  const { id: loginSessionId } = await db.write((tx) => sessions.open(tx, user.id, origin), "access");
  const actor = { kind: "user", id: user.id, label: user.email, organizationId } as const;
  await deviceLogins.claim(actor, linkToken);
  await deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
  const { access_token: accessToken } = await grants.redeem({ deviceCode, clientId: OAUTH_CLIENT_ID });
  const headers = { authorization: `Bearer ${accessToken}` };
  const key = await fetch(`${baseUrl}/gateway/key/ensure`, { method: "POST", headers });
  if (!key.ok) throw new Error(await key.text());
  return (await (await fetch(`${baseUrl}/gateway/token`, { method: "POST", headers })).json()).token;
}

test("INF-36 long streams get a last event, short ones finish, and every row is written", async () => {
  const service = await start();
  try {
    const token = await tokenFrom(service);
    const headers = `Authorization: Bearer ${token}\r\n`;
    const port = Number(new URL(service.baseUrl).port);
    const post = () => RawClient.post(port, `/inference${CHAT.path}`, CHAT.request, { headers });
    const clients = Array.from({ length: STREAMS }, post);
    await Promise.all(clients.map((client) => client.until(({ body }) => body.length > 0)));
    const waiting = new RawClient(port); // connected before the stop; the request is sent after it
    await waiting.connected;

    const stopped = service.stop();
    waiting.write(`POST /inference${CHAT.path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: 2\r\n\r\n{}`);
    await waiting.until(({ isWhole }) => isWhole);
    expect([waiting.status, waiting.text.includes("service.stopping")]).toEqual([503, true]);

    for (const exchange of streams.slice(0, STREAMS / 2)) {
      await exchange.chunk("data: [DONE]\n\n");
      await exchange.lastChunk();
    }
    await Promise.all(clients.map((client) => client.until(({ isWhole }) => isWhole)));
    const ends = clients.map(({ body }) => String(body).slice(FIRST.length));
    expect(ends.filter((end) => end === "data: [DONE]\n\n")).toHaveLength(STREAMS / 2);
    expect(ends.filter((end) => /^data: \{"error":.*service\.stopping.*\n\n$/.test(end))).toHaveLength(
      STREAMS / 2,
    );
    for (const client of clients) client.leave();
    await stopped;
  } finally {
    await service.stop();
  }
  using rows = new Database(join(dataDir, "request-logs.db"), { readonly: true });
  const outcomes = rows
    .query("SELECT outcome, count(*) AS total FROM requests GROUP BY outcome ORDER BY 1")
    .all();
  expect(outcomes).toEqual([
    { outcome: "complete", total: STREAMS / 2 },
    { outcome: "stopped", total: STREAMS / 2 },
  ]);
  expect(errors).toEqual([]);
});
