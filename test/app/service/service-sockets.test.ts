// The sockets of the service, with and without a separate listener for inference.
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openServiceSockets, type ServiceSockets } from "../../../src/app/service/service-sockets.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { chat, createProxyServer, type ProxyServer } from "../../support/inference/proxy-server.ts";
import { raise } from "../../support/network/listening-server.ts";
import { certify } from "../../support/network/private-ca.ts";
import { heldClock, temporaryDirectory } from "../../support/world.ts";

const folder = temporaryDirectory();
const log = createLog({ level: "error", format: "json", write: raise, clock: heldClock() });
let own: ProxyServer;
let token: string;
beforeAll(async () => {
  own = await createProxyServer({ proxy: { listen: { kind: "unix", path: "/nowhere" } } });
  token = await own.tokenOf(await own.signedIn("member"));
});
afterAll(async () => {
  await own[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});
let sockets: ServiceSockets | undefined;
afterEach(() => sockets?.stop());

function configOf(proxy: object, flags: Record<string, string> = {}): Config {
  const path = join(folder, `${crypto.randomUUID()}.yaml`);
  const provisioner = { type: "builtin-litellm", admin_key: "sk-admin" };
  const addresses = { url: "https://g.example.org", inference_proxy_url: "https://i.example.org" };
  const gateway = { type: "litellm", ...addresses, provisioner, proxy };
  writeFileSync(path, JSON.stringify({ gateway }), { mode: 0o600 });
  return loadConfig({ flags: { config: path, serverListen: "127.0.0.1:0", ...flags }, env: {}, cwd: folder });
}

const statusOf = async (url: string, options: BunFetchRequestInit = {}) => (await fetch(url, options)).status;

test("INF-3 a separate listener serves the proxy only, and the main one does not serve it", async () => {
  const path = join(folder, "proxy.sock");
  sockets = await openServiceSockets(configOf({ listen: `unix:${path}` }), log);
  const { address } = sockets.listener;
  expect(await statusOf(`${address}/health`)).toBe(503);
  const early = await fetch("http://localhost/v1/messages", { unix: path, ...chat(token) });
  expect([early.status, (await early.json()).error.type]).toEqual([503, "overloaded_error"]);

  sockets.open(own.server, { inference: own.handler, tracer: undefined });
  expect(await statusOf("http://localhost/health", { unix: path })).toBe(200);
  expect(await statusOf("http://localhost/v1/messages", { unix: path, ...chat(token) })).toBe(200);
  expect(await statusOf("http://localhost/inference/v1/messages", { unix: path, ...chat(token) })).toBe(404);
  const unknown = await fetch("http://localhost/admin/users", { unix: path });
  expect([unknown.status, (await unknown.json()).reason]).toEqual([404, "inference.no_such_path"]);
  expect(await statusOf(`${address}/health`)).toBe(200);
  expect(await statusOf(`${address}/inference/v1/messages`, chat(token))).toBe(404);
  expect(await statusOf(`${address}/v1/messages`, chat(token))).toBe(404);
});

test("INF-3 the separate listener serves TLS with the certificate of the service, also after its renewal", async () => {
  const files = { cert: join(folder, "cert.pem"), key: join(folder, "key.pem") };
  const writePair = async () => {
    const { cert, key } = await certify();
    writeFileSync(files.cert, cert);
    writeFileSync(files.key, key, { mode: 0o600 });
  };
  await writePair();
  const flags = { serverTlsCert: files.cert, serverTlsKey: files.key };
  sockets = await openServiceSockets(configOf({ listen: "127.0.0.1:0" }, flags), log);
  sockets.open(own.server, { inference: own.handler, tracer: undefined });
  await writePair();
  for (const listener of sockets.listeners) {
    expect(listener.address).toStartWith("https://");
    expect(await statusOf(`${listener.address}/health`, { tls: { rejectUnauthorized: false } })).toBe(200);
    expect(listener.renew(files)).toBeDefined();
  }
});

test("an address in use is named with its setting, and the main address is free again", async () => {
  using taken = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const free = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
  const main = `127.0.0.1:${free.port}`;
  free.stop(true);
  const config = configOf({ listen: `127.0.0.1:${taken.port}` }, { serverListen: main });
  const refused = await openServiceSockets(config, log).catch((error: unknown) => error);
  if (!(refused instanceof DomainError)) throw refused;
  expect([refused.reason, refused.hint]).toEqual([
    "listen.in_use",
    expect.stringContaining("--gateway-proxy-listen"),
  ]);
  sockets = await openServiceSockets(configOf({}, { serverListen: main }), log);
  expect(sockets.listeners).toHaveLength(1);
  const early = await fetch(`http://${main}/inference/responses`, chat(token));
  expect([early.status, (await early.json()).reason]).toEqual([503, "service.starting"]);
  expect((await fetch(`http://${main}/ready`)).headers.get("content-type")).toBe("application/problem+json");
});

test("INF-5 gateway mode off leaves the address of a proxy closed", async () => {
  const path = join(folder, "unused.yaml");
  writeFileSync(path, JSON.stringify({ gateway: { proxy: { listen: "127.0.0.1:1" } } }), { mode: 0o600 });
  const flags = { config: path, serverListen: "127.0.0.1:0" };
  sockets = await openServiceSockets(loadConfig({ flags, env: {}, cwd: folder }), log);
  expect(sockets.listeners).toHaveLength(1);
});
