// The settings of the inference proxy: which process forwards by default, what a mode requires, and what is refused before the
// service starts.
import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gatewaySettingsOf } from "../../../src/app/installation/gateway-settings.ts";
import { isProxyInProcess, proxySettingsOf } from "../../../src/app/installation/proxy-settings.ts";
import { type Config, loadConfig } from "../../../src/platform/config/config.ts";
import { EXTRA_PATHS_MAX } from "../../../src/platform/config/proxy-rules.ts";
import { problemsOf as refusalOf } from "./problems.ts";

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "config-proxy-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const TOKEN = "t".repeat(32);
const UPSTREAM = "https://gateway.example.org/litellm";

function load(proxy: object = {}, gateway: object = {}): Config {
  const path = join(cwd, "quartermaster.yaml");
  const provisioner = { type: "builtin-litellm", admin_key: "sk-admin" };
  const section = { type: "litellm", url: `${UPSTREAM}/`, provisioner, proxy, ...gateway };
  writeFileSync(path, JSON.stringify({ gateway: section }), { mode: 0o600 });
  return loadConfig({ flags: { config: path }, env: {}, cwd });
}

const gatewayOf = (config: Config) => gatewaySettingsOf(config, () => "https://control.example.org");

const problemsOf = (proxy: object, gateway?: object) => refusalOf(() => load(proxy, gateway));

test("INF-2 this service forwards, unless a token for a separate proxy is set", () => {
  expect(gatewayOf(load())?.proxyMode).toBe("in-process");
  expect(proxySettingsOf(load())?.upstreamUrl).toBe(UPSTREAM);
  const external = load({}, { proxy_token: TOKEN, inference_proxy_url: "https://proxy.example.org" });
  expect(gatewayOf(external)?.proxyMode).toBe("external");
  expect(proxySettingsOf(external)).toBeUndefined();
  expect(gatewayOf(load({ mode: "in-process" }, { proxy_token: TOKEN }))?.proxyMode).toBe("in-process");
});

test("the effective mode is shown if none is set", () => {
  const shown = (config: Config) => {
    const { value, origin } = config.rowOf("gateway.proxy.mode");
    return [value, origin];
  };
  const token = { proxy_token: TOKEN, inference_proxy_url: "https://proxy.example.org" };
  expect(shown(load())).toEqual(["in-process", "default"]);
  expect(shown(load({}, token))).toEqual(["external", "default"]);
  expect(shown(load({}, { type: undefined }))).toEqual(["unset", "default"]);
  expect(shown(load({ mode: "in-process" }, token))).toEqual(["in-process", expect.any(String)]);
});

test("INF-5 forwards nothing with gateway mode off, with any settings of the proxy", () => {
  const config = load({ mode: "in-process", max_in_flight: 9 }, { type: undefined });
  expect([isProxyInProcess(config), proxySettingsOf(config)]).toEqual([false, undefined]);
});

test("INF-2 a mode without the settings it needs is refused", () => {
  expect(problemsOf({ mode: "external" })).toEqual([
    "gateway.inference_proxy_url: missing; gateway.proxy.mode external needs it",
    "gateway.proxy_token: missing; gateway.proxy.mode external needs it: set gateway.proxy_token_file",
  ]);
  expect(problemsOf({ mode: "off" })).toEqual([
    "gateway.inference_proxy_url: missing; gateway.proxy.mode off needs it",
  ]);
  expect(problemsOf({ mode: "somewhere" })[0]).toStartWith("gateway.proxy.mode: must be one of");
});

test("settings of a proxy that does not run here cause a warning", () => {
  const external = { proxy_token: TOKEN, inference_proxy_url: "https://proxy.example.org" };
  expect(load({ max_in_flight: 9 }).warnings).toEqual([]);
  expect(load({ max_in_flight: 9, listen: "127.0.0.1:1" }, external).warnings).toEqual([
    "a separate proxy forwards inference, so these do nothing: gateway.proxy.listen, gateway.proxy.max_in_flight",
  ]);
  expect(load({ mode: "off", cut_streams: "no" }, external).warnings).toEqual([
    "nobody forwards inference, so these do nothing: gateway.proxy.cut_streams",
  ]);
  expect(load({ mode: "external" }, external).warnings).toEqual([]);
});

