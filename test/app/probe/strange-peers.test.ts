// Findings of `probe` at peers that are not a healthy Quartermaster: unknown, closed, slow, oversized, foreign or wrong.
import { describe, expect, test } from "bun:test";
import { FINDING_CHARACTERS_MAX, PROBE_LIMITS, parseOrigin, probe } from "../../../src/app/probe/probe.ts";
import { systemClock } from "../../../src/platform/clock.ts";
import { Secret } from "../../../src/platform/secret.ts";

/** For peers that never respond. Other peers get the timeout of the product, because the machine may be busy. */
const SHORT = { ...PROBE_LIMITS, connectMs: 500, responseMs: 200 };

async function probed(
  origin: string,
  { token, limits = PROBE_LIMITS }: { token?: Secret; limits?: typeof PROBE_LIMITS } = {},
) {
  const options = { origin: parseOrigin(origin), clock: systemClock, env: {}, limits, token };
  const { findings, isReachable } = await probe(options);
  return { isReachable, of: (name: string) => findings.find(({ check }) => check === name) };
}

/** @returns the findings at a server that answers every request like this */
async function probedServer(fetch: (request: Request) => Response, limits = PROBE_LIMITS) {
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  const found = await probed(server.url.origin, { limits });
  await server.stop(true);
  return found;
}

const failed = (detail: string) => ({ result: "failed", detail: expect.stringContaining(detail) });

test("a service that is not ready is reported with the names of its failing checks", async () => {
  const body = { detail: "not ready: disk, lease" };
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => Response.json(body, { status: 503 }),
  });
  const { findings } = await probe({ origin: server.url, clock: systemClock, env: {}, isOnlyReady: true });
  await server.stop(true);
  expect(findings.at(-1)).toMatchObject({
    check: "ready",
    ...failed("/ready answered 503: not ready: disk, lease"),
  });
});

test("a port that accepts connections but does not answer HTTP is not reported as stopped", async () => {
  const peer = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.terminate() },
  });
  const origin = parseOrigin(`http://127.0.0.1:${peer.port}`);
  const { findings } = await probe({ origin, clock: systemClock, env: {}, isOnlyReady: true });
  peer.stop(true);
  expect(findings.at(-1)).toMatchObject({
    check: "ready",
    result: "failed",
    remedy: expect.stringContaining("write https in the URL"),
  });
});

describe("an unreachable server", () => {
  test("is reported if its name is unknown", async () => {
    const { isReachable, of } = await probed("https://control.invalid");
    expect(isReachable).toBe(false);
    expect(of("dns")).toMatchObject(failed("the name control.invalid has no address"));
    expect(of("connection")?.result).toBe("skipped");
    expect(of("discovery")?.result).toBe("skipped");
  });

  test("is reported if no process listens on its port", async () => {
    const closed = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    closed.stop(true);
    const { isReachable, of } = await probed(`http://127.0.0.1:${closed.port}`);
    expect(isReachable).toBe(false);
    expect(of("connection")).toMatchObject(failed("127.0.0.1 cannot be reached (ECONNREFUSED)"));
  });
});

describe("a peer that never answers", () => {
  test.each([
    ["http", "discovery", "the response did not end within 0.2 s"],
    ["https", "tls", "the TLS handshake did not end within 0.5 s"],
  ])("fails over %s at the check %s", async (scheme, check, detail) => {
    const silent = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const { isReachable, of } = await probed(`${scheme}://127.0.0.1:${silent.port}`, { limits: SHORT });
    silent.stop(true);
    expect(isReachable).toBe(true);
    expect(of(check)).toMatchObject(failed(detail));
  });

  test("fails if it stops in the middle of a response", async () => {
    const { of } = await probedServer(
      () => new Response(new ReadableStream({ start: (controller) => controller.enqueue("{") })),
      SHORT,
    );
    expect(of("discovery")).toMatchObject(failed("the response did not end"));
  });
});

test("a response of 10 MB is not read to its end", async () => {
  const { of } = await probedServer(() => new Response("x".repeat(10 * 1024 * 1024)));
  for (const name of ["discovery", "address", "event_stream"])
    expect(of(name)).toMatchObject(failed(`the response has more than ${PROBE_LIMITS.bodyBytesMax} bytes`));
});

test("HTML instead of JSON is recognized", async () => {
  const page = () => new Response("<!doctype html><h1>Sign in", { headers: { "content-type": "text/html" } });
  const { of } = await probedServer(page);
  expect(of("discovery")).toMatchObject(failed("answered 200 with HTML instead of JSON"));
  expect(of("device_login")).toMatchObject({ result: "skipped", detail: "requires the discovery document" });
});

