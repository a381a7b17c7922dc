// Inference through the executable: a workstation signs in, its agent's request reaches the gateway with the user's key, the log
// has one line for it, and a command of another process ends access for the next request and for a running response.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { OTHER_SLOTS } from "../../../../src/platform/outbound/request-slots.ts";
import { ADMIN_KEY, LitellmGateway } from "../../../support/gateway/litellm-gateway.ts";
import { runHere } from "../../../support/in-process.ts";
import { RawClient } from "../../../support/inference/raw-client.ts";
import {
  ADMIN_EMAIL,
  ADMIN_PASSWORD,
  prepareInstallation,
} from "../../../support/installed/prepared-installation.ts";
import { type RunningService, startService } from "../../../support/running-service.ts";

const MEMBER = "ana@example.com";
const LIMIT_MS = 60_000;
const BASE = "/litellm/root";

let folder: string;
let keys: LitellmGateway;
let front: Bun.Server<undefined>;
let service: RunningService;
/** credentials of requests for models, oldest first */
const credentials: string[] = [];
/** streams that the service has ended, or whose agent has disconnected */
let ended = 0;

/** The gateway below a path: models here, keys at the other address. */
async function serveGateway(request: Request, server: Bun.Server<undefined>): Promise<Response> {
  server.timeout(request, 0);
  const { pathname, search } = new URL(request.url);
  const path = pathname.slice(BASE.length);
  const authorization = request.headers.get("authorization") ?? "";
  if (!pathname.startsWith(BASE)) return new Response(null, { status: 404 });
  if (authorization === `Bearer ${ADMIN_KEY}`)
    return fetch(keys.origin + path + search, {
      method: request.method,
      headers: request.headers,
      body: request.body,
    });
  credentials.push(`${path} ${authorization}`);
  if (path !== "/v1/messages") return Response.json({ usage: { input_tokens: 3, output_tokens: 4 } });
  request.signal.addEventListener("abort", () => {
    ended += 1;
  });
  const event = 'event: message_start\ndata: {"type":"message_start"}\n\n';
  const body = new ReadableStream({ start: (stream) => stream.enqueue(event) });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "quartermaster-test-"));
  keys = await LitellmGateway.start();
  for (const email of [ADMIN_EMAIL, MEMBER]) keys.addUser(email);
  front = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: serveGateway });
  const config = join(folder, "quartermaster.yaml");
  const provisioner = { type: "builtin-litellm", admin_key: ADMIN_KEY };
  const proxy = { token_rps: 10_000, token_burst: 10_000, budgets: { parallel_requests: 0 } };
  const gateway = { type: "litellm", url: `http://127.0.0.1:${front.port}${BASE}`, provisioner, proxy };
  writeFileSync(config, JSON.stringify({ gateway }), { mode: 0o600 });
  for (const name of ["data", "other"]) await prepareInstallation(join(folder, name));
  service = await startService({ args: ["--data-dir", join(folder, "data"), "--config", config] });
}, LIMIT_MS);
afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await front.stop(true);
  await keys.stop();
  rmSync(folder, { recursive: true });
});

/** Runs a command in this process, which is not the process of the service. */
const cli = async (line: string) => {
  const args = [...line.split(" "), "--data-dir", join(folder, "data")];
  const { stdout, stderr, exitCode } = await runHere(args, { cwd: folder });
  if (exitCode !== 0) throw new Error(`${line}: ${stderr}`);
  return stdout;
};

