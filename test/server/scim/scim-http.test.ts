// Tests SCIM over HTTP: authentication, rate limits, request parsing, response headers and methods. All responses below /scim
// are SCIM messages.

import { fullGC, heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";
import { BULK_PAYLOAD_BYTES_MAX } from "../../../src/domain/scim/bulk/model.ts";
import { WHOLE_GROUP_MEMBERS_MAX } from "../../../src/domain/scim/groups/group-views.ts";
import { SCANS_WAITING_MAX } from "../../../src/domain/scim/search/scans.ts";
import { CORE_USER, ENTERPRISE_USER, SCIM_BASE_PATH, SEARCH_REQUEST } from "../../../src/domain/scim/wire.ts";
import { SECOND_MS } from "../../../src/platform/clock.ts";
import { openConnection } from "../../../src/platform/database/connection.ts";
import { openDatabase } from "../../../src/platform/database/database.ts";
import { startingResponse } from "../../../src/server/http/problems/refusal.ts";
import { AUTHORIZATION_LENGTH_MAX, FAILURE_LIMIT } from "../../../src/server/scim/admission.ts";
import { SCIM_BYTES_MAX, SCIM_VALUES_MAX } from "../../../src/server/scim/body.ts";
import { addScimUsers } from "../../domain/scim/groups/groups-world.ts";
import { addProvisionedGroup } from "../../support/content/provisioned-rows.ts";
import { until } from "../../support/inference/request-rows.ts";
import {
  answered,
  createScimServer,
  expectRefusal,
  patchOf,
  type ScimServer,
} from "../../support/scim-server.ts";
import { ADDRESS, BASE_URL, createTestServer, SCIM_TOKEN } from "../../support/server.ts";
import { shared } from "../../support/shared.ts";

const sharedScim = shared(createScimServer, ({ server }) => server);

const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";
const ADA = { schemas: [CORE_USER], userName: "ada@example.com" };

describe("authentication", () => {
  const WAYS: Record<string, string | undefined> = {
    nothing: undefined,
    "a scheme alone": "Bearer",
    "a scheme and blanks": "Bearer   ",
    "the token alone": SCIM_TOKEN,
    "another scheme": `Basic ${btoa(`scim:${SCIM_TOKEN}`)}`,
    "no blank behind the scheme": `Bearer${SCIM_TOKEN}`,
    "an unknown token": "Bearer unknown",
    "a token and more": `Bearer ${SCIM_TOKEN} more`,
    "bytes that are not text": "Bearer \u00ff\u00fe",
    "a header that is too long": `Bearer ${"x".repeat(AUTHORIZATION_LENGTH_MAX)}`,
  };

  test.each(["bearer ", "BEARER   "])("accepts the scheme %p", async (scheme) => {
    const scim = await sharedScim();
    const headers = { authorization: `${scheme}${SCIM_TOKEN}` };
    expect((await scim.ask("GET", "/Users", { token: undefined, headers })).status).toBe(200);
  });

  test.each(Object.entries(WAYS))(
    "SCIM-2 refuses %s with the text of every other refusal",
    async (_, authorization) => {
      const scim = await sharedScim();
      const headers = authorization === undefined ? {} : { authorization };
      const refused = await scim.ask("GET", "/Users", { token: undefined, headers });
      expect(expectRefusal(refused)).toBe("401");
      expect(refused.headers.get("www-authenticate")).toBe('Bearer realm="scim"');
      const missing = await scim.ask("GET", "/Users", { token: undefined });
      expect(refused.text).toBe(missing.text);
      expect(refused.body.detail).toContain("Authorization: Bearer");
    },
  );

  test.each([
    [AUTHORIZATION_LENGTH_MAX - 1, 200],
    [AUTHORIZATION_LENGTH_MAX, 200],
    [AUTHORIZATION_LENGTH_MAX + 1, 401],
  ])("SCIM-5 answers a header of %d characters with %d", async (length, status) => {
    const scim = await sharedScim();
    const authorization = `Bearer${" ".repeat(length - "Bearer".length - SCIM_TOKEN.length)}${SCIM_TOKEN}`;
    expect((await scim.ask("GET", "/Users", { token: undefined, headers: { authorization } })).status).toBe(
      status,
    );
  });

  test("SCIM-2 checks the token before body, id, method and path", async () => {
    const scim = await sharedScim();
    const strangers = async (method: string, path: string, body?: unknown) =>
      (await scim.ask(method, path, { token: "unknown", body })).status;
    expect(await strangers("POST", "/Users", "{")).toBe(401);
    expect(await strangers("GET", "/Users/%ff")).toBe(401);
    expect(await strangers("DELETE", "/Users")).toBe(401);
    expect(await strangers("GET", "/Nothing")).toBe(401);
    expect(await strangers("OPTIONS", "/Users")).toBe(401);
    expect(await strangers("GET", "/Me")).toBe(401);
    expect(await strangers("GET", "/ServiceProviderConfig")).toBe(401);
    expect((await scim.server.request("GET", "/scim/v1/Users")).status).toBe(401);
  });

  test("SCIM-3 fails for every caller if no token is configured", async () => {
    await using scim = await createScimServer({ scimToken: undefined });
    expect((await scim.ask("GET", "/Users")).status).toBe(401);
    expect((await scim.ask("GET", "/Nothing")).status).toBe(401);
  });

  test("fails for every caller if the configured token is blank", async () => {
    await using scim = await createScimServer({ scimToken: "  " });
    for (const authorization of ["Bearer", "Bearer ", "Bearer   "]) {
      expect((await scim.ask("GET", "/Users", { token: undefined, headers: { authorization } })).status).toBe(
        401,
      );
    }
  });
});

describe("the request limit", () => {
  const LIMITS = { requestsPerSecond: 2, requestsBurst: 3 };
  const statuses = async (count: number, send: () => Promise<{ status: number }>) => {
    const found: number[] = [];
    for (let at = 0; at < count; at += 1) found.push((await send()).status);
    return found;
  };

  test("API-3 admits a token's burst immediately, and then its rate per second", async () => {
    await using scim = await createScimServer({ isOwn: true, scim: LIMITS });
    const { clock } = scim.server.world;
    const read = () => scim.ask("GET", "/Users");
    expect(await statuses(4, read)).toEqual([200, 200, 200, 429]);
    const refused = await read();
    expect(expectRefusal(refused)).toBe("429");
    expect(refused.headers.get("retry-after")).toBe("1");
    expect(refused.headers.get("ratelimit-policy")).toBe('"scim.token";q=3;w=2');
    expect(refused.headers.get("ratelimit")).toBe('"scim.token";r=0;t=1');
    clock.advance(SECOND_MS);
    expect(await statuses(3, read)).toEqual([200, 200, 429]);
  });

  test("is separate for each token", async () => {
    await using scim = await createScimServer({ isOwn: true, scim: LIMITS });
    await statuses(4, () => scim.ask("GET", "/Users"));
    const { domain, world } = scim.server;
    const { token } = await domain.scim.tokens.create(world.system, { label: "other", profile: "standard" });
    expect((await scim.ask("GET", "/Users", { token: token.reveal() })).status).toBe(200);
  });

  test("admits a bulk request on the last of the budget and charges its operations afterwards", async () => {
    await using scim = await createScimServer({ isOwn: true, scim: LIMITS });
    const operation = { method: "DELETE", path: `/Users/${UNKNOWN_ID}` };
    await statuses(2, () => scim.ask("GET", "/Users"));
    const bulk = await scim.ask("POST", "/Bulk", { body: { Operations: Array(7).fill(operation) } });
    expect([bulk.status, bulk.body.Operations.length]).toEqual([200, 7]);
    const refused = await scim.ask("GET", "/Users");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "4"]);
    scim.server.world.clock.advance(4 * SECOND_MS);
    expect((await scim.ask("GET", "/Users")).status).toBe(200);
  });

  test("restricts failed authentications of one address and never a caller with a valid token", async () => {
    await using scim = await createScimServer();
    const guess = (address = ADDRESS) => scim.ask("GET", "/Users", { token: "guess", address });
    const found = await statuses(FAILURE_LIMIT.burst + 1, guess);
    expect(found.filter((status) => status === 401)).toHaveLength(FAILURE_LIMIT.burst);
    const refused = await guess();
    expect([expectRefusal(refused), refused.headers.get("retry-after")]).toEqual(["429", "1"]);
    expect(await statuses(1, () => guess("192.0.2.8"))).toEqual([401]);
    expect((await scim.ask("GET", "/Users")).status).toBe(200);
  });
});

