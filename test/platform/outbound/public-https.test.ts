// Requests to public hosts, over real TLS to a server on this machine that counts as public.
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { DomainError } from "../../../src/platform/errors.ts";
import {
  ANY_PUBLIC_HOST,
  createOutbound,
  type DownloadRequest,
} from "../../../src/platform/outbound/outbound.ts";
import { PUBLIC_HOSTS, type PublicHosts } from "../../../src/platform/outbound/public-https.ts";
import {
  createRawTlsServer,
  createTlsServer,
  PUBLIC_NAME,
  type TlsServer,
} from "../../support/network/tls-server.ts";
import { temporaryDirectory } from "../../support/world.ts";

const BODY = "0123456789";
const OPEN = [{ name: "anywhere", origin: ANY_PUBLIC_HOST, why: "test" }];

let server: TlsServer;
let responseNothing: PromiseWithResolvers<Response>;

beforeAll(async () => {
  responseNothing = Promise.withResolvers();
  server = await createTlsServer((request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/moved") return Response.redirect(server.origin(), 302);
    if (pathname === "/unchanged") return new Response(null, { status: 304 });
    if (pathname === "/missing") return new Response("no", { status: 404 });
    if (pathname === "/part") return new Response(BODY, { status: 206 });
    if (pathname === "/never") return responseNothing.promise;
    if (pathname === "/stalls") return new Response(stalling());
    if (pathname === "/unsized") return new Response(pieces());
    if (pathname === "/coded") return coded();
    if (pathname === "/headers") return Response.json(Object.fromEntries(request.headers));
    return new Response(BODY);
  });
});
afterAll(() => server[Symbol.dispose]());