test.each([
  ["a page", "<!doctype html><h1>Sign in", "/connection answered 200 with HTML instead of JSON"],
  ["null", "null", "/connection answered 200 with something else instead of JSON"],
  ["an object without an address", "{}", "/connection names no address"],
  ["a text that is no address", `{"address":"${"9".repeat(10_000)}"}`, "/connection names no address"],
  ["the name of an inherited member", '{"forwarding":"constructor"}', "/connection names no address"],
])("the check of the address fails at a peer that answers with %s", async (_, body, detail) => {
  const { of } = await probedServer(() => new Response(body));
  expect(of("address")).toMatchObject(failed(detail));
});

test("a foreign name of 100,000 characters is shortened in detail and remedy", async () => {
  const issuer = `https://${"x".repeat(100_000)}.example/api/auth`;
  const oauth = { issuer, client_id: "blue-cli", scopes: [] };
  const { of } = await probedServer(() =>
    Response.json({ version: 1, control_api_url: new URL(issuer).origin, oauth }),
  );
  const { result, detail = "", remedy } = of("discovery") ?? {};
  expect(result).toBe("failed");
  expect(detail.startsWith("workstations are sent to https://xxx")).toBe(true);
  expect([detail.length, remedy?.length]).toEqual([FINDING_CHARACTERS_MAX + 1, FINDING_CHARACTERS_MAX + 1]);
});

test("a redirect is not followed", async () => {
  const { of } = await probedServer(() => Response.redirect("https://elsewhere.example/x"));
  expect(of("discovery")).toMatchObject(failed("is redirected to https://elsewhere.example/x"));
});

test("an unusable discovery document is reported with its cause", async () => {
  const { of } = await probedServer(() => Response.json({ version: 2, oauth: { scopes: "all" } }));
  expect(of("discovery")).toMatchObject(
    failed(
      "version is not 1; control_api_url is not a URL; oauth.issuer is not a URL; oauth.client_id is missing",
    ),
  );
});

/** Discovery itself is valid; `issuerOf` gives the issuer that discovery and the other documents name. */
const impostor =
  (issuerOf: (origin: string, path: string) => string) =>
  (request: Request): Response => {
    const { origin, pathname } = new URL(request.url);
    const issuer = issuerOf(origin, pathname);
    if (pathname !== "/.well-known/metaharness") return Response.json({ issuer });
    const oauth = { issuer, client_id: "blue-cli", scopes: [] };
    return Response.json({ version: 1, control_api_url: origin, oauth });
  };

describe("a wrong issuer", () => {
  test("reports a wrong issuer in the metadata", async () => {
    const { of } = await probedServer(
      impostor((origin, path) => (path.includes("metaharness") ? `${origin}/api/auth` : `${origin}/auth`)),
    );
    expect(of("issuer")).toMatchObject(failed("/api/auth/.well-known/openid-configuration names http://127"));
    expect(of("device_login")).toMatchObject(failed("device_code is missing"));
  });

  test("reports an issuer of another origin and does not contact that origin", async () => {
    const { of } = await probedServer(impostor(() => "https://elsewhere.example/api/auth"));
    expect(of("issuer")).toMatchObject(
      failed("discovery names https://elsewhere.example/api/auth instead of"),
    );
    expect(of("device_login")?.result).toBe("skipped");
  });
});

test("the clock of the peer is read from its header", async () => {
  const date = "Thu, 01 Jan 2026 00:00:00 GMT";
  const { of } = await probedServer(() => Response.json({}, { headers: { date } }));
  expect(of("clock")).toMatchObject(failed("behind this machine"));
});

test("a service without the newer checks is not reported as faulty", async () => {
  const { of } = await probedServer(() => Response.json({}, { status: 404 }));
  expect(of("address")?.result).toBe("skipped");
  expect(of("event_stream")?.result).toBe("skipped");
});

test("an event stream that ends too early fails the check", async () => {
  const { of } = await probedServer(() => new Response('event: connection\ndata: {"part":1}\n\n'));
  expect(of("event_stream")).toMatchObject(failed("the stream ended before its second event"));
});

test("a token is not sent without TLS, except to a loopback address", async () => {
  const seen: (string | null)[] = [];
  const server = Bun.serve({
    hostname: "0.0.0.0",
    port: 0,
    fetch(request) {
      seen.push(request.headers.get("authorization"));
      return Response.json({});
    },
  });
  const { of } = await probed(`http://0.0.0.0:${server.port}`, { token: new Secret("token") });
  expect(of("tls")).toMatchObject(failed("the URL begins with http"));
  expect(of("account")).toMatchObject({ result: "skipped", detail: "tokens are not sent without TLS" });
  expect(seen.filter((credential) => credential !== null)).toEqual([]);
  await probed(`http://127.0.0.1:${server.port}`, { token: new Secret("token") });
  expect(seen).toContain("Bearer token");
  await server.stop(true);
});
