// What the agents send to the URL that workstations get, and the response of a deployment without gateway mode.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { chat, createProxyServer, PREFIX, type ProxyServer } from "../../support/inference/proxy-server.ts";
import { createTestServer } from "../../support/server.ts";

let site: ProxyServer;
let token: string;
beforeAll(async () => {
  site = await createProxyServer();
  token = await site.tokenOf(await site.signedIn("member"));
});
afterAll(() => site[Symbol.asyncDispose]());
beforeEach(() => site.models.forget());

interface Shape {
  path: string;
  headers: Record<string, string>;
  body: object;
  harness: string | null;
}

/** Path, headers and body as each agent writes them. */
const SHAPES: Readonly<Record<string, (held: string) => Shape>> = {
  "Codex without /v1": (held) => ({
    path: "/responses",
    headers: {
      authorization: `Bearer ${held}`,
      originator: "codex_cli_rs",
      "user-agent": "codex_cli_rs/0.72.0 (Ubuntu 24.4.0; x86_64) xterm",
      accept: "text/event-stream",
    },
    body: { model: "m", instructions: "", input: [], stream: true, store: false, tools: [] },
    harness: "codex",
  }),
  "Codex with /v1": (held) => ({
    path: "/v1/responses",
    headers: { authorization: `Bearer ${held}`, "user-agent": "codex_exec/0.72.0" },
    body: { model: "m", input: "hi" },
    harness: "codex",
  }),
  "Claude with a bearer token": (held) => ({
    path: "/v1/messages?beta=true",
    headers: {
      authorization: `Bearer ${held}`,
      "anthropic-version": "2023-06-01",
      "anthropic-beta": "claude-code-20250219,interleaved-thinking-2025-05-14",
      "user-agent": "claude-cli/2.0.55 (external, cli)",
      "x-stainless-retry-count": "0",
    },
    body: { model: "m", max_tokens: 1, messages: [], stream: true },
    harness: "claude",
  }),
  "Claude with an API key": (held) => ({
    path: "/v1/messages/count_tokens?beta=true",
    headers: { "x-api-key": held, "anthropic-version": "2023-06-01", "user-agent": "claude-cli/2.0.55" },
    body: { model: "m", messages: [] },
    harness: "claude",
  }),
  OpenCode: (held) => ({
    path: "/chat/completions",
    headers: { authorization: `Bearer ${held}`, "user-agent": "opencode/1.0.119 ai-sdk/openai-compatible" },
    body: { model: "m", messages: [], stream: true, stream_options: { include_usage: true } },
    harness: "opencode",
  }),
  Kimi: (held) => ({
    path: "/v1/chat/completions",
    headers: { authorization: `Bearer ${held}`, "user-agent": "KimiCLI/0.63" },
    body: { model: "m", messages: [], stream: true },
    harness: "kimi",
  }),
};

test.each(Object.entries(SHAPES))(
  "INF-1 %s reaches the upstream with the user's key",
  async (_name, shape) => {
    const { path, headers, body, harness } = shape(token);
    const sent = JSON.stringify(body);
    const known = site.rows.length;
    const answer = await site.send(path, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: sent,
    });
    expect([answer.status, await answer.text()]).toEqual([200, "{}"]);
    const exchange = await site.models.exchange();
    expect([exchange.method, exchange.target]).toEqual(["POST", path]);
    expect(String(await exchange.body())).toBe(sent);
    expect(exchange.header("authorization")).toStartWith("Bearer sk-");
    expect(exchange.header("x-api-key")).toBeUndefined();
    expect(exchange.header("user-agent")).toBe(headers["user-agent"]);
    expect(exchange.headers.flat().join(" ")).not.toContain(token);
    while (site.rows.length === known) await Bun.sleep(1); // the row follows the last byte
    expect(site.rows.at(-1)).toMatchObject({
      path: path.split("?")[0],
      model: "m",
      harness,
      httpStatus: 200,
    });
  },
);

test("INF-4 the framework gets every request except those for the proxy", async () => {
  site.logged.length = 0;
  await (await site.send("/v1/messages", chat(token))).text();
  await (await fetch(`${site.origin}/auth/me`)).text();
  await (await fetch(`${site.origin}/inferences`)).text();
  const answered = site.logged.filter(({ event }) => event === "http.answered");
  expect(answered.map(({ route }) => route)).toEqual(["/auth/me", "unmatched"]);
});

test("INF-3 the default URL for workstations is a path of the one origin", async () => {
  const { origin, pathname } = new URL(site.proxyUrl);
  expect([origin, pathname]).toEqual([site.origin, PREFIX]);
});

describe("INF-5 gateway mode off", () => {
  test("inference is not served", async () => {
    await using server = await createTestServer();
    const { accessToken, cookie } = await server.signedIn("admin");
    const outcome = async (method: string, path: string) => {
      const headers = { "sec-fetch-site": "same-origin" };
      const answer = await server.request(method, path, { cookie, headers });
      const text = await answer.text();
      return [answer.status, answer.status === 404 || answer.status === 400 ? undefined : JSON.parse(text)];
    };
    for (const path of [
      "/inference/health",
      "/inference/v1/models",
      "/gateway/jwks",
      "/admin/gateway/models",
    ])
      expect([path, ...(await outcome("GET", path))]).toEqual([path, 404, undefined]);
    expect((await outcome("POST", "/inference/v1/messages"))[0]).toBe(404);
    expect((await outcome("POST", "/gateway/proxy/health"))[0]).toBe(400);
    expect(await outcome("GET", "/gateway/request-logs")).toEqual([
      200,
      expect.objectContaining({ items: [], total: 0 }),
    ]);
    const [, facets] = await outcome("GET", "/gateway/request-logs/facets");
    expect(Object.values(facets).flat()).toEqual([]);
    expect(server.domain.admission).toBeUndefined();
    expect(server.domain.inference.signingKeys).toBeUndefined();
    const inner = await server.request("POST", "/internal/gateway/request-logs", {
      token: accessToken,
      body: {},
    });
    expect(inner.status).toBe(404);
  });
});

test("a token of another installation is refused", async () => {
  await using other = await createProxyServer();
  expect((await other.send("/v1/messages", chat(token))).status).toBe(401);
  expect(other.models.exchanges).toHaveLength(0);
});