describe("a body", () => {
  const post = (scim: ScimServer, body: unknown, headers: Record<string, string> = {}) =>
    scim.ask("POST", "/Users", { body, headers });
  const text = JSON.stringify(ADA);

  test.each([
    ["application/scim+json", 201],
    ["application/json", 201],
    ["Application/SCIM+JSON; Charset=UTF-8; x=y", 201],
    ["", 201],
    ["application/json; charset=latin1", 415],
    ["application/vnd.example+json", 415],
    ["text/plain", 415],
    ["application/x-www-form-urlencoded", 415],
  ])("sent as %p is answered %d", async (type, status) => {
    const scim = await sharedScim();
    const response = await post(scim, text, { "content-type": type });
    expect(response.status).toBe(status);
    if (status === 415)
      expect([expectRefusal(response), response.headers.get("accept")]).toEqual([
        "415",
        expect.stringContaining("application/scim+json"),
      ]);
  });

  test.each([
    ["gzip", Bun.gzipSync(text)],
    ["identity", text],
    ["unknown", text],
  ])("refuses a body with the encoding %s", async (encoding, body) => {
    const scim = await sharedScim();
    const response = await post(scim, body, { "content-encoding": encoding });
    expect([expectRefusal(response), response.headers.get("accept-encoding")]).toEqual(["415", "identity"]);
  });

  test.each([
    ["nothing", ""],
    ["half an object", "{"],
    ["a list", "[]"],
    ["null", "null"],
    ["text", '"x"'],
    ["two objects", "{}{}"],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ["a member twice", '{"userName":"a","USERNAME":"b"}'],
    ["too many levels", `{"a":${"[".repeat(32)}${"]".repeat(32)}}`],
  ])("refuses %s as a malformed body", async (_, body) => {
    const scim = await sharedScim();
    expect(expectRefusal(await post(scim, body))).toBe("400 invalidSyntax");
  });

  test("SCIM-37 may name members of the object prototype, which are treated as unknown", async () => {
    const scim = await sharedScim();
    const body =
      '{"userName":"ada@example.com","__proto__":{"active":false},"constructor":{"prototype":{"x":1}}}';
    const { status, body: made } = await post(scim, body);
    expect([status, made.active, Object.keys(made).includes("constructor")]).toEqual([201, true, false]);
  });

  const sized = (bytes: number, name: string) => {
    const frame = JSON.stringify({ [name]: "sized@example.com", ignored: "" });
    return JSON.stringify({ [name]: "sized@example.com", ignored: "x".repeat(bytes - frame.length) });
  };
  const LIMITS: [path: string, name: string, bytesMax: number][] = [
    ["/Users", "userName", SCIM_BYTES_MAX.scim],
    ["/Users/.search", "ignoredToo", SCIM_BYTES_MAX.scim],
    ["/.search", "ignoredToo", SCIM_BYTES_MAX.scim],
    ["/Groups", "displayName", SCIM_BYTES_MAX["scim-group"]],
    ["/Bulk", "ignoredToo", BULK_PAYLOAD_BYTES_MAX],
  ];

  test.each(LIMITS)("sent to %s is limited in size", async (path, name, bytesMax) => {
    const scim = await sharedScim();
    for (const bytes of [bytesMax - 1, bytesMax]) {
      const { status } = await scim.ask("POST", path, { body: sized(bytes, name) });
      expect([path, bytes, status === 413]).toEqual([path, bytes, false]);
    }
    const declared = await scim.ask("POST", path, { body: sized(bytesMax + 1, name) });
    expect([expectRefusal(declared), declared.body.detail]).toEqual([
      "413",
      expect.stringContaining(`${bytesMax}`),
    ]);
    const chunked = await scim.ask("POST", path, { body: new Blob([sized(bytesMax + 1, name)]).stream() });
    expect(expectRefusal(chunked)).toBe("413");
  });

  test.each([
    ["/Users", SCIM_VALUES_MAX.scim],
    ["/Groups", SCIM_VALUES_MAX.scim],
  ])("sent to %s is limited in the number of its values", async (path, valuesMax) => {
    const scim = await sharedScim();
    for (const more of [-1, 0, 1]) {
      const values = valuesMax + more - 3; // in addition to the object, the list and its name
      const { status, body } = await scim.ask("POST", path, { body: `{"x":[${"1,".repeat(values - 1)}1]}` });
      const refusal = more > 0 ? `more than ${valuesMax} values` : "is missing or blank";
      expect([status, body.detail]).toEqual([400, expect.stringContaining(refusal)]);
    }
  });

  test("leaves no memory behind after a body of many megabytes, even if it is refused", async () => {
    const scim = await sharedScim();
    const members = Array.from({ length: 150_000 }, (_, at) => ({ value: `nobody-${at}-${"x".repeat(50)}` }));
    const body = JSON.stringify({ displayName: "Everybody", members });
    const heapMb = () => heapStats().heapSize / 2 ** 20;
    fullGC();
    const beforeMb = heapMb();
    expect((await scim.ask("POST", "/Groups", { body })).status).toBe(400);
    await until(() => heapMb() - beforeMb < 5);
  });

  test("ignores the body of a DELETE", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    expect((await scim.ask("DELETE", `/Users/${id}`, { body: "{" })).status).toBe(204);
  });
});

