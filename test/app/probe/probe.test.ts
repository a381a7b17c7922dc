// Findings of `probe` at a real server: behind TLS with a private CA, behind proxies, and with an access token. Each
// probe waits a second for the event stream, so the tests run in parallel, each with its own server.
import { describe, expect, test } from "bun:test";
import { type ProbeOptions, parseOrigin, probe } from "../../../src/app/probe/probe.ts";
import { DAY_MS, HOUR_MS, systemClock } from "../../../src/platform/clock.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { publishFirst } from "../../support/content/policy.ts";
import { createListeningServer } from "../../support/network/listening-server.ts";
import { certify, createCertifiedServer } from "../../support/network/private-ca.ts";

type Findings = Record<string, { result: string; detail: string; remedy: string | null }>;

async function findingsAt(origin: string, options: Partial<ProbeOptions> = {}): Promise<Findings> {
  const { findings } = await probe({ origin: parseOrigin(origin), clock: systemClock, env: {}, ...options });
  return Object.fromEntries(findings.map(({ check, ...finding }) => [check, finding]));
}

const resultsOf = (findings: Findings) =>
  Object.fromEntries(Object.entries(findings).map(([check, { result }]) => [check, result]));

const HEALTHY = {
  dns: "ok",
  connection: "ok",
  tls: "ok",
  discovery: "ok",
  issuer: "ok",
  clock: "ok",
  address: "ok",
  device_login: "ok",
  event_stream: "ok",
  latency: "ok",
};

describe("TLS of a private CA", () => {
  test.concurrent("every check passes if the CA is named", async () => {
    await using service = await createCertifiedServer();
    const findings = await findingsAt(`${service.origin}/any/path`, { ca: service.ca });
    expect(resultsOf(findings)).toEqual(HEALTHY);
    expect(findings.tls?.detail).toMatch(
      /^TLSv1\.3, localhost < Example Company CA, valid until .+, 89 days$/,
    );
  });

  test.concurrent("--only-ready checks only the connection and the readiness", async () => {
    await using service = await createCertifiedServer();
    const ready = (options: Partial<ProbeOptions>) =>
      findingsAt(service.origin, { ...options, isOnlyReady: true });
    const way = { dns: "ok", connection: "ok", tls: "ok" };
    expect(resultsOf(await ready({ ca: service.ca }))).toEqual({ ...way, ready: "ok" });
    expect(resultsOf(await ready({}))).toEqual({ ...way, tls: "failed", ready: "skipped" });
    expect(service.logged.filter(({ event }) => event === "http.answered")).toHaveLength(1);
  });

  test.concurrent("only the certificate check fails if the CA is unknown, and nothing is sent", async () => {
    await using service = await createCertifiedServer();
    const findings = await findingsAt(service.origin, { token: new Secret("not sent") });
    expect(findings.tls).toMatchObject({
      result: "failed",
      detail: expect.stringContaining("not trusted here"),
    });
    expect(findings.tls?.remedy).toContain("--ca FILE");
    expect(findings.account?.result).toBe("skipped");
    expect(service.logged.filter(({ event }) => event === "http.answered")).toEqual([]);
  });

  test.each([
    ["has expired", "a certificate has expired", { expiresAtMs: Date.now() - HOUR_MS }, "failed"],
    ["expires soon", "6 days", { expiresAtMs: Date.now() + 7 * DAY_MS - HOUR_MS }, "warning"],
    ["has another name", "for another name", { name: "other.example" }, "failed"],
  ])("a certificate that %s is reported", async (_, detail, options, result) => {
    const { cert, key, ca } = await certify(options);
    const server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { cert, key },
      fetch: () => new Response(),
    });
    const { tls } = await findingsAt(`https://localhost:${server.port}`, { ca });
    await server.stop(true);
    expect(tls).toMatchObject({ result, detail: expect.stringContaining(detail) });
  });
});

