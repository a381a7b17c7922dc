// The server with gateway mode on: the built-in provisioner with a small real gateway, and a token for the inference proxy.

import { afterEach } from "bun:test";
import { PROXY_DESTINATION } from "../../../src/domain/gateway/inference/proxy-health.ts";
import { configurationDigest } from "../../../src/domain/gateway/keys/configuration-digest.ts";
import { createLitellmProvisioner } from "../../../src/domain/gateway/provisioners/litellm/litellm.ts";
import { createAdminRequest } from "../../../src/domain/gateway/provisioners/litellm/litellm-request.ts";
import type { GatewayMode } from "../../../src/domain/gateway/service.ts";
import type { GatewaySettings } from "../../../src/domain/gateway/settings.ts";
import type { Clock } from "../../../src/platform/clock.ts";
import { createOutbound, type Outbound } from "../../../src/platform/outbound/outbound.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { type Copy, remember } from "../content/copies.ts";
import { BASE_URL, createTestServer, type TestServer, type TestServerOptions } from "../server.ts";
import { sharedServer } from "../shared.ts";
import { createWorld, type World } from "../world.ts";
import { BUILTIN_SETTINGS } from "./builtin-provisioner.ts";
import { LitellmGateway } from "./litellm-gateway.ts";

export const PROXY_TOKEN = "a-token-of-the-inference-proxy-in-the-configuration";
export const PROXY_URL = "https://inference.example.com";

export interface GatewayServer extends TestServer {
  upstream: LitellmGateway;
}

export interface GatewayServerOptions extends Omit<TestServerOptions, "gatewayMode" | "outbound"> {
  gateway?: Partial<GatewaySettings>;
  /** URL of the inference proxy, for its health; default: the gateway itself */
  proxyOrigin?: string;
}

/** @returns a server whose users have accounts at the gateway as soon as they are signed in; `await using` stops both */
export async function createGatewayServer(options: GatewayServerOptions = {}): Promise<GatewayServer> {
  const { upstream, ...mode } = await startGateway(options);
  const testServer = await createTestServer({ ...options, ...mode });
  return {
    ...testServer,
    upstream,
    async signedIn(role, signingIn) {
      const caller = await testServer.signedIn(role, signingIn);
      upstream.addUser(caller.user.email);
      return caller;
    },
    async [Symbol.asyncDispose]() {
      await testServer.domain.gateway.keys.attempts?.drain();
      await upstream.stop();
      await testServer[Symbol.asyncDispose]();
    },
  };
}

/**
 * @returns a function that returns one server for all tests of a file, like `sharedServer`; its gateway is reset after each test
 */
export function sharedGatewayServer(): () => Promise<GatewayServer> {
  const same = sharedServer(createGatewayServer);
  afterEach(async () => {
    const site = await same();
    await site.domain.gateway.keys.attempts?.drain();
    site.upstream.forget();
  });
  return same;
}

/** @returns a running gateway, which the caller stops, and the options with which a test server uses it */
export async function startGateway(options: GatewayServerOptions = {}) {
  const world = options.world ?? (await createWorldWithKeys());
  const upstream = await LitellmGateway.start({ clock: world.clock });
  const outbound = outboundTo(upstream, options.proxyOrigin ?? upstream.origin);
  const settings = { ...settingsFor(upstream), ...options.gateway };
  const gatewayMode = modeOf(settings, { outbound, clock: world.clock });
  return { upstream, world, outbound, gatewayMode };
}

let keysMade: Promise<Copy> | undefined;

/** Creating keys for inference tokens takes longer than most tests. */
async function createWorldWithKeys(): Promise<World> {
  keysMade ??= directoryOfServer();
  return await createWorld({ copy: await keysMade });
}

async function directoryOfServer(): Promise<Copy> {
  await using server = await createGatewayServer({ world: await createWorld() });
  return remember(server.world.directory);
}

const outboundTo = (upstream: LitellmGateway, proxyOrigin: string): Outbound =>
  createOutbound({
    allowed: [
      { name: "gateway", origin: upstream.origin, why: "keys" },
      { name: PROXY_DESTINATION, origin: proxyOrigin, why: "health" },
    ],
  });

const modeOf = (
  settings: GatewaySettings,
  { outbound, clock }: { outbound: Outbound; clock: Clock },
): GatewayMode => ({
  settings,
  provisioner: createLitellmProvisioner({
    settings,
    request: createAdminRequest(outbound, "gateway"),
    clock,
  }),
  configurationDigest: configurationDigest(settings),
});

const settingsFor = (upstream: LitellmGateway): GatewaySettings => ({
  type: "litellm",
  url: upstream.origin,
  inferenceProxyUrl: PROXY_URL,
  inferenceProxyHealthUrl: PROXY_URL,
  proxyMode: "external",
  proxyToken: new Secret(PROXY_TOKEN),
  inferenceJwt: {
    issuer: BASE_URL,
    audience: "blue-inference-proxy",
    tokenTtlSeconds: 43_200,
    rotationDays: 30,
  },
  provisioner: BUILTIN_SETTINGS,
});