describe("a response", () => {
  test("sends the location and version of a resource", async () => {
    const scim = await sharedScim();
    const made = await scim.ask("POST", "/Users", {
      body: ADA,
      headers: { host: "evil.example", "x-forwarded-host": "evil.example" },
    });
    const location = `${BASE_URL}${SCIM_BASE_PATH}/Users/${made.body.id}`;
    const patched = await scim.ask("PATCH", `/Users/${made.body.id}`, {
      body: patchOf({ op: "replace", path: "title", value: "x" }),
    });
    const replaced = await scim.ask("PUT", `/Users/${made.body.id}`, { body: ADA });
    const read = await scim.ask("GET", `/Users/${made.body.id}`);
    for (const [response, status, version] of [
      [made, 201, 1],
      [patched, 200, 2],
      [replaced, 200, 3],
      [read, 200, 3],
    ] as const) {
      const { headers, body } = response;
      expect([response.status, headers.get("location"), headers.get("etag")]).toEqual([
        status,
        location,
        `W/"${version}"`,
      ]);
      expect([body.meta.location, body.meta.version]).toEqual([location, `W/"${version}"`]);
      expect(headers.get("content-type")).toBe("application/scim+json");
    }
    expect(made.headers.get("cache-control")).toBe("no-store");
    expect(read.headers.get("cache-control")).toBe("private, no-cache");
  });

  test("is plain JSON for a caller that accepts nothing else, also for refusals", async () => {
    const scim = await sharedScim();
    const headers = { accept: "application/json" };
    for (const path of ["/Users", `/Users/${UNKNOWN_ID}`, "/Schemas", "/Nothing"]) {
      expect((await scim.ask("GET", path, { headers })).headers.get("content-type")).toBe("application/json");
    }
  });

  test("SCIM-81 answers a group's PATCH with an empty body unless attributes are requested", async () => {
    const scim = await sharedScim();
    const id = await scim.group("Engineering");
    const rename = (displayName: string) => ({
      body: patchOf({ op: "replace", path: "displayName", value: displayName }),
    });
    const plain = await scim.ask("PATCH", `/Groups/${id}`, rename("One"));
    expect([plain.status, plain.text, plain.headers.get("content-type")]).toEqual([204, "", null]);
    expect([plain.headers.get("etag"), plain.headers.get("cache-control")]).toEqual(['W/"2"', "no-store"]);
    const parameters = await scim.ask("PATCH", `/Groups/${id}?attributes=displayName`, rename("Two"));
    expect([parameters.status, parameters.body.displayName, parameters.headers.get("etag")]).toEqual([
      200,
      "Two",
      'W/"3"',
    ]);
  });

  test("answers a DELETE with an empty body, and a second DELETE with 404", async () => {
    const scim = await sharedScim();
    for (const path of [
      `/Users/${await scim.user("ada@example.com")}`,
      `/Groups/${await scim.group("Engineering")}`,
    ]) {
      const gone = await scim.ask("DELETE", path);
      expect([gone.status, gone.text, gone.headers.get("content-type")]).toEqual([204, "", null]);
      expect(expectRefusal(await scim.ask("DELETE", path))).toBe("404");
      expect(expectRefusal(await scim.ask("GET", path))).toBe("404");
    }
  });
});