const stalling = () => new ReadableStream({ start: (controller) => controller.enqueue(Buffer.from("01")) });
const pieces = () =>
  new ReadableStream({
    start(controller) {
      for (const piece of [BODY.slice(0, 5), BODY.slice(5)]) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
const coded = () => new Response(Bun.gzipSync(BODY), { headers: { "content-encoding": "gzip" } });

interface Fetching extends Partial<DownloadRequest> {
  hosts?: Partial<PublicHosts>;
  allowed?: typeof OPEN;
}

async function fetched(url: string, { hosts, allowed = OPEN, ...request }: Fetching = {}): Promise<string> {
  const outbound = createOutbound({ allowed, publicHosts: { ...server.hosts, ...hosts } });
  const parts: Uint8Array[] = [];
  const wanted = { bytesMax: 1_000, timeoutMs: 10_000, ...request };
  for await (const part of outbound.download("anywhere", url, wanted)) parts.push(part);
  return Buffer.concat(parts).toString("latin1");
}

async function refusalOf(attempt: Promise<unknown>): Promise<DomainError> {
  const error = await attempt.then(String, (thrown: unknown) => thrown);
  if (error instanceof DomainError) return error;
  throw new Error(`expected a DomainError, got ${error}`);
}
const reasonOf = async (attempt: Promise<unknown>) => (await refusalOf(attempt)).reason;

test("reaches a public host under its name, at the checked address", async () => {
  server.seen.length = 0;
  expect(await fetched(`${server.origin()}/file`)).toBe(BODY);
  expect(server.seen).toEqual([`GET ${PUBLIC_NAME}:${server.port} /file`]);
});

test("reaches nothing unless a destination of that kind is listed", async () => {
  server.seen.length = 0;
  expect(await reasonOf(fetched(server.origin(), { allowed: [] }))).toBe("outbound.not_allowed");
  const one = [{ name: "anywhere", origin: server.origin(), why: "one peer" }];
  expect(await reasonOf(fetched(server.origin(), { allowed: one }))).toBe("outbound.not_allowed");
  expect(server.seen).toEqual([]);
});

test("the destination for public hosts allows only downloads", async () => {
  const outbound = createOutbound({ allowed: OPEN, publicHosts: server.hosts });
  for (const url of [server.origin(), "/", `${ANY_PUBLIC_HOST}/`]) {
    const attempt = outbound.fetch("anywhere", url, { timeoutMs: 1_000 });
    expect(await reasonOf(attempt)).toBe("outbound.not_allowed");
  }
});

test("refuses a URL that is not public before any request", async () => {
  const resolve = () => Promise.reject(new Error("a name was looked up"));
  for (const url of [`http://${PUBLIC_NAME}/`, "https://localhost/", `https://a:b@${PUBLIC_NAME}/`]) {
    expect(await reasonOf(fetched(url, { hosts: { resolve } }))).toBe("outbound.bad_url");
  }
});

const PRIVATE = { address: "127.0.0.2", family: 4 };
const SERVER = { address: "127.0.0.1", family: 4 };
test.each([
  ["its only one", [PRIVATE]],
  ["the first", [PRIVATE, SERVER]],
  ["the last", [SERVER, PRIVATE]],
])("refuses a host if %s of its addresses is not public", async (_name, found) => {
  server.seen.length = 0;
  const attempt = fetched(server.origin(), { hosts: { resolve: async () => found } });
  expect(await reasonOf(attempt)).toBe("outbound.not_public");
  expect(server.seen).toEqual([]);
});

test("refuses names of this machine by the real rule", async () => {
  const hosts = { isPublic: PUBLIC_HOSTS.isPublic };
  expect(await reasonOf(fetched(server.origin(), { hosts }))).toBe("outbound.not_public");
});

test.each([
  "127.0.0.1",
  "0x7f.1",
  "2130706433",
  "[::1]",
  "[::ffff:127.0.0.1]",
  "169.254.169.254",
  "[fd00::1]",
])("checks an address in the URL, too: %s", async (host) => {
  const url = `https://${host}:${server.port}/`;
  expect(await reasonOf(fetched(url, { hosts: { isPublic: PUBLIC_HOSTS.isPublic } }))).toBe(
    "outbound.not_public",
  );
});

test("reaches a public address in the URL, and the certificate must name it", async () => {
  expect(await fetched(`https://127.0.0.1:${server.port}/`)).toBe(BODY);
});

test("looks up a name once, so that it cannot change", async () => {
  let lookups = 0;
  const resolve = async () => [lookups++ === 0 ? SERVER : PRIVATE];
  expect(await fetched(server.origin(), { hosts: { resolve } })).toBe(BODY);
  expect(lookups).toBe(1);
});

test("tries another address of the host if one does not respond", async () => {
  const hosts = { isPublic: () => true, resolve: async () => [PRIVATE, SERVER] };
  expect(await fetched(server.origin(), { hosts })).toBe(BODY);
});

test("reports a name without an address, also from the system's own resolver", async () => {
  const none = { resolve: async () => [] };
  expect(await reasonOf(fetched(server.origin(), { hosts: none }))).toBe("outbound.unresolved");
  const { resolve } = PUBLIC_HOSTS;
  const tooLong = `https://${"a".repeat(64)}.example/`; // a label of 64 characters is never looked up
  expect(await reasonOf(fetched(tooLong, { hosts: { resolve } }))).toBe("outbound.unresolved");
});

test("the system's own resolver returns addresses in the expected form", async () => {
  expect(await PUBLIC_HOSTS.resolve("127.0.0.1")).toEqual([SERVER]);
});

test("refuses a certificate for another name", async () => {
  expect(await reasonOf(fetched(server.origin("other.example")))).toBe("outbound.untrusted");
});

async function fetchedInChild(env: Record<string, string>): Promise<string> {
  const script = join(import.meta.dir, "../../support/network/download-child.ts");
  const child = Bun.spawn([process.execPath, script, server.origin()], {
    env,
    stdout: "pipe",
    stderr: "ignore",
  });
  return await new Response(child.stdout).text();
}

test("trusts the certificates that the runtime trusts, and uses no proxy of the environment", async () => {
  const directory = temporaryDirectory();
  const file = join(directory, "ca.pem");
  await Bun.write(file, server.ca);
  const proxy = "http://127.0.0.1:9";
  const proxies = { HTTPS_PROXY: proxy, https_proxy: proxy, ALL_PROXY: proxy, NODE_USE_ENV_PROXY: "1" };
  expect(await fetchedInChild({ NODE_EXTRA_CA_CERTS: file, ...proxies })).toBe(BODY);
  rmSync(directory, { recursive: true });
});

test("checks a certificate even if the environment disables that", async () => {
  expect(await fetchedInChild({ NODE_TLS_REJECT_UNAUTHORIZED: "0" })).toBe("outbound.untrusted");
});

test("does not follow a redirect", async () => {
  server.seen.length = 0;
  expect(await reasonOf(fetched(`${server.origin()}/moved`))).toBe("outbound.redirected");
  expect(await reasonOf(fetched(`${server.origin()}/unchanged`))).toBe("outbound.redirected");
  expect(server.seen).toHaveLength(2);
});

test.each(["/missing", "/part"])("a response other than 200 is refused: %s", async (path) => {
  expect(await reasonOf(fetched(`${server.origin()}${path}`))).toBe("outbound.refused");
});

test("an error contains no host or address", async () => {
  for (const path of ["/moved", "/missing"]) {
    const { message, hint } = await refusalOf(fetched(`${server.origin()}${path}`));
    expect(`${message} ${hint}`).not.toMatch(/packages|127\.0\.0|\d{4,}/);
  }
});

test.each([
  ["with a length", "/file"],
  ["without one", "/unsized"],
])("a body %s may have the maximum size, but not one more byte", async (_name, path) => {
  const url = `${server.origin()}${path}`;
  expect(await fetched(url, { bytesMax: BODY.length + 1 })).toBe(BODY);
  expect(await fetched(url, { bytesMax: BODY.length })).toBe(BODY);
  expect(await reasonOf(fetched(url, { bytesMax: BODY.length - 1 }))).toBe("outbound.too_large");
});

test("refuses a body that ends before its length", async () => {
  using raw = await createRawTlsServer("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123");
  expect(await reasonOf(fetched(raw.origin(), { hosts: raw.hosts }))).toBe("outbound.failed");
});

test.each([
  "",
  "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n00",
  "no HTTP at all\r\n\r\n",
])("refuses an unreadable response: %p", async (response) => {
  using raw = await createRawTlsServer(response);
  expect(await reasonOf(fetched(raw.origin(), { hosts: raw.hosts }))).toBe("outbound.failed");
});

test("returns the bytes as sent, with any declared content coding", async () => {
  const sent = await fetched(`${server.origin()}/coded`);
  expect(Buffer.from(Bun.gunzipSync(Buffer.from(sent, "latin1"))).toString()).toBe(BODY);
});

test("sends only the necessary headers to the host", async () => {
  const headers = { accept: "text/plain" };
  expect(JSON.parse(await fetched(`${server.origin()}/headers`, { headers }))).toEqual({
    accept: "text/plain",
    "accept-encoding": "identity",
    connection: expect.any(String),
    host: `${PUBLIC_NAME}:${server.port}`,
    "user-agent": "quartermaster",
  });
});

test.each(["/never", "/stalls"])(
  "the time limit applies to %s, both for the response and for its body",
  async (path) => {
    const attempt = fetched(`${server.origin()}${path}`, { timeoutMs: 200 });
    expect(await reasonOf(attempt)).toBe("outbound.too_slow");
  },
);

test("a silent name server ends with the time limit", async () => {
  const resolve = () => new Promise<never>(() => {});
  expect(await reasonOf(fetched(server.origin(), { hosts: { resolve }, timeoutMs: 50 }))).toBe(
    "outbound.too_slow",
  );
});

test("the caller can abort, also before the start", async () => {
  const signal = AbortSignal.abort();
  expect(await reasonOf(fetched(server.origin(), { signal }))).toBe("outbound.too_slow");
  const controller = new AbortController();
  const attempt = fetched(`${server.origin()}/never`, { signal: controller.signal });
  controller.abort();
  expect(await reasonOf(attempt)).toBe("outbound.too_slow");
});

test("the connection ends when the reader stops", async () => {
  const closed = Promise.withResolvers<void>();
  using endless = await createTlsServer(
    () =>
      new Response(
        new ReadableStream({
          pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
          cancel: () => closed.resolve(),
        }),
      ),
  );
  const outbound = createOutbound({ allowed: OPEN, publicHosts: endless.hosts });
  const bounds = { bytesMax: Number.MAX_SAFE_INTEGER, timeoutMs: 10_000 };
  for await (const _ of outbound.download("anywhere", endless.origin(), bounds)) break;
  await closed.promise;
});
