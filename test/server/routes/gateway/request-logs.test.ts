// The request log and usage through the API: filters, pages, gaps and facets as the contract defines them, and rows that a separate
// inference proxy sends.

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { AHEAD_MS_MAX } from "../../../../src/domain/inference/log/intake.ts";
import { DAY_MS, HOUR_MS } from "../../../../src/platform/clock.ts";
import {
  createGatewayServer,
  type GatewayServer,
  PROXY_TOKEN,
} from "../../../support/gateway/gateway-server.ts";
import { rowOf, until } from "../../../support/inference/request-rows.ts";
import { type Caller, createTestServer } from "../../../support/server.ts";
import { START_MS } from "../../../support/world.ts";

const PATH = "/gateway/request-logs";

let server: GatewayServer;
let admin: Caller;
let ana: Caller;
let ben: Caller;

beforeAll(async () => {
  server = await createGatewayServer();
  server.world.clock.set(START_MS + 3 * DAY_MS);
  admin = await server.signedIn("admin");
  ana = await server.signedIn("member", { email: "ana@example.com" });
  ben = await server.signedIn("member", { email: "ben@example.com" });
  const rows = [
    rowOf(1, { occurredAtMs: START_MS }),
    rowOf(2, {
      occurredAtMs: START_MS + DAY_MS - 1,
      model: "claude-5",
      path: "/messages",
      harness: "claude",
    }),
    rowOf(3, { occurredAtMs: START_MS + DAY_MS, httpStatus: 302, userId: ben.user.id, runId: "run-2" }),
    rowOf(4, {
      occurredAtMs: START_MS + DAY_MS + 1,
      httpStatus: 429,
      outcome: "refused",
      inputTokens: 0,
      outputTokens: 0,
    }),
    rowOf(5, { occurredAtMs: START_MS + 2 * DAY_MS, httpStatus: 503, branch: "Été%_*" }),
    rowOf(6, { occurredAtMs: START_MS + 2 * DAY_MS, httpStatus: null, outcome: "timeout", profileId: null }),
  ].map((row) => (row.userId === ben.user.id ? row : { ...row, userId: ana.user.id }));
  for (const row of rows.map((each) => ({ ...each, organizationId: ana.user.organizationId }))) {
    server.requestLog.add(row);
    server.domain.usage.count(row);
  }
  await server.domain.usage.flush();
  await until(async () => (await get("")).total === rows.length);
});
afterAll(() => server[Symbol.asyncDispose]());

const get = async (query: string, path = PATH, { accessToken: token } = admin) =>
  await (await server.request("GET", `${path}${query}`, { token })).json();
/** @returns the last digits of the ids of the rows that a query finds */
const found = async (query: string): Promise<number[]> =>
  (await get(`?sort=occurred_asc&${query}`)).items.map(({ id }: { id: string }) => Number(id.slice(-2)));