describe("conditional requests", () => {
  test.each([
    ['W/"1"', 304],
    ['"1"', 304],
    ["W/1", 304],
    ["1", 304],
    ["*", 304],
    ['W/"7", W/"1"', 304],
    ['W/"2"', 200],
    ['W/"11"', 200],
  ])("SCIM-96 a GET with If-None-Match %s is answered %d", async (known, status) => {
    const scim = await sharedScim();
    for (const path of [
      `/Users/${await scim.user("ada@example.com")}`,
      `/Groups/${await scim.group("Engineering")}`,
    ]) {
      const response = await scim.ask("GET", path, { headers: { "if-none-match": known } });
      expect([response.status, response.headers.get("etag")]).toEqual([status, 'W/"1"']);
      if (status === 304) expect([response.text, response.headers.get("content-type")]).toEqual(["", null]);
    }
  });

  test.each([
    ['W/"1"', true],
    ['"1"', true],
    ["*", true],
    ['W/"2"', false],
    ['W/"2", W/"3"', false],
  ])("a change with If-Match %s succeeds: %p", async (known, goesThrough) => {
    const scim = await sharedScim();
    const headers = { "if-match": known };
    const changes: [method: string, path: string, body?: object][] = [];
    for (const type of ["Users", "Groups"]) {
      const body = type === "Users" ? ADA : { displayName: "Engineering" };
      const { body: made } = await scim.ask("POST", `/${type}`, { body });
      const path = `/${type}/${made.id}`;
      const patch = patchOf({ op: "replace", path: "externalId", value: "same" });
      changes.push(["PUT", path, body], ["PATCH", path, patch]);
    }
    for (const [method, path, body] of changes) {
      const response = await scim.ask(method, path, { body, headers });
      expect([method, response.status < 300]).toEqual([method, goesThrough]);
      if (!goesThrough) expect(expectRefusal(response)).toBe("412");
    }
    const path = changes[0]?.[1] ?? "";
    const removed = await scim.ask("DELETE", path, { headers: { "if-match": goesThrough ? "*" : known } });
    expect(removed.status).toBe(goesThrough ? 204 : 412);
  });
});

