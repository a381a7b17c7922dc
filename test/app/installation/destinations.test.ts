// Hosts that the settings allow, except the gateway (gateway-mode.test.ts), and the reports about them (AIR-6).
import { describe, expect, test } from "bun:test";
import { destinationsOf } from "../../../src/app/installation/destinations.ts";
import { probeExternalServices } from "../../../src/app/installation/outside-services.ts";
import { loadConfig } from "../../../src/platform/config/config.ts";
import { ANY_PUBLIC_HOST } from "../../../src/platform/outbound/outbound.ts";

const destinationsWith = (flags: Record<string, string>) =>
  destinationsOf(loadConfig({ flags, env: {}, cwd: import.meta.dir }));

test("public hosts are a destination only if the setting allows them", () => {
  expect(destinationsWith({})).toEqual([]);
  expect(destinationsWith({ packageSourcesPublic: "no" })).toEqual([]);
  expect(destinationsWith({ packageSourcesPublic: "yes" })).toEqual([
    {
      name: "package-sources",
      origin: ANY_PUBLIC_HOST,
      why: expect.stringContaining("any public https host"),
    },
  ]);
});

describe("an external service", () => {
  const gatewayAt = (origin: string) =>
    loadConfig({
      flags: {
        gatewayType: "litellm",
        gatewayUrl: origin,
        gatewayInferenceProxyUrl: origin,
        gatewayProvisionerType: "builtin-litellm",
      },
      env: { QUARTERMASTER_GATEWAY_PROVISIONER_ADMIN_KEY: "sk-0123456789abcdef" },
      cwd: import.meta.dir,
    });

  test.each([
    [200, "reachable", null],
    [404, "reachable", null],
    [500, "unreachable", "it answered 500"],
    [503, "unreachable", "it answered 503"],
  ] as const)("reports a service that answers %i as %s", async (status, state, reason) => {
    const requests: string[] = [];
    await using peer = Bun.serve({
      port: 0,
      fetch(request) {
        requests.push(new URL(request.url).pathname);
        return new Response("", { status });
      },
    });
    const services = await probeExternalServices(gatewayAt(`http://127.0.0.1:${peer.port}`));
    const expected = { origin: `http://127.0.0.1:${peer.port}`, state, reason, affects: expect.any(String) };
    expect(services).toEqual([
      { name: "gateway", ...expected },
      { name: "inference-upstream", ...expected },
      { name: "inference-proxy", ...expected },
    ]);
    expect(requests.sort()).toEqual(["/health", "/health/liveliness", "/health/liveliness"]);
  });

  test("times out if a service does not answer", async () => {
    const never = new Promise<Response>(() => {});
    await using peer = Bun.serve({ port: 0, fetch: () => never });
    const services = await probeExternalServices(gatewayAt(`http://127.0.0.1:${peer.port}`), 20);
    expect(services.map(({ reason }) => reason)).toEqual([
      "it did not answer (TimeoutError)",
      "it did not answer (TimeoutError)",
      "it did not answer (TimeoutError)",
    ]);
    await peer.stop(true);
  });

  test("does not contact a service with many hosts", async () => {
    const config = loadConfig({ flags: { packageSourcesPublic: "yes" }, env: {}, cwd: import.meta.dir });
    expect(await probeExternalServices(config)).toMatchObject([
      { name: "package-sources", state: "not_asked", reason: null },
    ]);
  });
});
