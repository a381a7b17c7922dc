// Which paths and methods are forwarded: each entry in both spellings, and nothing else, however it is spelled. The scripted
// upstream counts.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chat, createProxyServer, PREFIX, type ProxyServer } from "../../support/inference/proxy-server.ts";
import { converse } from "../../support/network/raw-socket.ts";

let site: ProxyServer;
let token: string;
beforeAll(async () => {
  const extraPaths = ["POST /v1/rankings", "GET /chat/completions"];
  site = await createProxyServer({ proxy: { extraPaths, tokenRate: 10_000, tokenBurst: 10_000 } });
  token = await site.tokenOf(await site.signedIn("member"));
});
afterAll(() => site[Symbol.asyncDispose]());
beforeEach(() => site.models.forget());

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] as const;

const ENTRIES: Readonly<Record<string, readonly string[]>> = {
  "/completions": ["POST"],
  "/embeddings": ["POST"],
  "/responses": ["POST"],
  "/responses/compact": ["POST"],
  "/responses/input_tokens": ["POST"],
  "/responses/resp_A-1": ["GET", "DELETE"],
  "/responses/resp_A-1/cancel": ["POST"],
  "/responses/resp_A-1/input_items": ["GET"],
  "/messages": ["POST"],
  "/messages/count_tokens": ["POST"],
  "/models": ["GET"],
  "/models/example-model": ["GET"],
  "/models/vendor/model-1.5:latest": ["GET"],
};

const input = (method: string): RequestInit => {
  const { body: _, ...request } = chat(token);
  return method === "GET" || method === "HEAD" ? { ...request, method } : { ...chat(token), method };
};

/** @returns everything that comes back for a request with these lines */
async function sendRaw(lines: readonly string[], body = ""): Promise<string> {
  const { host } = new URL(site.origin);
  const head = [...lines, `Host: ${host}`, `Authorization: Bearer ${token}`].join("\r\n");
  return (await converse({ address: site.origin }, [`${head}\r\n\r\n${body}`], PATIENCE_MS)).text;
}
const PATIENCE_MS = 10_000;

const post = (target: string): Promise<string> =>
  sendRaw([`POST ${target} HTTP/1.1`, "Content-Length: 2", "Connection: close"], "{}");

describe("INF-6 and INF-7 each path is forwarded with its methods, with and without /v1", () => {
  const spellings = Object.entries(ENTRIES).flatMap(([path, methods]) =>
    ["", "/v1"].map((version) => [`${version}${path}`, methods] as const),
  );
  test.each(spellings)("%s", async (path, methods) => {
    for (const method of METHODS) {
      const answer = await site.send(path, input(method));
      await answer.arrayBuffer();
      expect([method, answer.status]).toEqual([method, methods.includes(method) ? 200 : 405]);
      if (answer.status === 405) expect(answer.headers.get("allow")).toBe(methods.join(", "));
    }
    expect(site.models.exchanges.map(({ method, target }) => [method, target])).toEqual(
      METHODS.filter((method) => methods.includes(method)).map((method) => [method, path]),
    );
  });
});

test("INF-8 the operator's paths are forwarded exactly, beside the methods that are listed anyway", async () => {
  expect((await site.send("/v1/rankings", input("POST"))).status).toBe(200);
  expect((await site.send("/rankings", input("POST"))).status).toBe(404);
  expect((await site.send("/v1/rankings", input("GET"))).headers.get("allow")).toBe("POST");
  const codes = ["GET", "POST"].map(
    async (method) => (await site.send("/chat/completions", input(method))).status,
  );
  expect(await Promise.all(codes)).toEqual([200, 200]);
  expect((await site.send("/v1/chat/completions", input("GET"))).status).toBe(405);
});