describe("paths and methods", () => {
  const ALLOWED: [path: string, allow: string, taken: string[]][] = [
    ["/Users", "GET, POST, HEAD, OPTIONS", ["GET", "POST"]],
    ["/Users/", "GET, POST, HEAD, OPTIONS", ["GET", "POST"]],
    ["/Groups", "GET, POST, HEAD, OPTIONS", ["GET", "POST"]],
    [`/Users/${UNKNOWN_ID}`, "GET, PUT, PATCH, DELETE, HEAD, OPTIONS", ["GET", "PUT", "PATCH", "DELETE"]],
    [`/Groups/${UNKNOWN_ID}`, "GET, PUT, PATCH, DELETE, HEAD, OPTIONS", ["GET", "PUT", "PATCH", "DELETE"]],
    ["/ServiceProviderConfig", "GET, HEAD, OPTIONS", ["GET"]],
    ["/ResourceTypes", "GET, HEAD, OPTIONS", ["GET"]],
    ["/ResourceTypes/User", "GET, HEAD, OPTIONS", ["GET"]],
    ["/Schemas", "GET, HEAD, OPTIONS", ["GET"]],
    [`/Schemas/${CORE_USER}`, "GET, HEAD, OPTIONS", ["GET"]],
    ["/.search", "POST, OPTIONS", ["POST"]],
    ["/Users/.search", "POST, OPTIONS", ["POST"]],
    ["/Groups/.search", "POST, OPTIONS", ["POST"]],
    ["/", "GET, HEAD, OPTIONS", ["GET"]],
    ["", "GET, HEAD, OPTIONS", ["GET"]],
    ["/Bulk", "POST, OPTIONS", ["POST"]],
  ];

  test.each(ALLOWED)("%s accepts %s", async (path, allow, taken) => {
    const scim = await sharedScim();
    const options = await scim.ask("OPTIONS", path);
    expect([options.status, options.headers.get("allow"), options.text]).toEqual([204, allow, ""]);
    expect(options.headers.get("content-type")).toBeNull();
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "PROPFIND", "TRACE"]) {
      const response = await scim.ask(
        method,
        path,
        method === "POST" || method.startsWith("P") ? { body: {} } : {},
      );
      expect([method, response.status === 405]).toEqual([method, !taken.includes(method)]);
      if (response.status === 405)
        expect([expectRefusal(response), response.headers.get("allow")]).toEqual(["405", allow]);
    }
    const head = await scim.ask("HEAD", path);
    expect(head.status === 405).toBe(!taken.includes("GET"));
  });

  test.each([
    "/Nothing",
    "/users",
    "/USERS",
    "/Users/a/b",
    "//Users",
    "/Users//",
    "/%ff",
    "/Users/%ff",
    "/Users/%zz",
    "/Users/not-an-id",
    `/Users/${"a".repeat(5_000)}`,
    `/Users/${UNKNOWN_ID.toUpperCase()}`,
    `/Users/${UNKNOWN_ID}%20`,
    "/Users/__proto__",
    "/Groups/constructor",
    "/ResourceTypes/user",
    "/ResourceTypes/__proto__",
    "/Schemas/urn:nothing",
    "/Schemas/%ff",
    "/Me/more",
  ])("%s is not found", async (path) => {
    const scim = await sharedScim();
    expect(expectRefusal(await scim.ask("GET", path))).toBe("404");
  });

  test("an id in capital letters is a different id", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    expect((await scim.ask("GET", `/Users/${id.toUpperCase()}`)).status).toBe(404);
    expect((await scim.ask("GET", `/Groups/${id}`)).status).toBe(404);
  });

  test.each([
    ["/scim/v1/Users", "400 invalidVers"],
    ["/scim/v1", "400 invalidVers"],
    ["/scim/v2.0/Users", "400 invalidVers"],
    ["/scim/V2/Users", "400 invalidVers"],
    ["/scim/v11/Users?x=/scim/v2", "400 invalidVers"],
    ["/scim/Users", "404"],
    ["/scim", "404"],
    ["/scim/", "404"],
    ["/scim/vX", "404"],
    ["/scim/x?/scim/v1/", "404"],
  ])("%s is answered %s", async (path, refusal) => {
    const scim = await sharedScim();
    expect(expectRefusal(await answered(await scim.server.request("GET", path, { token: SCIM_TOKEN })))).toBe(
      refusal,
    );
  });

  test.each(["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "%s /Me is refused because a token has no user",
    async (method) => {
      const scim = await sharedScim();
      expect(expectRefusal(await scim.ask(method, "/Me"))).toBe("501");
    },
  );
});

