import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { DomainError } from "../../../src/platform/errors.ts";
import {
  createOutbound,
  type Destination,
  OUTBOUND_TIMEOUT_MAX_MS,
} from "../../../src/platform/outbound/outbound.ts";
import { createConnectProxy } from "../../support/network/connect-proxy.ts";
import { withVariables } from "../../support/network/environment.ts";
import { certify } from "../../support/network/private-ca.ts";

let server: ReturnType<typeof Bun.serve>;
let seen: string[] = [];

beforeAll(() => {
  server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const { pathname } = new URL(request.url);
      seen.push(`${request.method} ${pathname} ${await request.text()}`);
      if (pathname === "/moved") return Response.redirect("/elsewhere", 302);
      if (pathname === "/unchanged") return new Response(null, { status: 304 });
      if (pathname === "/never") return new Promise<Response>(() => {});
      return new Response("hello");
    },
  });
});
afterAll(() => server.stop(true));

const peer = (): Destination => ({ name: "gateway", origin: `http://127.0.0.1:${server.port}`, why: "keys" });
const timeoutMs = 5_000;

async function refusal(attempt: Promise<unknown>): Promise<Pick<DomainError, "kind" | "reason">> {
  const error = await attempt.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw new Error(`expected a DomainError, got ${error}`);
  return { kind: error.kind, reason: error.reason };
}

const notAllowed = { kind: "forbidden", reason: "outbound.not_allowed" } as const;

test("reaches an allowed destination by path and by whole URL", async () => {
  const outbound = createOutbound({ allowed: [peer()] });
  seen = [];
  const byPath = await outbound.fetch("gateway", "/keys", { method: "POST", body: "b", timeoutMs });
  const byUrl = await outbound.fetch("gateway", `${peer().origin}/keys?x=1`, { timeoutMs });
  expect([await byPath.text(), await byUrl.text()]).toEqual(["hello", "hello"]);
  expect(seen).toEqual(["POST /keys b", "GET /keys "]);
});

test("an empty list allows nothing", async () => {
  seen = [];
  const outbound = createOutbound({ allowed: [] });
  expect(await refusal(outbound.fetch("gateway", `${peer().origin}/keys`, { timeoutMs }))).toEqual(
    notAllowed,
  );
  expect(outbound.list()).toEqual([]);
  expect(seen).toEqual([]);
});

test.each([
  ["another host", "http://localhost:PORT/x"],
  ["another scheme", "https://127.0.0.1:PORT/x"],
  ["another port", "http://127.0.0.1:1/x"],
  ["a path that names a host", "//localhost:PORT/x"],
  ["a path that names a host with backslashes", "\\\\localhost:PORT\\x"],
  ["a host that only starts the same", "http://127.0.0.1:PORT.example/x"],
  ["credentials in the URL", "http://a:b@127.0.0.1:PORT/x"],
  ["a file", "file:///etc/passwd"],
  ["inline content", "data:text/plain,x"],
  ["text that is not a URL", "http://"],
])("%s is refused before anything is sent", async (_, target) => {
  seen = [];
  const outbound = createOutbound({ allowed: [peer()] });
  const url = target.replace("PORT", String(server.port));
  expect(await refusal(outbound.fetch("gateway", url, { timeoutMs }))).toEqual(notAllowed);
  expect(seen).toEqual([]);
});

test("does not follow a redirect", async () => {
  seen = [];
  const outbound = createOutbound({ allowed: [peer()] });
  expect(await refusal(outbound.fetch("gateway", "/moved", { timeoutMs }))).toEqual({
    kind: "unavailable",
    reason: "outbound.redirected",
  });
  expect(seen).toEqual(["GET /moved "]);
});

test("a response of 304 is a response, not a redirect", async () => {
  const outbound = createOutbound({ allowed: [peer()] });
  expect((await outbound.fetch("gateway", "/unchanged", { timeoutMs })).status).toBe(304);
});

test("a request to a silent peer ends with the timeout", async () => {
  const outbound = createOutbound({ allowed: [peer()] });
  expect(await refusal(outbound.fetch("gateway", "/never", { timeoutMs: 1 }))).toEqual({
    kind: "unavailable",
    reason: "outbound.failed",
  });
});

test("aborting ends the request", async () => {
  const outbound = createOutbound({ allowed: [peer()] });
  const signal = AbortSignal.abort();
  const attempt = outbound.fetch("gateway", "/never", { timeoutMs, signal });
  expect((await refusal(attempt)).reason).toBe("outbound.failed");
});

test.each([
  [0, false],
  [1, true],
  [OUTBOUND_TIMEOUT_MAX_MS - 1, true],
  [OUTBOUND_TIMEOUT_MAX_MS, true],
  [OUTBOUND_TIMEOUT_MAX_MS + 1, false],
  [Number.NaN, false],
])("a timeout of %p ms is within bounds: %p", async (wanted, accepted) => {
  const outbound = createOutbound({ allowed: [peer()] });
  const signal = AbortSignal.abort();
  const attempt = outbound.fetch("gateway", "/keys", { timeoutMs: wanted, signal });
  await expect(attempt).rejects.toThrow(accepted ? "did not answer" : "bounded timeout");
});

test("the list names each destination and its purpose", () => {
  expect(createOutbound({ allowed: [peer()] }).list()).toEqual([peer()]);
});

test("refuses an invalid list with all its problems", () => {
  const bad = [
    peer(),
    { ...peer(), origin: "https://a.example/path" },
    { name: "c", origin: "ftp://a.example", why: "" },
  ];
  const thrown = () => createOutbound({ allowed: bad });
  expect(thrown).toThrow(DomainError);
  try {
    thrown();
  } catch (error) {
    expect(error).toMatchObject({
      reason: "outbound.bad_destination",
      problems: [{ pointer: "/1/origin" }, { pointer: "/1/name" }, { pointer: "/2/origin" }],
    });
  }
});