describe("INF-45 the request log", () => {
  test("is a numbered page, newest first, with every member of the contract", async () => {
    const page = await get("?per_page=1&page=6");
    expect(page).toEqual({
      items: [
        {
          id: rowOf(1).id,
          user_id: ana.user.id,
          user_email: "ana@example.com",
          profile_id: "key-1",
          profile_name: "ana",
          occurred_at: "2026-01-01T00:00:00.000Z",
          method: "POST",
          path: "/chat/completions",
          model: "gpt-5",
          http_status: 200,
          result: "success",
          upstream_latency_ms: 120,
          harness: "codex",
          repository: "github.com/example/shop",
          branch: "main",
          commit_sha: "0123abcd",
          dirty: false,
          run_id: "run-1",
          claimed: true,
          request_id: "request-1",
          duration_ms: 900,
          first_byte_ms: 150,
          request_bytes: 2048,
          response_bytes: 4096,
          stream: true,
          outcome: "complete",
          refusal: null,
          input_tokens: 1000,
          output_tokens: 200,
          cache_read_tokens: 10,
          cache_write_tokens: 20,
          usage_source: "reported",
          upstream_cost: 0.25,
        },
      ],
      page: 6,
      per_page: 1,
      total: 6,
      total_pages: 6,
      total_capped: false,
      gaps: [],
    });
  });

  test.each([
    ["", [1, 2, 3, 4, 5, 6]],
    ["occurred_from=2026-01-02", [3, 4, 5, 6]],
    ["occurred_to=2026-01-01", [1, 2]],
    ["occurred_from=2026-01-02&occurred_to=2026-01-02", [3, 4]],
    ["model=claude-5", [2]],
    ["model=claude", []],
    ["harness=claude", [2]],
    ["profile_id=key-1", [1, 2, 3, 4, 5]],
    ["result=success", [1, 2]],
    ["result=redirect", [3]],
    ["result=client_error", [4]],
    ["result=server_error", [5]],
    ["result=transport_error", [6]],
    ["outcome=refused", [4]],
    ["run_id=run-2", [3]],
    ["min_tokens=1", [1, 2, 3, 5, 6]],
    ["min_tokens=1201", []],
    ["q=MESSAGES", [2]],
    ["q=claude-5", [2]],
    ["q=github.com", [1, 2, 3, 4, 5, 6]],
    [`q=${encodeURIComponent("éTÉ%_*")}`, [5]],
    ["q=%25", [5]],
    ["q=*", [5]],
    ["q=_", [5]],
    [`q=${encodeURIComponent("[")}`, []],
    ["per_page=2&page=2", [3, 4]],
    ["per_page=4&page=2", [5, 6]],
    ["page=2", []],
  ])("finds with %p the rows %p", async (query, rows) => {
    expect(await found(query)).toEqual(rows);
  });

  test("finds the rows of a user, and those of a user and a model", async () => {
    expect(await found(`user_id=${ben.user.id.toUpperCase()}`)).toEqual([3]);
    expect(await found(`user_id=${ana.user.id}&model=claude-5`)).toEqual([2]);
    expect(await found(`user_id=${ben.user.id}&model=claude-5`)).toEqual([]);
  });

  test.each([
    ["page=0", ["/page"]],
    ["per_page=101", ["/per_page"]],
    [`q=${"x".repeat(201)}`, ["/q"]],
    ["user_id=ana", ["/user_id"]],
    ["occurred_from=2026-02-30", ["/occurred_from"]],
    ["occurred_from=2026-01-02&occurred_to=2026-01-01", ["/occurred_to"]],
    ["sort=model", ["/sort"]],
    ["result=good&outcome=good", ["/result", "/outcome"]],
    ["min_tokens=-1", ["/min_tokens"]],
    [`model=${"x".repeat(513)}&harness=${"x".repeat(129)}`, ["/model", "/harness"]],
    [`run_id=${"x".repeat(513)}&profile_id=${"x".repeat(513)}`, ["/profile_id", "/run_id"]],
  ])("refuses %s and names every problem", async (query, pointers) => {
    const response = await server.request("GET", `${PATH}?${query}`, { token: admin.accessToken });
    expect(response.status).toBe(400);
    const { problems, errors = problems } = await response.json();
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
  });

  test("is for administrators, with a token or in a browser", async () => {
    const statusOf = async (sent: object) => (await server.request("GET", PATH, sent)).status;
    expect(await statusOf({ cookie: admin.cookie })).toBe(200);
    expect(await statusOf({ token: ana.accessToken })).toBe(403);
    expect(await statusOf({})).toBe(401);
  });
});

test("INF-46 facets name the values of rows, users by address and the selected one first", async () => {
  expect(await get("", `${PATH}/facets`)).toEqual({
    users: [
      { id: ana.user.id, email: "ana@example.com" },
      { id: ben.user.id, email: "ben@example.com" },
    ],
    profiles: [{ id: "key-1", name: "ana" }],
    models: ["claude-5", "gpt-5"],
    harnesses: ["claude", "codex"],
    results: ["success", "redirect", "client_error", "server_error", "transport_error"],
  });
  const { users } = await get(`?user_q=ANA&selected_user_id=${ben.user.id}`, `${PATH}/facets`);
  expect(users.map(({ email }: { email: string }) => email)).toEqual(["ben@example.com", "ana@example.com"]);
  const wrong = await server.request("GET", `${PATH}/facets?selected_user_id=ana&user_q=${"x".repeat(201)}`, {
    token: admin.accessToken,
  });
  expect(wrong.status).toBe(400);
});