test("INF-3 workstations get a path of this service, or the configured URL with its path", () => {
  expect(gatewayOf(load())).toMatchObject({
    inferenceProxyUrl: "https://control.example.org/inference",
    inferenceProxyHealthUrl: "https://control.example.org/inference",
  });
  const inference_proxy_url = "https://balancer.example.org/ai/";
  expect(gatewayOf(load({}, { inference_proxy_url }))).toMatchObject({
    inferenceProxyUrl: "https://balancer.example.org/ai",
    inferenceProxyHealthUrl: "https://balancer.example.org/ai",
  });
});

test("INF-3 a separate listener needs the URL at which workstations reach it", () => {
  const listen = "127.0.0.1:8081";
  expect(problemsOf({ listen })).toEqual([
    "gateway.inference_proxy_url: missing; gateway.proxy.listen needs it",
  ]);
  const config = load({ listen }, { inference_proxy_url: "https://inference.example.org" });
  expect(proxySettingsOf(config)?.listen).toEqual({ kind: "tcp", host: "127.0.0.1", port: 8081 });
});

test("INF-3 a separate listener has its own address", () => {
  const url = { inference_proxy_url: "https://inference.example.org" };
  expect(problemsOf({ listen: "127.0.0.1:8080" }, url)).toEqual([
    "gateway.proxy.listen: is the address of server.listen; choose another port or path, or leave it out",
  ]);
  expect(problemsOf({ listen: "127.0.0.1:8081" }, url)).toEqual([]);
});

test.each([
  "POST /key/generate",
  "GET /Key/list",
  "POST /v1/user/new",
  "GET /health",
  "GET /scim/v2/Users",
  "GET /global/spend",
])("INF-8 the administration of the gateway is never forwarded: %s", (entry) => {
  expect(problemsOf({ extra_paths: [entry] })).toEqual([
    expect.stringMatching(/^gateway\.proxy\.extra_paths: .* is administration of the gateway/),
  ]);
});

test.each([
  "post /v1/rankings",
  "POST v1/rankings",
  "POST /v1/../key",
  "POST /v1/./key",
  "POST //v1",
  "POST /v1/%2e",
  "POST /v1;a",
  "POST /v1/rankings/",
  "POST /v1 /rankings",
  "OPTIONS /v1/rankings",
  "POST /v1/rankings?q",
  `POST /${"a".repeat(200)}`,
])("INF-8 an entry that is not a method and an exact path is refused: %s", (entry) => {
  expect(problemsOf({ extra_paths: [entry] })).toHaveLength(1);
});

test("INF-8 up to the maximum of further paths is accepted", () => {
  const entries = (count: number) => Array.from({ length: count }, (_, at) => `POST /v1/rankings-${at}`);
  expect(proxySettingsOf(load({ extra_paths: entries(EXTRA_PATHS_MAX) }))?.extraPaths).toHaveLength(50);
  expect(problemsOf({ extra_paths: ["POST /v1/a", "GET /v1/a", "POST /v1/b", "POST /v1/a"] })).toEqual([
    "gateway.proxy.extra_paths: POST /v1/a is listed more than once",
  ]);
  expect(problemsOf({ extra_paths: entries(EXTRA_PATHS_MAX + 1) })).toEqual([
    "gateway.proxy.extra_paths: must have at most 50 entries",
  ]);
});

test("INF-16 facts about the caller are known ones, and their headers are not those of the request itself", () => {
  const config = load({ identity_headers: { user_id: "x-user-id", profile_name: "x-profile" } });
  expect([...(proxySettingsOf(config)?.identityHeaders ?? [])]).toEqual([
    ["user_id", "x-user-id"],
    ["profile_name", "x-profile"],
  ]);
  const refused = problemsOf({ identity_headers: { email: "x-email", user_id: "authorization" } });
  expect(refused).toEqual([
    expect.stringContaining("email is not a fact about the caller"),
    expect.stringContaining("authorization belongs to the request itself"),
  ]);
  expect(problemsOf({ identity_headers: { user_id: "X-User" } })).toHaveLength(1);
});

test("INF-18 the gateway's URL may have a path, and no query or credentials", () => {
  expect(gatewayOf(load())?.url).toBe(UPSTREAM);
  const urls = ["https://g.example.org/?a=b", "https://u:p@g.example.org/v1", "http://g.example.org/v1"];
  for (const url of urls) expect(problemsOf({}, { url })).toHaveLength(1);
});
