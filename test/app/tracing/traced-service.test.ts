// The spans that a service sends for requests, gateway keys and inference, and what they must not contain.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Service, startService } from "../../../src/app/service/service.ts";
import { OAUTH_CLIENT_ID } from "../../../src/domain/access/wire.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { systemIds } from "../../../src/platform/ids.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { ADMIN_KEY, LitellmGateway } from "../../support/gateway/litellm-gateway.ts";
import { CHEAP } from "../../support/in-process.ts";
import {
  createTraceCollector,
  type ReceivedSpan,
  type TraceCollector,
} from "../../support/network/trace-collector.ts";
import { temporaryDirectory } from "../../support/world.ts";

const ACCOUNT = { email: "root@example.org", password: "correct horse battery" };
const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const CHAT = "/v1/chat/completions";

const dataDir = temporaryDirectory();
let administration: LitellmGateway;
let gateway: Bun.Server<undefined>;
let collector: TraceCollector;
/** the header `traceparent` of each request that the upstream of inference received */
const receivedTraceHeaders: (string | null)[] = [];
/** values used in the requests that must not appear in any span */
let credentials: string[];

beforeAll(async () => {
  administration = await LitellmGateway.start();
  administration.addUser(ACCOUNT.email);
  gateway = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: responseOfGateway });
  collector = createTraceCollector();
  const service = await start();
  try {
    credentials = await use(service);
  } finally {
    await service.stop();
  }
});
afterAll(async () => {
  collector[Symbol.dispose]();
  await gateway.stop(true);
  await administration.stop();
  rmSync(dataDir, { recursive: true });
});

/** One gateway: its model is defined here, and its administration works like the real one. */
async function responseOfGateway(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  if (pathname === CHAT) {
    receivedTraceHeaders.push(request.headers.get("traceparent"));
    return new Response("data: {}\n\n", { headers: { "content-type": "text/event-stream" } });
  }
  const { method, headers } = request;
  const body = method === "GET" ? {} : { body: await request.text() };
  return await fetch(administration.origin + pathname + search, { method, headers, ...body });
}

function start(): Promise<Service> {
  const config = join(dataDir, "quartermaster.yaml");
  const settings = {
    gateway: {
      type: "litellm",
      url: gateway.url.origin,
      provisioner: { type: "builtin-litellm", admin_key: ADMIN_KEY },
    },
    tracing: { url: collector.url, sample_ratio: 1, propagate: true },
  };
  writeFileSync(config, JSON.stringify(settings), { mode: 0o600 });
  const flags = { config, dataDir, serverListen: "127.0.0.1:0", bootstrapAdminEmail: ACCOUNT.email };
  const env = { QUARTERMASTER_BOOTSTRAP_ADMIN_PASSWORD: ACCOUNT.password };
  return startService({
    config: loadConfig({ flags, env, cwd: dataDir }),
    clock: systemClock,
    ids: systemIds,
    log: createLog({ level: "error", format: "json", write: () => {}, clock: systemClock }),
    passwordCost: CHEAP.passwordCost,
    onBootstrap: () => {},
  });
}

/** @returns an access token of the administrator, by a device login */
async function signIn({ installation: { db, domain } }: Service): Promise<string> {
  const organizationId = domain.identity.organization()?.id ?? "";
  const user = domain.identity.users.find(organizationId, ACCOUNT.email);
  const { deviceLogins, grants, sessions } = domain.access;
  const form = { clientId: OAUTH_CLIENT_ID, address: "192.0.2.7" };
  const { deviceCode, linkToken } = await deviceLogins.request(form);
  const { id: loginSessionId } = await db.write(
    (tx) => sessions.open(tx, user.id, { address: form.address, userAgent: "Firefox", isFresh: true }),
    "access",
  );
  const actor = { kind: "user", id: user.id, label: user.email, organizationId } as const;
  await deviceLogins.claim(actor, linkToken);
  await deviceLogins.decide(actor, { linkToken, loginSessionId, decision: "approve" });
  return (await grants.redeem({ deviceCode, clientId: OAUTH_CLIENT_ID })).access_token;
}