/** Targets that an upstream might read as a path that is not on the list, or that hide one which is. */
const HOSTILE = [
  // cspell:disable: words that begin within an escape
  "/inference",
  "/inference/",
  "/inference//v1/messages",
  "/inference/v1//messages",
  "/inference/v1/messages/",
  "/inference/v1/Messages",
  "/inference/V1/messages",
  "/INFERENCE/v1/messages",
  "/inferences/v1/messages",
  "/inference/v1/messages;a=b",
  "/inference;a/v1/messages",
  "/inference/v1;/messages",
  "/inference/v1%2fmessages",
  "/inference/v1%2Fmessages",
  "/inference%2fv1/messages",
  "/inference/v1/messages%00",
  "/inference/v1/messages%20",
  "/inference/v1/messages%0d%0aX-A:%20b",
  "/inference/v1/m%65ssages",
  "/inference/%76%31/messages",
  "/inference/v1/../key/list",
  "/inference/v1/../../key/list",
  "/inference/v1/%2e%2e/key/list",
  "/inference/v1/%2E%2e/key/list",
  "/inference/v1/.%2e/key/list",
  "/inference/v1/..%2fkey/list",
  "/inference/v1/..\\key\\list",
  "/inference/v1/..%5ckey%5clist",
  "/inference\\v1\\..\\key\\list",
  "/inference/v1/messages/../../key/generate",
  "/inference/key/generate",
  "/inference/v1/key/generate",
  "/inference/v1/user/new",
  "/inference/v1/model/info",
  "/inference/health/liveliness",
  "/inference/responses/a/b/cancel",
  "/inference/responses/a%2fb",
  "/inference/responses/a.b",
  `/inference/responses/${"a".repeat(201)}`,
  "/inference/models/a/b/c",
  "/inference/models/..%2f..%2fkey",
  "/inference/models/a%2fb",
  "/inference/models/.%2e/key",
  "/inference/ws",
  `/inference/${"a/".repeat(4_096)}`,
  "//inference/v1/messages/x",
  "http://other.example.org/inference/v1/key/list",
  "http://other.example.org//key/list",
  "/v1/messages",
  "/inference/?/v1/messages",
  "/inference/#/v1/messages",
  // cspell:enable
];

test("INF-6 other spellings of a path never reach the upstream", async () => {
  expect(HOSTILE.length).toBeGreaterThanOrEqual(40);
  const answers = await Promise.all(HOSTILE.map(async (target) => [target, await post(target)] as const));
  for (const [target, answer] of answers)
    expect([target, /^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]]).toEqual([
      target,
      expect.stringMatching(/^40[04]$/),
    ]);
  expect(site.models.exchanges.map(({ target }) => target)).toEqual([]);
});

test("INF-6 a dot segment that leads to a listed path is that path, and is forwarded as it is listed", async () => {
  expect(await post("/inference/x/../v1/%2e/messages")).toStartWith("HTTP/1.1 200");
  expect(site.models.exchanges.map(({ target }) => target)).toEqual(["/v1/messages"]);
});

test("INF-9 a WebSocket is answered 426 with an error body, so that agents fall back to HTTP at once", async () => {
  const answer = await sendRaw([
    `GET ${PREFIX}/responses HTTP/1.1`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]);
  expect(answer).toStartWith("HTTP/1.1 426");
  expect(answer.toLowerCase()).toContain("\r\nupgrade: http/1.1\r\n");
  expect(answer.toLowerCase()).toContain("\r\nconnection: close\r\n");
  expect(answer).toContain('"reason":"inference.no_upgrade"');
  expect(site.models.exchanges).toHaveLength(0);
});

test("a request that names no readable host, or several, is refused", async () => {
  const { host } = new URL(site.origin);
  for (const hosts of [["[::1"], ["a/b"], ["u:p@h"], ["a?b"], [host, host]]) {
    const lines = hosts.map((name) => `Host: ${name}\r\n`).join("");
    const head = `POST /inference/v1/messages HTTP/1.1\r\n${lines}Authorization: Bearer ${token}\r\n`;
    const bytes = `${head}Content-Length: 2\r\nConnection: close\r\n\r\n{}`;
    const { text } = await converse({ address: site.origin }, [bytes], PATIENCE_MS);
    expect([hosts, text.slice(0, 12)]).toEqual([hosts, "HTTP/1.1 400"]);
    expect(text).toContain('"reason":"inference.bad_host"');
  }
  expect(site.models.exchanges).toHaveLength(0);
});

test("an upgrade to another protocol is ignored, as HTTP allows", async () => {
  const answer = await site.send("/v1/messages", chat(token, { upgrade: "h2c" }));
  expect(answer.status).toBe(200);
});