describe("a query", () => {
  test("refuses a secret in the query of any path", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    const secret = `access_token=${SCIM_TOKEN}`;
    const paths: [method: string, path: string, body?: object][] = [
      ["GET", "/Users"],
      ["GET", `/Users/${id}`],
      ["POST", "/Users", ADA],
      ["PUT", `/Users/${id}`, ADA],
      ["PATCH", `/Users/${id}`, patchOf({ op: "add", path: "title", value: "x" })],
      ["DELETE", `/Users/${id}`],
      ["GET", "/"],
      ["POST", "/.search", {}],
      ["GET", "/Schemas"],
      ["POST", "/Bulk", { Operations: [{ method: "DELETE", path: `/Users/${id}` }] }],
    ];
    for (const [method, path, body] of paths) {
      const response = await scim.ask(method, `${path}?${secret}`, { body });
      expect([method, path, expectRefusal(response)]).toEqual([method, path, "400 sensitive"]);
      expect(response.text).not.toContain(SCIM_TOKEN);
    }
    expect((await scim.ask("GET", `/Users/${id}`)).body.meta.version).toBe('W/"1"');
  });

  test("refuses a malformed query", async () => {
    const scim = await sharedScim();
    expect(expectRefusal(await scim.ask("GET", "/Users?filter=%zz"))).toBe("400 invalidSyntax");
  });

  test("may have unknown parameters", async () => {
    const scim = await sharedScim();
    expect((await scim.ask("GET", "/Users?aadOptscim062020&x=%20")).status).toBe(200);
  });

  test("answers a query in a message like one in a URL", async () => {
    const scim = await sharedScim();
    await scim.user("ada@example.com");
    await scim.user("ben@example.com");
    await scim.group("Engineering");
    const parameters = { filter: 'userName sw "b"', attributes: ["userName"], startIndex: 1, count: 5 };
    const inUrl = `filter=${encodeURIComponent(parameters.filter)}&attributes=userName&startIndex=1&count=5`;
    for (const [path, search] of [
      ["/Users", "/Users/.search"],
      ["/", "/.search"],
    ]) {
      const found = await scim.ask("POST", search ?? "", {
        body: { schemas: [SEARCH_REQUEST], ...parameters },
      });
      const listed = await scim.ask("GET", `${path}?${inUrl}`);
      expect([found.status, found.body.totalResults]).toEqual([200, 1]);
      expect(found.text).toBe(listed.text);
      expect(found.headers.get("cache-control")).toBe("no-store");
    }
    const all = await scim.ask("GET", "/?attributes=id");
    expect(all.body.totalResults).toBe(3);
  });

  test("refuses a query that needs a scan of too many resources early", async () => {
    await using scim = await createScimServer({ scim: { scanRowsMax: 1 } });
    await scim.user("ada@example.com");
    await scim.user("ben@example.com");
    const filter = 'title co "x"';
    const refusals = [
      await scim.ask("GET", `/Users?filter=${encodeURIComponent(filter)}`),
      await scim.ask("POST", "/.search", { body: { filter } }),
    ];
    expect(refusals.map(expectRefusal)).toEqual(["400 tooMany", "400 tooMany"]);
  });

  test("is refused while too many other requests wait", async () => {
    const scim = await sharedScim();
    await scim.user("ada@example.com");
    const path = `/Users?filter=${encodeURIComponent('title co "x"')}`;
    const waiting = Array.from({ length: SCANS_WAITING_MAX + 5 }, () => scim.ask("GET", path));
    const responses = await Promise.all(waiting);
    const refused = responses.filter(({ status }) => status !== 200);
    expect(refused.length).toBeGreaterThan(0);
    for (const response of refused) {
      expect([expectRefusal(response), response.headers.get("retry-after")]).toEqual([
        "503",
        expect.any(String),
      ]);
    }
  });

  test("refuses a query in a message of another kind", async () => {
    const scim = await sharedScim();
    const body = { schemas: [CORE_USER] };
    expect(expectRefusal(await scim.ask("POST", "/.search", { body }))).toBe("400 invalidSyntax");
    expect(expectRefusal(await scim.ask("POST", "/.search", { body: { count: "x" } }))).toBe(
      "400 invalidValue",
    );
  });
});

