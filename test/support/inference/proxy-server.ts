// The service with inference behind a real socket: users with gateway keys, a scripted upstream that counts requests, and the
// handler before the framework as in the running service.
import { Registry } from "prom-client";
import { proxySettingsOf } from "../../../src/app/installation/proxy-settings.ts";
import { type InferenceParts, startInference } from "../../../src/app/service/inference.ts";
import { UPSTREAM_DESTINATION } from "../../../src/domain/gateway/inference/proxy-health.ts";
import type { RequestRow } from "../../../src/domain/inference/log/record.ts";
import type { ProxySettings } from "../../../src/domain/inference/settings.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { createOutbound } from "../../../src/platform/outbound/outbound.ts";
import type { Forwarding } from "../../../src/server/inference/forwarding/forwarding.ts";
import type { InferenceHandler } from "../../../src/server/inference/handler.ts";
import { type Handler, type ListenOptions, listen } from "../../../src/server/listener/listen.ts";
import {
  createGatewayServer,
  type GatewayServer,
  type GatewayServerOptions,
} from "../gateway/gateway-server.ts";
import { NO_PROXIES, raise } from "../network/listening-server.ts";
import type { Caller } from "../server.ts";
import { ScriptedUpstream } from "./upstream.ts";

export const PREFIX = "/inference";

export interface ProxyServer extends GatewayServer {
  /** of the main listener */
  origin: string;
  /** where agents send their requests */
  proxyUrl: string;
  /** receives forwarded requests; `upstream` is the administration API that creates keys */
  models: ScriptedUpstream;
  metrics: Registry;
  /** rows handed to the request log, oldest first */
  rows: RequestRow[];
  forwarding: Forwarding;
  handler: InferenceHandler;
  /** Refuses every request from now on. */
  stop(): void;
  /** @returns a new inference token of a user who has a gateway key */
  tokenOf(caller: Caller): Promise<string>;
  /** Sends a request to the proxy. @param path below the URL that clients are given */
  send(path: string, request?: RequestInit): Promise<Response>;
}

export interface ProxyServerOptions extends Omit<GatewayServerOptions, "proxySettings"> {
  proxy?: Partial<ProxySettings>;
  listen?: Partial<ListenOptions>;
  parts?: Partial<Pick<InferenceParts, "requestLog">>;
}

/** @returns the default settings */
export function defaultProxySettings(upstreamUrl: string): ProxySettings {
  const flags = {
    gatewayType: "litellm",
    gatewayUrl: upstreamUrl,
    gatewayProvisionerType: "builtin-litellm",
  };
  const env = { QUARTERMASTER_GATEWAY_PROVISIONER_ADMIN_KEY: "sk-0123456789abcdef" };
  const settings = proxySettingsOf(loadConfig({ flags, env, cwd: import.meta.dir }));
  if (!settings) throw new Error("this service forwards by default");
  return settings;
}

export async function createProxyServer(options: ProxyServerOptions = {}): Promise<ProxyServer> {
  const models = await ScriptedUpstream.start();
  const settings = { ...defaultProxySettings(models.origin), ...options.proxy };
  const testServer = await createGatewayServer({
    ...options,
    gateway: { proxyMode: "in-process", ...options.gateway },
    proxySettings: settings,
  });
  const metrics = new Registry();
  const rows: RequestRow[] = [];
  const { clock, ids } = testServer.world;
  const inference = startInference({
    settings,
    domain: testServer.domain,
    outbound: createOutbound({
      allowed: [{ name: UPSTREAM_DESTINATION, origin: models.origin, why: "test" }],
    }),
    requestLog: { add: (row) => void rows.push(row) },
    metrics,
    clock,
    ids,
    log: createLog({ level: "error", format: "json", write: raise, clock }),
    ...options.parts,
  });
  if (!inference) throw new Error("this service forwards");
  const { handler, forwarding } = inference;
  const answer: Handler = (request, addressOf, forwardingOf, socket) =>
    handler.answers(request)
      ? handler.handle(request, socket, addressOf)
      : testServer.server.handle(request, addressOf, forwardingOf);
  const listener = listen(answer, {
    listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
    ...NO_PROXIES,
    report: raise,
    ...options.listen,
  });
  const proxyUrl = `${listener.address}${settings.listen ? "" : PREFIX}`;
  return {
    ...testServer,
    origin: listener.address,
    proxyUrl,
    models,
    metrics,
    rows,
    forwarding,
    handler,
    stop: () => handler.stop(),
    tokenOf: (caller) => tokenOf(testServer, caller),
    send: (path, request) => fetch(`${proxyUrl}${path}`, request),
    async [Symbol.asyncDispose]() {
      handler.stop();
      await listener.stop();
      await models[Symbol.asyncDispose]();
      await testServer[Symbol.asyncDispose]();
    },
  };
}

async function tokenOf(testServer: GatewayServer, { accessToken: token }: Caller): Promise<string> {
  const key = await testServer.request("POST", "/gateway/key/ensure", { token });
  if (key.status !== 200) throw new Error(`no gateway key: ${await key.text()}`);
  const minted = await testServer.request("POST", "/gateway/token", { token });
  return (await minted.json()).token;
}

/** A request that passes every check. */
export const chat = (token: string, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  headers: { authorization: `Bearer ${token}`, "content-type": "application/json", ...headers },
  body: JSON.stringify({ model: "example-model", messages: [] }),
});