test("INF-47 expired rows are never shown, and a removed user has no address", async () => {
  await using other = await createGatewayServer();
  const { accessToken: token } = await other.signedIn("admin");
  const { user } = await other.signedIn("member");
  other.requestLog.add(rowOf(1, { userId: user.id, occurredAtMs: START_MS - 30 * DAY_MS }));
  other.requestLog.add(rowOf(2, { userId: user.id, occurredAtMs: START_MS - 30 * DAY_MS + HOUR_MS }));
  const items = async () => (await (await other.request("GET", PATH, { token })).json()).items;
  await until(async () => (await items()).length === 2);
  await other.domain.identity.users.remove(other.world.system, user.id);
  other.world.clock.advance(1);
  expect(await items()).toMatchObject([{ id: rowOf(2).id, user_email: "removed@invalid" }]);
});

test("gateway mode off gives an empty page of the log and empty lists of facets", async () => {
  await using other = await createTestServer();
  const { accessToken: token } = await other.signedIn("admin");
  const read = async (path: string) => await (await other.request("GET", path, { token })).json();
  expect(await read(PATH)).toMatchObject({ items: [], total: 0, total_pages: 0, gaps: [] });
  expect(await read(`${PATH}/facets`)).toEqual({
    users: [],
    profiles: [],
    models: [],
    harnesses: [],
    results: [],
  });
});

describe("CON-79 the summary of the request log", () => {
  const SUMMARY = `${PATH}/summary`;

  test("has figures in total, for each point, and for each model or user", async () => {
    const { totals, bucket, from, to, points, groups } = await get("?by=user", SUMMARY);
    expect(totals).toMatchObject({ requests: 6, refused: 1, success: 2, redirect: 1, client_error: 1 });
    expect(totals).toMatchObject({ server_error: 1, transport_error: 1, p50_ms: expect.any(Number) });
    expect([bucket, from, to]).toEqual(["day", "2025-12-05T00:00:00.000Z", "2026-01-05T00:00:00.000Z"]);
    const counts = points.map(({ requests }: { requests: number }) => requests);
    expect(counts.slice(-4)).toEqual([2, 2, 2, 0]);
    expect(groups).toMatchObject([
      { user_id: ana.user.id, user_email: "ana@example.com", requests: 5 },
      { user_id: ben.user.id, user_email: "ben@example.com", requests: 1 },
    ]);
  });

  test("follows the filters of the list", async () => {
    const query = "?model=claude-5&by=model&bucket=hour&occurred_from=2026-01-01&occurred_to=2026-01-01";
    const { totals, groups, points } = await get(query, SUMMARY);
    expect([totals.requests, points.length]).toEqual([1, 24]);
    expect(groups).toMatchObject([{ model: "claude-5", requests: 1 }]);
  });

  test("refuses bad values, all together", async () => {
    const { status, errors } = await get("?bucket=week&by=moon&user_id=x&result=x", SUMMARY);
    expect(status).toBe(400);
    expect(errors).toHaveLength(4);
  });
});

