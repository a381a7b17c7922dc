// Tests the errors of the API: every failure answers with the same problem shape.
import { describe, expect, spyOn, test } from "bun:test";
import { PER_PAGE_MAX, SEARCH_LENGTH_MAX } from "../../../../src/domain/shared/page.ts";
import { NAME_CHARACTERS_MAX } from "../../../../src/platform/json/structure.ts";
import { memoryLimitText } from "../../../../src/platform/memory/memory-limits.ts";
import { KEY_CHARACTERS_MAX } from "../../../../src/platform/text/object-reader.ts";
import { EXCERPT_CHARACTERS_MAX, PROBLEMS_MAX } from "../../../../src/platform/text/problem-list.ts";
import { BODY_BYTES_MAX } from "../../../../src/server/http/bodies/body.ts";
import { JSON_DEPTH_MAX, JSON_VALUES_MAX } from "../../../../src/server/http/bodies/body-text.ts";
import { PROBLEMS_COUNTED_MAX } from "../../../../src/server/http/bodies/validation.ts";
import { MESSAGE_CHARACTERS_MAX, PROBLEM_BYTES_MAX } from "../../../../src/server/http/problems/problem.ts";
import { listen } from "../../../../src/server/listener/listen.ts";
import { NO_PROXIES, raise } from "../../../support/network/listening-server.ts";
import { createTestServer, requestOf, type Sent, type TestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const sameServer = sharedServer(createTestServer);

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;

interface Refusal {
  status: number;
  reason: string;
  errors?: { pointer: string; detail: string }[];
  detail: string;
}

/** Checks what all refusals have in common. */
async function refusalOf(response: Response): Promise<Refusal> {
  expect(response.headers.get("content-type")).toBe("application/problem+json");
  expect(response.headers.get("cache-control")).toBe("no-store");
  const body = await response.json();
  expect(body.type).toBe("about:blank");
  expect(body.title).toMatch(/^[A-Z]/);
  expect(body.status).toBe(response.status);
  expect(body.detail).toMatch(/./);
  expect(body.error).toBe(body.detail);
  expect(body.reason).toMatch(/^[a-z_]+\.[a-z_]+$|^internal$/);
  expect(body.request_id).toBe(response.headers.get("x-request-id"));
  return body;
}

const asAdministrator = async ({ signedIn }: TestServer): Promise<Sent> => ({
  token: (await signedIn("admin")).accessToken,
});

const STANDING = {
  "x-content-type-options": "nosniff",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "strict-transport-security": "max-age=31536000",
};

describe("paths and methods", () => {
  const CHANGING = new Set(["x-request-id", "set-cookie", "date"]);

  test.each([
    ["GET", "/nothing-here"],
    ["POST", "/nothing-here"],
    ["HEAD", "/nothing-here"],
    ["GET", "/admin"],
    ["GET", "/admin/users/a/b"],
    ["GET", "//health"],
    ["GET", "/HEALTH"],
    ["GET", "/%ff"],
  ])("%s %s is an unknown path", async (method, path) => {
    const testServer = await sameServer();
    const response = await testServer.request(method, path);
    expect(response.status).toBe(404);
    expect((await refusalOf(response)).reason).toBe("request.unknown_path");
  });

  test.each([
    ["POST", "/health", "GET, HEAD"],
    ["OPTIONS", "/health", "GET, HEAD"],
    ["PROPFIND", "/health", "GET, HEAD"],
    ["PUT", "/admin/users/options", "GET, POST, PATCH, DELETE, HEAD"],
    ["OPTIONS", "/admin/branding", "PUT"],
    ["HEAD", "/admin/branding", "PUT"],
    ["GET", "/admin/branding", "PUT"],
  ])("%s %s is answered with the methods of the path", async (method, path, allowed) => {
    const testServer = await sameServer();
    const response = await testServer.request(method, path);
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe(allowed);
    expect((await refusalOf(response)).reason).toBe("request.method");
  });

  test("every route answers a path parameter that is not valid UTF-8 with a client error", async () => {
    const testServer = await sameServer();
    const { cookie } = await testServer.signedIn("admin");
    for (const { method, path } of (await testServer.server.allRoutes()).filter((route) =>
      route.path.includes(":"),
    )) {
      const sent: Sent = method === "GET" ? { cookie } : { cookie, body: {} };
      const response = await testServer.request(method, path.replace(/:\w+/g, "%ff"), sent);
      expect([method, path, response.status < 500]).toEqual([method, path, true]);
    }
  });

  test("HEAD returns the status and length of GET without the body", async () => {
    const testServer = await sameServer();
    const listener = listen(testServer.server.handle, {
      listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
      ...NO_PROXIES,
      report: raise,
    });
    const { cookie } = await testServer.signedIn("admin");
    const headers = { cookie, "accept-encoding": "identity" };
    const ask = (method: string, path: string) =>
      fetch(`${listener.address}${path}`, { method, headers, redirect: "manual" });
    // Metrics grow with each request, and every QR code is another one.
    const varying = ["/metrics", "/account/second-factor/authenticator-app"];
    const isFixed = (path: string) => !path.includes(":") && !varying.includes(path);
    const routes = (await testServer.server.allRoutes()).filter(
      ({ method, path }) => method === "GET" && isFixed(path),
    );
    for (const path of [...routes.map((route) => route.path), "/nothing-here"]) {
      const [get, head] = [await ask("GET", path), await ask("HEAD", path)];
      const fixed = (response: Response) => [...response.headers].filter(([name]) => !CHANGING.has(name));
      expect([path, head.status, fixed(head)]).toEqual([path, get.status, fixed(get)]);
      expect(await head.text()).toBe("");
      await get.body?.cancel();
    }
    await listener.stop();
  });
});

describe("bodies", () => {
  const JSON_TYPE = { "content-type": "application/json" };
  const sized = (bytes: number) => `"${"x".repeat(bytes - 2)}"`;
  const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const valued = (values: number) => JSON.stringify(new Array(values - 1).fill(0));
  const chunked = (bytes: number) =>
    new ReadableStream({
      start(controller) {
        for (let left = bytes; left > 0; left -= 65_536) {
          controller.enqueue(new Uint8Array(Math.min(left, 65_536)).fill(32));
        }
        controller.close();
      },
    });

  const CASES: Record<string, [body: Sent["body"], headers: Record<string, string>, status: number]> = {
    "no body": [undefined, JSON_TYPE, 400],
    "text that is not JSON": ["{", JSON_TYPE, 400],
    "bytes that are not UTF-8": [new Uint8Array([0x22, 0xff, 0x22]), JSON_TYPE, 400],
    "no media type": ["{}", { "content-type": "" }, 415],
    "plain text": ["{}", { "content-type": "text/plain" }, 415],
    "a media type that only begins like JSON": ["{}", { "content-type": "application/jsonp" }, 415],
    "a form": ["logo_url=x", { "content-type": "application/x-www-form-urlencoded" }, 415],
    "another character set": ["{}", { "content-type": "application/json; charset=latin1" }, 415],
    "JSON under another name": ["{}", { "content-type": "application/vnd.example+json" }, 200],
    "JSON in capital letters": ["{}", { "content-type": "Application/JSON; Charset=UTF-8" }, 200],
    "a compressed body": [Bun.gzipSync("{}"), { ...JSON_TYPE, "content-encoding": "gzip" }, 415],
    "a body in the identity encoding": ["{}", { ...JSON_TYPE, "content-encoding": "identity" }, 200],
    "a body one byte below the limit": [sized(BODY_BYTES_MAX - 1), JSON_TYPE, 422],
    "a body at the limit": [sized(BODY_BYTES_MAX), JSON_TYPE, 422],
    "a body one byte above the limit": [sized(BODY_BYTES_MAX + 1), JSON_TYPE, 413],
    "a body with too large a declared length": [
      "{}",
      { ...JSON_TYPE, "content-length": `${BODY_BYTES_MAX + 1}` },
      413,
    ],
    "chunks at the limit": [chunked(BODY_BYTES_MAX), JSON_TYPE, 400],
    "chunks that grow too large": [chunked(BODY_BYTES_MAX + 1), JSON_TYPE, 413],
    "lists as deep as they may be": [nested(JSON_DEPTH_MAX), JSON_TYPE, 422],
    "lists one level too deep": [nested(JSON_DEPTH_MAX + 1), JSON_TYPE, 400],
    "as many values as there may be": [valued(JSON_VALUES_MAX), JSON_TYPE, 422],
    "one value too many": [valued(JSON_VALUES_MAX + 1), JSON_TYPE, 400],
    "a member that is there twice": ['{"logo_url":null,"logo_url":null}', JSON_TYPE, 400],
    "a list instead of an object": ["[]", JSON_TYPE, 422],
    null: ["null", JSON_TYPE, 422],
    "an unknown member": ['{"logo":null}', JSON_TYPE, 422],
    "a member that would reach the prototype": ['{"__proto__":{"logo_url":null}}', JSON_TYPE, 422],
    "a member of a wrong type": ['{"logo_url":1}', JSON_TYPE, 422],
  };

  const REASONS: Record<number, RegExp> = {
    400: /^request\.malformed$/,
    413: /^request\.too_large$/,
    415: /^request\.(media_type|content_encoding)$/,
    422: /^request\.invalid$/,
  };

  test.each(Object.entries(CASES))("%s is answered by its status", async (_name, [body, headers, status]) => {
    const testServer = await sameServer();
    const administrator = await asAdministrator(testServer);
    const response = await testServer.request("PUT", "/admin/branding", { ...administrator, body, headers });
    expect(response.status).toBe(status);
    if (status !== 200) expect((await refusalOf(response)).reason).toMatch(REASONS[status] ?? "");
  });

  test("a refused media type is answered with the accepted one", async () => {
    const testServer = await sameServer();
    const put = async (headers: Record<string, string>) =>
      await testServer.request("PUT", "/admin/branding", {
        ...(await asAdministrator(testServer)),
        body: "{}",
        headers,
      });
    expect((await put({ "content-type": "text/plain" })).headers.get("accept")).toBe("application/json");
    const encoded = await put({ ...JSON_TYPE, "content-encoding": "gzip" });
    expect(encoded.headers.get("accept-encoding")).toBe("identity");
  });

  test("a route that takes no body does not read one", async () => {
    const testServer = await sameServer();
    const { user } = await testServer.signedIn("member");
    const response = await testServer.request("POST", `/admin/users/${user.id}/sessions/revoke`, {
      ...(await asAdministrator(testServer)),
      body: "{",
    });
    expect(response.status).toBe(204);
  });
});

describe("an unknown member is refused", () => {
  test.each([
    ["logo_urll", "is not a known member; did you mean logo_url?"],
    ["x".repeat(KEY_CHARACTERS_MAX + 1), "is not a known member"],
  ])("%s: %s", async (name, detail) => {
    const testServer = await sameServer();
    const sent = { ...(await asAdministrator(testServer)), body: { [name]: 1 } };
    const { errors } = await refusalOf(await testServer.request("PUT", "/admin/branding", sent));
    expect(errors).toContainEqual({ pointer: `/${name}`, detail });
  });
});

describe("API-1 all problems are reported at once", () => {
  test("reports all problems of a body", async () => {
    const testServer = await sameServer();
    const response = await testServer.request("POST", "/admin/users/options", {
      ...(await asAdministrator(testServer)),
      body: { q: 1, selected_user_ids: ["a", 2], "odd/na~me": true },
    });
    const { errors, detail } = await refusalOf(response);
    expect(response.status).toBe(422);
    expect(errors?.map(({ pointer }) => pointer).sort()).toEqual([
      "/odd~1na~0me",
      "/q",
      "/selected_user_ids/0",
      "/selected_user_ids/1",
    ]);
    expect(detail).toStartWith("the body has 4 problems: ");
    expect(detail).toContain("/selected_user_ids/0: expected a string of the format uuid");
  });

  test("does not echo the input", async () => {
    const testServer = await sameServer();
    const response = await testServer.request("POST", "/admin/users/options", {
      ...(await asAdministrator(testServer)),
      body: { q: { password: "hunter2" }, selected_user_ids: ["hunter2"] },
    });
    expect(await response.text()).not.toContain("hunter2");
  });

  const searchFor = async (testServer: TestServer, body: unknown) =>
    await refusalOf(
      await testServer.request("POST", "/admin/users/options", {
        ...(await asAdministrator(testServer)),
        body,
      }),
    );

  test.each([
    [PROBLEMS_MAX - 1, undefined],
    [PROBLEMS_MAX, undefined],
    [PROBLEMS_MAX + 1, "and 1 more"],
    [PROBLEMS_COUNTED_MAX - 1, `and ${PROBLEMS_COUNTED_MAX - 1 - PROBLEMS_MAX} more`],
    [PROBLEMS_COUNTED_MAX, `and ${PROBLEMS_COUNTED_MAX - PROBLEMS_MAX} more`],
    [PROBLEMS_COUNTED_MAX + 1, `and at least ${PROBLEMS_COUNTED_MAX - PROBLEMS_MAX} more`],
  ])("up to a limit: of %d problems the response omits %p", async (count, left) => {
    const testServer = await sameServer();
    const body = Object.fromEntries(Array.from({ length: count }, (_, at) => [`unknown${at}`, 0]));
    const { errors = [], detail } = await searchFor(testServer, body);
    expect(errors.slice(PROBLEMS_MAX)).toEqual(left === undefined ? [] : [{ pointer: "", detail: left }]);
    expect(detail.length).toBeLessThanOrEqual(MESSAGE_CHARACTERS_MAX);
  });

  test("notes that more problems may exist if the value was not checked to its end", async () => {
    const testServer = await sameServer();
    const ids = new Array(52_000).fill("0198c0de-0000-7000-8000-000000000000");
    const { errors } = await searchFor(testServer, { selected_user_ids: [0, ...ids, 0] });
    expect(errors?.map(({ pointer }) => pointer)).toEqual(["/selected_user_ids/0", ""]);
    expect(errors?.at(-1)?.detail).toBe("and possibly more: the check stopped early");
  });

  test.each([
    EXCERPT_CHARACTERS_MAX - 1,
    EXCERPT_CHARACTERS_MAX,
    EXCERPT_CHARACTERS_MAX + 1,
    NAME_CHARACTERS_MAX,
  ])("shows an excerpt of a pointer of %d characters", async (characters) => {
    const testServer = await sameServer();
    const name = "x".repeat(characters - 1);
    const { errors = [] } = await searchFor(testServer, { [name]: 0 });
    const isWhole = characters <= EXCERPT_CHARACTERS_MAX;
    const shown = isWhole ? `/${name}` : `/${name.slice(0, EXCERPT_CHARACTERS_MAX - 2)}…`;
    expect(errors[0]?.pointer).toBe(shown);
  });

  test("reports problems in a response of bounded size for any member names", async () => {
    const testServer = await sameServer();
    const names = Array.from({ length: 150 }, (_, at) => "\u0001".repeat(EXCERPT_CHARACTERS_MAX) + at);
    const body = Object.fromEntries(names.map((name) => [name, 0]));
    const sent = { ...(await asAdministrator(testServer)), body };
    const text = await (await testServer.request("POST", "/admin/users/options", sent)).text();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(PROBLEM_BYTES_MAX);
    expect(JSON.parse(text).errors.at(-1)).toEqual({
      pointer: "",
      detail: expect.stringMatching(/^and \d+ more$/),
    });
  });

  test("reports missing members, each once", async () => {
    const testServer = await sameServer();
    const response = await testServer.request("POST", "/admin/invitations", {
      ...(await asAdministrator(testServer)),
      body: {},
    });
    expect((await refusalOf(response)).errors?.map(({ pointer }) => pointer).sort()).toEqual([
      "/email",
      "/role",
    ]);
  });

  test("reports duplicate parameters of a query", async () => {
    const testServer = await sameServer();
    const administrator = await asAdministrator(testServer);
    const ask = (query: string) => testServer.request("GET", `/admin/users?${query}`, administrator);
    const { errors, status } = await refusalOf(await ask("page=1&q=a&pag%65=2&other=1&other=2&q=a"));
    expect(status).toBe(400);
    expect(errors?.map(({ pointer }) => pointer)).toEqual(["/page", "/q", "/other"]);
    expect((await ask("page=1&q=a")).status).toBe(200);
  });

  test("reports all problems of a query", async () => {
    const testServer = await sameServer();
    const query = new URLSearchParams({
      page: "x",
      per_page: String(PER_PAGE_MAX + 1),
      q: "q".repeat(SEARCH_LENGTH_MAX + 1),
      role: "owner",
      status: "gone",
      provisioning_source: "ldap",
    });
    const response = await testServer.request(
      "GET",
      `/admin/users?${query}`,
      await asAdministrator(testServer),
    );
    const { errors, status } = await refusalOf(response);
    expect(status).toBe(400);
    expect(errors?.map(({ pointer }) => pointer)).toEqual([
      "/page",
      "/per_page",
      "/q",
      "/role",
      "/status",
      "/provisioning_source",
    ]);
  });

  test("reports all problems of a path", async () => {
    const testServer = await sameServer();
    const response = await testServer.request(
      "GET",
      "/admin/users/no-uuid",
      await asAdministrator(testServer),
    );
    const { errors, status } = await refusalOf(response);
    expect([status, errors?.map(({ pointer }) => pointer)]).toEqual([400, ["/id"]]);
  });
});

const TRACE_ID = "4bf92f3577b34da6a3ce929d0e0e4736";

test.each([
  [`00-${TRACE_ID}-00f067aa0ba902b7-01`, TRACE_ID],
  [`cc-${TRACE_ID}-00f067aa0ba902b7-01-what-the-future-adds`, TRACE_ID],
  [`ff-${TRACE_ID}-00f067aa0ba902b7-01`, undefined],
  [`00-${"0".repeat(32)}-00f067aa0ba902b7-01`, undefined],
  [`00-${TRACE_ID}-${"0".repeat(16)}-01`, undefined],
  [`00-${TRACE_ID.toUpperCase()}-00f067aa0ba902b7-01`, undefined],
  ["garbage", undefined],
])("OBS-4: the log has the trace id of %s", async (traceparent, traceId) => {
  const testServer = await sameServer();
  await testServer.request("GET", "/health", { headers: { traceparent } });
  expect(testServer.logged.at(-1)?.trace_id).toBe(traceId);
});

describe("an internal error", () => {
  test("is answered with only the request id of its log entry", async () => {
    await using testServer = await createTestServer();
    const administrator = await asAdministrator(testServer);
    await testServer.world.db.close();
    const response = await testServer.request("GET", "/admin/users", administrator);
    const { status, reason, detail, errors } = await refusalOf(response);
    expect([status, reason, errors]).toEqual([500, "internal", undefined]);
    expect(detail).toContain("request id");
    expect(detail).not.toMatch(/database|sqlite|statement|closed/i);
    const [line] = testServer.logged.filter(({ event }) => event === "http.failed");
    expect(line).toMatchObject({
      level: "error",
      request_id: response.headers.get("x-request-id"),
      method: "GET",
      route: "/admin/users",
    });
    expect(JSON.stringify(line)).toMatch(/finalized|closed/i);
  });

  test("is a page for a person, with the request id", async () => {
    await using testServer = await createTestServer();
    const { cookie } = await testServer.signedIn("admin");
    using _broken = spyOn(testServer.domain.identity.users, "listInSteps").mockImplementation(() => {
      throw new TypeError("a bug");
    });
    const response = await testServer.request("GET", "/console/users", { cookie });
    const html = await response.text();
    expect([response.status, response.headers.get("content-type")]).toEqual([
      500,
      "text/html; charset=utf-8",
    ]);
    expect(html).toContain(response.headers.get("x-request-id") ?? "no id");
    expect(html).not.toContain("a bug");
  });

  test("is distinct from a lack of memory, which asks callers to retry and logs the limit", async () => {
    await using testServer = await createTestServer();
    const administrator = await asAdministrator(testServer);
    using _exhausted = spyOn(testServer.domain.identity.users, "listInSteps").mockImplementation(() => {
      throw new RangeError("Out of memory"); // as the engine does
    });
    const response = await testServer.request("GET", "/admin/users", administrator);
    const { status, reason, detail } = await refusalOf(response);
    expect([status, reason, response.headers.get("retry-after")]).toEqual([503, "memory.exhausted", "5"]);
    expect(detail).toContain("its log names the limit");
    const [line] = testServer.logged.filter(({ event }) => event === "http.failed");
    expect(line).toMatchObject({ level: "error", memory: memoryLimitText() });
    expect(JSON.stringify(line)).toContain("Out of memory");
  });

  test("is distinct from a refused request, which logs no error", async () => {
    await using testServer = await createTestServer();
    await testServer.request("GET", "/nothing-here");
    await testServer.request("GET", "/admin/users", { token: "garbage" });
    expect(testServer.logged.filter(({ level }) => level === "error")).toEqual([]);
  });
});

describe("API-1 every response", () => {
  const WAYS: [method: string, path: string, status: number][] = [
    ["GET", "/health", 200],
    ["HEAD", "/health", 200],
    ["GET", "/branding", 200],
    ["GET", "/openapi.json", 200],
    ["GET", "/admin/users", 401],
    ["GET", "/nothing-here", 404],
    ["TRACE", "/health", 405],
    ["DELETE", "/health", 405],
  ];

  test.each(WAYS)("has its own id and the standard headers after %s %s", async (method, path, status) => {
    const testServer = await sameServer();
    for (const origin of ["http://localhost", "http://q", "http://q:1", "http://[::1]"]) {
      const request = new Request(`${origin}${path}`, { method });
      const { headers, ...response } = await answered(testServer, request);
      expect(response.status).toBe(status);
      expect(headers.get("x-request-id")).toMatch(UUID);
      for (const [name, value] of Object.entries(STANDING)) expect(headers.get(name)).toBe(value);
    }
  });

  test("has a unique id and ignores the id that the caller sends", async () => {
    const testServer = await sameServer();
    const headers = { "x-request-id": "mine" };
    const ids = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await testServer.request("GET", "/health", { headers })).headers.get("x-request-id"),
      ),
    );
    expect(new Set(ids).size).toBe(20);
    expect(ids).not.toContain("mine");
  });

  test("has a Cache-Control header", async () => {
    const testServer = await sameServer();
    const { cookie } = await testServer.signedIn("admin");
    for (const { method, path } of (await testServer.server.allRoutes()).filter(
      (route) => route.method === "GET",
    )) {
      const { headers } = await testServer.request(method, path.replaceAll(/:\w+/g, "unknown"), { cookie });
      expect([path, headers.get("cache-control")]).toEqual([path, expect.stringMatching(/./)]);
    }
  });

  test("keeps its body for a host that the framework parses wrong", async () => {
    const testServer = await sameServer();
    const { accessToken } = await testServer.signedIn("admin");
    const local = requestOf("POST", "/admin/invitations", {
      token: accessToken,
      body: { email: "new@example.com", role: "member" },
    });
    const short = new Request("http://q/admin/invitations", local);
    expect((await testServer.server.handle(short)).status).toBe(201);
  });
});

async function answered({ server }: TestServer, request: Request) {
  const { status, headers } = await server.handle(request);
  return { status, headers };
}