/** Sends requests of each kind. @returns their tokens */
async function use(service: Service): Promise<string[]> {
  const { baseUrl } = service;
  const accessToken = await signIn(service);
  const headers = { authorization: `Bearer ${accessToken}` };
  await fetch(`${baseUrl}/ready?token=secret-of-a-query`, { headers: { traceparent: TRACEPARENT } });
  await fetch(`${baseUrl}/nothing/secret-of-a-path`, { method: "PROPFIND" });
  await fetch(`${baseUrl}/gateway/key/ensure`, { method: "POST", headers });
  const { token } = await (await fetch(`${baseUrl}/gateway/token`, { method: "POST", headers })).json();
  const inference = await fetch(`${baseUrl}/inference${CHAT}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ model: "a", stream: true, messages: [] }),
  });
  expect([inference.status, await inference.text()]).toEqual([200, "data: {}\n\n"]);
  return [accessToken, token];
}

const spanNamed = (name: string): ReceivedSpan =>
  collector.spans.find((span) => span.name === name) ?? expect.unreachable(name);

const childNamesOf = ({ traceId, spanId }: ReceivedSpan): string[] =>
  collector.spans
    .filter((span) => span.traceId === traceId && span.parentSpanId === spanId)
    .map(({ name }) => name);

test("TRC-3 a request is a span with its method, route, status and request id", () => {
  expect(collector.resource).toMatchObject({ "service.name": "quartermaster" });
  expect(spanNamed("GET /ready").facts).toMatchObject({
    "http.request.method": "GET",
    "http.route": "/ready",
    "http.response.status_code": 200,
    "quartermaster.request_id": expect.stringMatching(/^[0-9a-f-]{36}$/),
  });
});

test("TRC-2 the trace of a caller is linked and not continued by default", () => {
  const { traceId, parentSpanId, links } = spanNamed("GET /ready");
  expect(TRACEPARENT).not.toContain(traceId);
  expect(parentSpanId).toBeUndefined();
  expect(links).toMatchObject([{ spanId: "b7ad6b7169203331" }]);
});

test("TRC-3 a span contains no text of the caller for an unknown method and an unknown path", () => {
  const { facts } = spanNamed("HTTP");
  expect(facts).toMatchObject({ "http.request.method": "_OTHER", "http.response.status_code": 404 });
  expect(JSON.stringify(collector.spans)).not.toContain("PROPFIND");
});

test("TRC-3 writes and provisioner calls are children of their request", () => {
  expect(childNamesOf(spanNamed("POST /gateway/key/ensure"))).toEqual(
    expect.arrayContaining(["database write", "provisioner provision"]),
  );
});

test("TRC-3 an inference request has its outcome, and its upstream is a child that receives the trace", () => {
  const chat = spanNamed(`POST ${CHAT}`);
  expect(chat.facts).toMatchObject({
    "http.route": CHAT,
    "http.response.status_code": 200,
    "quartermaster.outcome": "complete",
  });
  expect(childNamesOf(chat)).toContain("POST inference-upstream");
  const { spanId } = spanNamed("POST inference-upstream");
  expect(receivedTraceHeaders).toEqual([`00-${chat.traceId}-${spanId}-01`]);
});

test("TRC-3 spans contain no secrets, no personal data, no addresses, no paths and no queries", () => {
  const everything = JSON.stringify(collector.spans);
  const hidden = [...credentials, "secret", ACCOUNT.email, ADMIN_KEY, "192.0.2.7", "127.0.0.1"];
  expect(hidden.filter((text) => everything.includes(text))).toEqual([]);
});

test("TRC-6 a stopped service removes the state of its traces", () => {
  expect(existsSync(join(dataDir, "run", "tracing.json"))).toBe(false);
});