describe("a separate inference proxy", () => {
  const event = (number: number, changes: object = {}) => ({
    id: rowOf(number).id,
    organization_id: ana.user.organizationId,
    user_id: ana.user.id,
    profile_id: null,
    occurred_at: new Date(server.world.clock.nowMs()).toISOString(),
    method: "POST",
    path: "/v1/responses",
    http_status: 200,
    upstream_latency_ms: 5,
    run_id: "sent",
    ...changes,
  });
  const send = async (path: string, body: unknown, token = PROXY_TOKEN) =>
    await server.request("POST", `/internal${PATH}${path}`, { token, body });

  test("INF-2 adds one or many rows, and a repeated row changes nothing", async () => {
    expect((await send("", event(20))).status).toBe(204);
    const more = [event(20, { path: "/other" }), event(21), event(22)];
    expect((await send("/batch", { events: more })).status).toBe(204);
    await until(async () => (await get("?run_id=sent")).total === 3);
    await server.domain.usage.flush();
    const { totals } = await get("?from=2026-01-04&to=2026-01-04", "/admin/gateway/usage");
    expect(totals.requests).toBe(3);
    const { items } = await get(`?run_id=sent&q=${encodeURIComponent("/v1/responses")}`);
    expect(items).toHaveLength(3);
    expect(items[0]).toMatchObject({ claimed: true, outcome: null, request_id: null, model: null });
  });

  test.each([
    ["no time", { occurred_at: "yesterday" }],
    ["a method without letters", { method: "" }],
    ["a relative path", { path: "responses" }],
    ["a path too long", { path: `/${"x".repeat(2048)}` }],
    ["an unknown status", { http_status: 600 }],
    ["an unknown user", { user_id: "01890000-0000-7000-8000-000000000000" }],
    ["a model too long", { model: "x".repeat(513) }],
    ["an agent too long", { harness: "x".repeat(129) }],
  ])("is refused with %s, and the whole batch with it", async (_, changes) => {
    const response = await send("/batch", {
      events: [event(30, { run_id: "bad" }), event(31, { run_id: "bad", ...changes })],
    });
    expect(response.status).toBe(400);
    expect(await get("?run_id=bad")).toMatchObject({ total: 0 });
  });

  test.each([
    [-1, 204],
    [0, 204],
    [1, 400],
  ])("may be %i ms later than the tolerated difference of clocks: %i", async (step, status) => {
    const occurredAtMs = server.world.clock.nowMs() + AHEAD_MS_MAX + step;
    const ahead = { occurred_at: new Date(occurredAtMs).toISOString() };
    expect((await send("", event(40, ahead))).status).toBe(status);
  });

  test("is refused without rows, with too many, or without its token", async () => {
    expect((await send("/batch", { events: [] })).status).toBe(400);
    const absent = await send("/batch", {});
    expect((await absent.json()).errors).toEqual([
      { pointer: "/events", detail: "/events: expected required property" },
    ]);
    const many = Array.from({ length: 501 }, (_, at) => event(100 + at));
    expect((await send("/batch", { events: many })).status).toBe(400);
    expect((await send("", event(32), "wrong")).status).toBe(401);
  });
});

describe("INF-56 usage", () => {
  const usage = (query: string, caller = admin) =>
    get(query, caller === admin ? "/admin/gateway/usage" : "/gateway/usage", caller);

  test("is summed by user, with refused requests separately", async () => {
    const { items, totals, ...rest } = await usage("?from=2026-01-01&to=2026-01-03");
    expect(rest).toEqual({ from: "2026-01-01", to: "2026-01-03", group_by: "user", truncated: false });
    expect(items).toMatchObject([
      {
        key: ana.user.id,
        user_email: "ana@example.com",
        requests: 4,
        refused: 1,
        input_tokens: 4000,
        cost: 1.25,
      },
      { key: ben.user.id, user_email: "ben@example.com", requests: 1, refused: 0, output_tokens: 200 },
    ]);
    expect(totals).toEqual({
      requests: 5,
      refused: 1,
      input_tokens: 5000,
      output_tokens: 1000,
      cache_read_tokens: 60,
      cache_write_tokens: 120,
      cost: 1.5,
    });
  });

  test.each([
    [
      "model",
      [
        ["gpt-5", 4],
        ["claude-5", 1],
      ],
    ],
    [
      "harness",
      [
        ["codex", 4],
        ["claude", 1],
      ],
    ],
    [
      "day",
      [
        ["2026-01-01", 2],
        ["2026-01-02", 1],
        ["2026-01-03", 2],
      ],
    ],
  ])("is summed by %s", async (group, sums) => {
    const { items } = await usage(`?from=2026-01-01&to=2026-01-03&group_by=${group}`);
    expect(items.map(({ key, requests }: { key: string; requests: number }) => [key, requests])).toEqual(
      sums,
    );
  });

  test("shows every user their own usage and nobody else's", async () => {
    const { items, group_by } = await usage("?from=2026-01-01&to=2026-01-03", ben);
    expect([group_by, items.map(({ key }: { key: string }) => key)]).toEqual(["day", ["2026-01-02"]]);
    const refused = await server.request("GET", "/admin/gateway/usage", { token: ben.accessToken });
    expect(refused.status).toBe(403);
  });

  test.each([
    ["from=2026-02-30", ["/from"]],
    ["from=2026-01-02&to=2026-01-01", ["/to"]],
    ["from=2024-01-01&to=2026-01-01", ["/from"]],
    ["group_by=branch", ["/group_by"]],
  ])("is refused with %s", async (query, pointers) => {
    const response = await server.request("GET", `/admin/gateway/usage?${query}`, {
      token: admin.accessToken,
    });
    expect(response.status).toBe(400);
    const { problems, errors = problems } = await response.json();
    expect(errors.map(({ pointer }: { pointer: string }) => pointer)).toEqual(pointers);
  });
});