describe("a peer that chooses its own addresses", () => {
  const tls = { ca: undefined };

  test("SSO-45 is trusted only with the operator's certificates in addition to the built-in ones", async () => {
    const { cert, key, ca } = await certify();
    await using peerServer = Bun.serve({ port: 0, tls: { cert, key }, fetch: () => new Response("hello") });
    const origin = `https://localhost:${peerServer.port}`;
    const outbound = createOutbound({ allowed: [{ name: "idp", origin, why: "sign-in" }] });
    const fetched = outbound.fetch("idp", "/", { timeoutMs, tls: { ca } });
    expect(await (await fetched).text()).toBe("hello");
    const untrusted = { kind: "unavailable", reason: "outbound.failed" } as const;
    expect(await refusal(outbound.fetch("idp", "/", { timeoutMs, tls }))).toEqual(untrusted);
  });

  test.each(["http://169.254.169.254", "http://[fe80::1]", "http://[fd00:ec2::254]"])(
    "SSO-42 is refused at the link-local address %s",
    async (origin) => {
      const outbound = createOutbound({ allowed: [{ name: "idp", origin, why: "sign-in" }] });
      const refused = { kind: "forbidden", reason: "outbound.link_local" } as const;
      expect(await refusal(outbound.fetch("idp", "/", { timeoutMs, tls }))).toEqual(refused);
    },
  );

  const proxy = "http://proxy.example:3128";
  test.each<Record<string, string>>([
    {},
    { HTTPS_PROXY: proxy, NO_PROXY: "idp.example" },
    { HTTP_PROXY: proxy }, // for http only
  ])("SSO-42 is refused by a name that has a link-local address among others, with %j", async (variables) => {
    using _ = withVariables(variables);
    const addresses = [
      { address: "127.0.0.1", family: 4 },
      { address: "169.254.169.254", family: 4 },
    ];
    const publicHosts = { isPublic: () => true, resolve: async () => addresses };
    const allowed = [{ name: "idp", origin: "https://idp.example", why: "sign-in" }];
    const outbound = createOutbound({ allowed, publicHosts });
    const refused = { kind: "forbidden", reason: "outbound.link_local" } as const;
    expect(await refusal(outbound.fetch("idp", "/", { timeoutMs, tls }))).toEqual(refused);
  });

  test("is found at run time, and no longer reached when it is gone", async () => {
    let found = [{ ...peer(), name: "idp" }];
    const outbound = createOutbound({ allowed: [], found: () => found });
    expect(await (await outbound.fetch("idp", "/", { timeoutMs, tls })).text()).toBe("hello");
    expect(outbound.list()).toEqual(found);
    found = [];
    expect(await refusal(outbound.fetch("idp", "/", { timeoutMs, tls }))).toEqual(notAllowed);
  });

  test("SSO-45 is reached through the proxy of the environment", async () => {
    const requests: string[] = [];
    await using proxy = Bun.serve({
      port: 0,
      fetch(request) {
        requests.push(request.url);
        return new Response("from the proxy");
      },
    });
    const script = `
      const { createOutbound } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/platform/outbound/outbound.ts"))});
      const outbound = createOutbound({ allowed: [{ name: "idp", origin: "http://idp.example", why: "sign-in" }] });
      const response = await outbound.fetch("idp", "/keys", { timeoutMs: 5000, tls: { ca: undefined } });
      console.log(await response.text());`;
    const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
    const child = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe", stderr: "inherit" });
    expect(await new Response(child.stdout).text()).toBe("from the proxy\n");
    expect(requests).toEqual(["http://idp.example/keys"]);
  });

  test("SSO-45 is reached over https through a tunnel of the proxy, which sees no request and cannot take its place", async () => {
    const { cert, key, ca } = await certify({ name: "idp.example" });
    await using peerServer = Bun.serve({
      port: 0,
      tls: { cert, key },
      fetch: async (request) => new Response(`${new URL(request.url).host} ${await request.text()}`),
    });
    await using proxy = await createConnectProxy(Number(peerServer.port));
    const script = `
      const { createOutbound } = await import(${JSON.stringify(join(import.meta.dir, "../../../src/platform/outbound/outbound.ts"))});
      const peer = (name) => ({ name, origin: "https://" + name, why: "sign-in" });
      const outbound = createOutbound({ allowed: [peer("idp.example"), peer("other.example")] });
      const ask = (name, ca) =>
        outbound.fetch(name, "/token", { method: "POST", body: "code=secret", timeoutMs: 5000, tls: { ca } })
          .then((response) => response.text(), ({ reason }) => reason);
      const ca = ${JSON.stringify(ca)};
      console.log(JSON.stringify([await ask("idp.example", ca), await ask("idp.example"), await ask("other.example", ca)]));`;
    const env = { HTTPS_PROXY: proxy.origin, NODE_TLS_REJECT_UNAUTHORIZED: "0" };
    const child = Bun.spawn([process.execPath, "-e", script], { env, stdout: "pipe", stderr: "ignore" });
    expect(await new Response(child.stdout).json()).toEqual([
      "idp.example code=secret",
      "outbound.failed",
      "outbound.failed",
    ]);
    expect(proxy.requests.map((line) => line.split(" ").slice(0, 2).join(" "))).toEqual([
      "CONNECT idp.example:443",
      "CONNECT idp.example:443",
      "CONNECT other.example:443",
    ]);
    expect(proxy.sent()).not.toContain("secret");
  });
});