const post = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(`${service.baseUrl}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
const form = (path: string, fields: Record<string, string>): Promise<Response> =>
  fetch(`${service.baseUrl}${path}`, { method: "POST", body: new URLSearchParams(fields) });

/** @returns an inference token and its URL */
async function workstation(email: string): Promise<{ token: string; proxy_url: string }> {
  const signIn = await post("/api/auth/sign-in/email", { email, password: ADMIN_PASSWORD });
  const cookie = signIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const client_id = "blue-cli";
  const resource = service.baseUrl;
  const scope = "offline_access governance:read";
  const code = await (await form("/api/auth/device/code", { client_id, scope, resource })).json();
  const link = new URL(code.verification_uri_complete).pathname;
  await fetch(`${service.baseUrl}/api${link}`, { headers: { cookie } });
  await post(`/api${link}`, { action: "approve" }, { cookie });
  const grant_type = "urn:ietf:params:oauth:grant-type:device_code";
  const { device_code } = code;
  const tokens = await form("/api/auth/oauth2/token", { grant_type, device_code, client_id, resource });
  const { access_token } = await tokens.json();
  const authorization = `Bearer ${access_token}`;
  await post("/gateway/key/ensure", {}, { authorization });
  return await (await post("/gateway/token", {}, { authorization })).json();
}

test("INF-3 the start prints the address of inference", async () => {
  const url = `${service.baseUrl}/inference`;
  expect(service.stdout()).toContain(`\n  inference ${url}\n`);
  await service.logged(`inference_url=${url}`);
  const listen = `unix:${join(folder, "inference.sock")}`;
  const public_ = "https://inference.example.org";
  const own = ["--gateway-proxy-listen", listen, "--gateway-inference-proxy-url", public_];
  const config = ["--data-dir", join(folder, "other"), "--config", join(folder, "quartermaster.yaml")];
  await using other = await startService({ args: [...config, ...own] });
  expect(other.stdout()).toContain(`\n  inference ${public_}, listening on ${listen}\n`);
  await other.logged(`inference_address=${listen}`);
});

test(
  "INF-61 more idle streams than the runtime's limit of requests are forwarded, and other requests still work",
  async () => {
    const { token } = await workstation(ADMIN_EMAIL);
    const headers = `Authorization: Bearer ${token}\r\n`;
    const { port } = new URL(service.baseUrl);
    const clients = Array.from({ length: OTHER_SLOTS + 20 }, () =>
      RawClient.post(Number(port), "/inference/v1/messages", "{}", { headers }),
    );
    for (const client of clients) await client.until(({ text }) => text.includes("message_start"));
    expect(credentials).toHaveLength(clients.length);
    const response = await post("/inference/responses", {}, { authorization: `Bearer ${token}` });
    expect(response.status).toBe(200);
    for (const client of clients) client.leave();
    while (ended < clients.length) await Bun.sleep(1);
    credentials.length = 0;
  },
  LIMIT_MS,
);

test(
  "INF-1 and INF-12 a request is forwarded, logged, and refused as soon as a command has suspended its user",
  async () => {
    const password = join(folder, "password");
    writeFileSync(password, ADMIN_PASSWORD, { mode: 0o600 });
    await cli(`users create ${MEMBER} --role member --password-file ${password}`);
    const { token, proxy_url } = await workstation(MEMBER);
    expect(proxy_url).toBe(`${service.baseUrl}/inference`);
    const headers = { authorization: `Bearer ${token}`, "user-agent": "codex_cli_rs/0.72.0" };
    const send = (path: string) =>
      fetch(`${proxy_url}${path}`, { method: "POST", headers, body: '{"model":"model-a","stream":true}' });

    const response = await send("/responses?x=1");
    expect([response.status, await response.json()]).toEqual([
      200,
      { usage: { input_tokens: 3, output_tokens: 4 } },
    ]);
    expect(credentials[0]).toMatch(/^\/responses Bearer sk-/);
    const stream = (await send("/v1/messages")).body?.getReader();
    expect(String(Buffer.from((await stream?.read())?.value ?? []))).toStartWith("event: message_start");

    const left = ended;
    await cli(`users suspend ${MEMBER} --yes`);
    const refused = await Promise.all(Array.from({ length: 20 }, () => send("/v1/messages")));
    expect(new Set(refused.map(({ status }) => status))).toEqual(new Set([401]));
    expect(credentials).toHaveLength(2);
    const last = String(Buffer.from((await stream?.read())?.value ?? []));
    expect(last).toStartWith("event: error\n");
    expect((await stream?.read())?.done).toBe(true);
    while (ended === left) await Bun.sleep(1);

    service.signal("SIGTERM");
    expect(await service.ended()).toBe(0);
    const { items } = JSON.parse(await cli(`gateway logs list --user ${MEMBER} --json`));
    const outcomes = items.map(({ outcome }: { outcome: string }) => outcome).toSorted();
    expect(outcomes).toEqual(["complete", "cut", ...Array.from({ length: 20 }, () => "refused")]);
  },
  LIMIT_MS,
);