/** A proxy that the service does not trust. It buffers each whole response before forwarding it. */
function startBufferingProxy(upstream: () => string) {
  return Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      request.headers.set("x-forwarded-for", "192.0.2.7");
      const body = request.method === "POST" ? await request.arrayBuffer() : null;
      const { method, headers } = request;
      const response = await fetch(`${upstream()}${pathname}${search}`, { method, headers, body });
      return new Response(await response.arrayBuffer(), {
        status: response.status,
        headers: response.headers,
      });
    },
  });
}

test.concurrent("an untrusted buffering proxy is reported, and the other checks pass", async () => {
  let upstream = "";
  const proxy = startBufferingProxy(() => upstream);
  await using service = await createListeningServer({ access: { baseUrl: () => proxy.url.origin } });
  upstream = service.origin;
  const findings = await findingsAt(proxy.url.origin);
  await proxy.stop(true);
  const { address, event_stream: stream } = findings;
  expect(resultsOf(findings)).toEqual({ ...HEALTHY, address: "warning", event_stream: "failed" });
  expect(stream).toMatchObject({
    result: "failed",
    detail: expect.stringContaining("a proxy buffers the stream"),
  });
  expect(address).toMatchObject({
    result: "warning",
    remedy: expect.stringContaining("server.trusted_proxies"),
  });
});

describe("an access token", () => {
  test.concurrent("account, policy and report pass, and no client is recorded", async () => {
    await using service = await createCertifiedServer();
    await publishFirst(service);
    const { accessToken, user } = await service.signedIn("member");
    const findings = await findingsAt(service.origin, { ca: service.ca, token: new Secret(accessToken) });
    expect(resultsOf(findings)).toEqual({ ...HEALTHY, account: "ok", policy: "ok", report: "ok" });
    expect(findings.account?.detail).toStartWith(`${user.email}, member, until `);
    expect(findings.policy?.detail).toMatch(
      /^revision .+, \d+ bytes; a second request is answered with 304$/,
    );
    expect(service.domain.clients.inventory.list(user.organizationId, {}).total).toBe(0);
  });

  test.concurrent("a missing policy is a warning", async () => {
    await using service = await createCertifiedServer();
    const { accessToken } = await service.signedIn("member");
    const { policy } = await findingsAt(service.origin, { ca: service.ca, token: new Secret(accessToken) });
    expect(policy).toMatchObject({ result: "warning", detail: "no policy is published" });
  });

  test.concurrent("a refused token fails all three", async () => {
    await using service = await createCertifiedServer();
    const { account, policy, report } = await findingsAt(service.origin, {
      ca: service.ca,
      token: new Secret("none"),
    });
    for (const finding of [account, policy, report])
      expect(finding).toMatchObject({ result: "failed", detail: expect.stringContaining("it answered 401") });
  });
});

test.concurrent("clock differences are reported", async () => {
  await using service = await createListeningServer();
  const behind = (ms: number) => findingsAt(service.origin, { clock: { nowMs: () => Date.now() - ms } });
  const [late, early] = await Promise.all([behind(HOUR_MS), behind(-30_000)]);
  expect(late.clock).toMatchObject({
    result: "failed",
    detail: expect.stringMatching(/^the service is 3[56]\d\d s ahead of this machine$/),
  });
  expect(early.clock).toMatchObject({
    result: "warning",
    detail: expect.stringContaining("behind this machine"),
  });
});

test.concurrent("a proxy from the environment is reported unless the service is exempt", async () => {
  await using service = await createListeningServer();
  const env = { HTTP_PROXY: "http://proxy.example:3128" };
  const exempt = { ...env, NO_PROXY: "example.org,127.0.0.1" };
  const [reported, silent] = await Promise.all([
    findingsAt(service.origin, { env }),
    findingsAt(service.origin, { env: exempt }),
  ]);
  expect(reported.outgoing_proxy?.result).toBe("warning");
  expect(silent).not.toContainKey("outgoing_proxy");
});

test.each([
  "control.example.org",
  "ftp://control.example.org",
  "https://user:pass@control.example.org",
  "https://",
])("the address %s is refused without repeating it", (text) => {
  expect(() => parseOrigin(text)).toThrow("the address is not an http or https origin");
});