describe("discovery", () => {
  const PATHS = [
    "/ServiceProviderConfig",
    "/ResourceTypes",
    "/ResourceTypes/User",
    "/Schemas",
    `/Schemas/${CORE_USER}`,
  ];

  test.each(PATHS)("SCIM-116 %s is unchanged until the configuration changes", async (path) => {
    const scim = await sharedScim();
    const first = await scim.ask("GET", path);
    const etag = first.headers.get("etag") ?? "";
    expect([first.status, first.headers.get("cache-control")]).toEqual([200, "private, no-cache"]);
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(first.headers.get("location")).toBe(`${BASE_URL}${SCIM_BASE_PATH}${path}`);
    const again = await scim.ask("GET", path, { headers: { "if-none-match": etag } });
    expect([again.status, again.text, again.headers.get("etag")]).toEqual([304, "", etag]);
    expect((await scim.ask("GET", path, { headers: { "if-none-match": '"other"' } })).text).toBe(first.text);
  });

  test.each(PATHS)("%s refuses a filter and ignores paging", async (path) => {
    const scim = await sharedScim();
    expect(expectRefusal(await scim.ask("GET", `${path}?filter=id%20pr`))).toBe("403");
    const plain = await scim.ask("GET", path);
    expect((await scim.ask("GET", `${path}?startIndex=2&count=0&sortBy=x`)).text).toBe(plain.text);
  });

  test("shows the requested attributes", async () => {
    const scim = await sharedScim();
    const { body } = await scim.ask("GET", "/ServiceProviderConfig?attributes=patch");
    expect([Object.keys(body), body.patch.supported]).toEqual([["schemas", "patch"], true]);
  });
});

describe("HEAD", () => {
  test("returns the status and headers of GET", async () => {
    const scim = await sharedScim();
    const id = await scim.user("ada@example.com");
    for (const path of ["/Users", `/Users/${id}`, "/Schemas", "/Nothing", `/Users/${UNKNOWN_ID}`]) {
      const fixed = ({ headers }: { headers: Headers }) =>
        [...headers].filter(([name]) => name !== "x-request-id");
      const [head, get] = [await scim.ask("HEAD", path), await scim.ask("GET", path)];
      expect([path, head.status, fixed(head)]).toEqual([path, get.status, fixed(get)]);
    }
  });
});

describe("an internal error", () => {
  test("is answered as a SCIM error without details", async () => {
    await using scim = await createScimServer();
    const id = await scim.user("ada@example.com");
    const { db } = scim.server.world;
    await db.close();
    for (const [method, path, body] of [
      ["GET", `/Users/${id}`],
      ["GET", "/Users"],
      ["POST", "/Users", ADA],
    ] as const) {
      const response = await scim.ask(method, path, { body });
      expect([response.status, response.body.scimType]).toEqual([500, undefined]);
      expect(response.text).not.toMatch(/database|sqlite|statement|closed/i);
      expect(expectRefusal(response)).toBe("500");
    }
  });
});

test("a starting service answers providers in SCIM format and others in theirs", async () => {
  const ask = async (path: string) => await answered(startingResponse(new Request(`${BASE_URL}${path}`)));
  const scim = await ask("/scim/v2/Users?startIndex=1");
  expect([expectRefusal(scim), scim.headers.get("retry-after")]).toEqual(["503", "1"]);
  const other = await ask("/admin/users");
  expect([other.status, other.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
});

test("a busy database answers with Retry-After", async () => {
  await using scim = await createScimServer();
  const { world } = scim.server;
  const impatient = openDatabase(world.file, { busyTimeoutMs: 1 });
  await using second = await createTestServer({ world: { ...world, db: impatient } });
  using other = openConnection(world.file, {});
  other.run("BEGIN IMMEDIATE");
  const sent = { token: SCIM_TOKEN, body: ADA };
  const refused = await answered(await second.request("POST", `${SCIM_BASE_PATH}/Users`, sent));
  expect([expectRefusal(refused), refused.headers.get("retry-after")]).toEqual(["503", "1"]);
  other.run("ROLLBACK");
  await impatient.close();
});

describe("a large group", () => {
  const MEMBERS = WHOLE_GROUP_MEMBERS_MAX + 1;

  /** @returns the group's id */
  async function largeGroup({ server: { world } }: ScimServer): Promise<string> {
    const members = await addScimUsers(world, MEMBERS);
    return await addProvisionedGroup(world, "Everybody", { members });
  }

  test("is streamed as one document, and a reader that disconnects frees its place", async () => {
    await using scim = await createScimServer();
    const path = `${SCIM_BASE_PATH}/Groups/${await largeGroup(scim)}`;
    const read = () => scim.server.request("GET", path, { token: SCIM_TOKEN });
    for (let round = 0; round < 3; round += 1) {
      const reader = (await read()).body?.getReader();
      expect((await reader?.read())?.done).toBe(false);
      await reader?.cancel();
    }
    const { body, headers } = await answered(await read());
    expect(body.members).toHaveLength(MEMBERS);
    expect(new Set(body.members.map(({ value }: { value: string }) => value)).size).toBe(MEMBERS);
    expect([headers.get("etag"), headers.get("location")]).toEqual(['W/"1"', body.meta.location]);
  });
});

describe("the SCIM status", () => {
  test("SCIM-33 shows requests refused for their content, and no others", async () => {
    await using scim = await createScimServer();
    const { db, domain, world } = { ...scim.server, db: scim.server.world.db };
    await scim.user("ada@example.com");
    const parameters = [
      await scim.ask("POST", "/Users", { body: ADA }),
      await scim.ask("GET", "/Users?filter=nonsense"),
      await scim.ask("GET", "/Users/nobody"),
      await scim.ask("GET", "/Users?filter=nonsense", { token: "guess" }),
      await scim.ask("GET", "/Users"),
    ];
    expect(parameters.map(({ status }) => status)).toEqual([409, 400, 404, 401, 200]);
    await db.write(() => undefined, "unobserved");
    const kept = domain.scim.status(world.organizationId).refusals;
    const [taken, nonsense] = parameters;
    const shared = { atMs: world.clock.nowMs(), actor: "scim:configured", route: `${SCIM_BASE_PATH}/Users` };
    expect(kept).toEqual([
      {
        ...shared,
        requestId: nonsense?.headers.get("x-request-id") ?? "",
        method: "GET",
        status: 400,
        scimType: "invalidFilter",
        detail: nonsense?.body.detail,
      },
      {
        ...shared,
        requestId: taken?.headers.get("x-request-id") ?? "",
        method: "POST",
        status: 409,
        scimType: "uniqueness",
        detail: taken?.body.detail,
      },
    ]);
  });
});

describe("the log", () => {
  const lines = ({ server }: ScimServer) => server.logged.filter(({ event }) => event === "scim.answered");

  test("has one line for each request, with the necessary members and no secret", async () => {
    await using scim = await createScimServer();
    const headers = { "user-agent": "Okta SCIM Client 1.0.0" };
    const made = await scim.ask("POST", "/Users", { body: { ...ADA, password: "hunter2" }, headers });
    await scim.ask("GET", `/Users/${made.body.id}`);
    await scim.ask("GET", "/Users?filter=nonsense");
    await scim.ask("GET", "/Users/ada@example.com");
    await scim.ask("GET", "/Users", { token: "guess" });
    const token = "scim:configured";
    expect(lines(scim)).toMatchObject([
      {
        method: "POST",
        route: `${SCIM_BASE_PATH}/Users`,
        status: 201,
        token,
        provider: "okta",
        resource_id: made.body.id,
      },
      { method: "GET", route: `${SCIM_BASE_PATH}/Users/:id`, status: 200, token, resource_id: made.body.id },
      { method: "GET", route: `${SCIM_BASE_PATH}/Users`, status: 400, token, scim_type: "invalidFilter" },
      { method: "GET", route: `${SCIM_BASE_PATH}/Users/:id`, status: 404, token },
      { method: "GET", route: `${SCIM_BASE_PATH}/Users`, status: 401 },
    ]);
    for (const line of lines(scim)) expect([line.level, typeof line.duration_ms]).toEqual(["info", "number"]);
    const all = JSON.stringify(scim.server.logged);
    for (const secret of [SCIM_TOKEN, "hunter2", "guess", "ada@example.com"])
      expect(all).not.toContain(secret);
  });

  const odd = { shoeSize: 43, "urn:x:y": { a: 1 }, [ENTERPRISE_USER]: { pet: "cat", department: "D" } };
  const known = { ...ADA, id: "x", meta: {}, groups: [], password: "p", "name.givenName": "A" };
  const patch = [
    { op: "add", value: odd },
    { op: "add", path: "title", value: "x" },
  ];
  const create = (name: string, path: string, data: object) => ({
    method: "post",
    path,
    bulkId: name,
    data: { ...data, userName: `${name}@example.com`, displayName: name },
  });

  test.each<[string, string, object, number | undefined]>([
    ["POST", "/Users", { ...known, ...odd }, 3],
    ["POST", "/Users", known, undefined],
    ["PUT", "/Users/:id", { ...known, ...odd }, 3],
    ["PATCH", "/Users/:id", { Operations: patch }, 3],
    ["PATCH", "/Users/:id", { Operations: "none" }, undefined],
    ["POST", "/Groups", { displayName: "G", userName: "x", members: [] }, 1],
    ["POST", "/Bulk", { Operations: [create("b", "/Users", odd), create("c", "/Groups", odd), null] }, 7],
    ["POST", "/Bulk", { Operations: {} }, undefined],
  ])("counts the unknown attributes of %s %s with %j", async (method, path, body, count) => {
    await using scim = await createScimServer();
    await scim.ask(method, path.replace(":id", UNKNOWN_ID), { body });
    expect(lines(scim).map((line) => line.ignored_attributes)).toEqual([count]);
  });

  test("has no line for other paths", async () => {
    await using server = await createTestServer();
    await server.request("GET", "/health");
    await server.request("GET", "/scimitar");
    expect(server.logged.filter(({ event }) => event === "scim.answered")).toEqual([]);
  });
});
