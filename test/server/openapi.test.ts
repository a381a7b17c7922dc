// The API document: valid by OpenAPI's own schema, complete, and consistent with the actual responses.
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import Ajv, { type ValidateFunction } from "ajv/dist/2020";
import addFormats from "ajv-formats";
import { type DocumentedRoute, isShown, type RouteDetail } from "../../src/server/openapi.ts";
import { promisesOf } from "../support/network/api-promises.ts";
import { type Caller, createTestServer, type TestServer } from "../support/server.ts";

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  security?: unknown[];
  parameters: { name: string; in: string; required: boolean; schema: Record<string, unknown> }[];
  requestBody?: { content: Record<string, { schema: object }> };
  responses: Record<string, { $ref?: string; content?: Record<string, { schema: object }> }>;
}

interface Document {
  openapi: string;
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { responses: Record<string, unknown>; schemas: Record<string, object> };
}

const documentOf = async ({ request }: TestServer): Promise<Document> =>
  await (await request("GET", "/openapi.json")).json();

const operationOf = (document: Document, { method, path }: DocumentedRoute): Operation | undefined =>
  document.paths[path.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()];

/** Members that a route's description leaves out. */
function gapsOf({ operationId, summary, tags, "x-answers": responses = {} }: RouteDetail): string[] {
  return [
    ...(operationId ? [] : ["operationId"]),
    ...(summary ? [] : ["summary"]),
    ...(tags?.length === 1 ? [] : ["one tag"]),
    ...(Object.keys(responses).length > 0 ? [] : ["an answer"]),
  ];
}

test("the document is valid OpenAPI 3.1", async () => {
  await using testServer = await createTestServer();
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...(await documentOf(testServer)) });
  expect(errors ?? []).toEqual([]);
  expect([valid, validator.version]).toEqual([true, "3.1"]);
});

test("an invalid document is rejected", async () => {
  await using testServer = await createTestServer();
  const document = await documentOf(testServer);
  const broken = { ...document, paths: { "/health": { get: { responses: { 200: { text: "ok" } } } } } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

test("every route has a description and a unique operation id", async () => {
  await using testServer = await createTestServer();
  const shown = (await testServer.server.allRoutes()).filter(isShown);
  const gaps = shown.map(({ method, path, hooks }) => [method, path, ...gapsOf(hooks.detail ?? {})]);
  expect(gaps.filter(({ length }) => length > 2)).toEqual([]);
  const ids = shown.map(({ hooks }) => hooks.detail?.operationId);
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  expect(gapsOf({})).toEqual(["operationId", "summary", "one tag", "an answer"]);
});

test("operations document the headers they read and the resulting responses", async () => {
  await using testServer = await createTestServer();
  const { paths } = await documentOf(testServer);
  const takenBy = (operation: Operation | undefined) =>
    operation?.parameters.filter((parameter) => parameter.in === "header").map(({ name }) => name);
  const user = paths["/admin/users/{id}"];
  expect([takenBy(user?.get), user?.get?.responses["304"] !== undefined]).toEqual([["If-None-Match"], true]);
  expect([takenBy(user?.patch), user?.patch?.responses["412"] !== undefined]).toEqual([["If-Match"], true]);
  const invitation = paths["/admin/invitations"]?.post;
  expect([takenBy(invitation), invitation?.responses["422"] !== undefined]).toEqual([
    ["Idempotency-Key"],
    true,
  ]);
});

test("every route is in the document, with its parameters, body and refusals", async () => {
  await using testServer = await createTestServer();
  const document = await documentOf(testServer);
  for (const route of (await testServer.server.allRoutes()).filter(isShown)) {
    const operation = operationOf(document, route);
    const { "x-requires": requires, "x-accepts": accepts } = route.hooks.detail ?? {};
    const statuses = Object.keys(operation?.responses ?? {});
    const inPath = operation?.parameters.filter((parameter) => parameter.in === "path");
    expect(inPath?.map(({ name }) => `:${name}`)).toEqual([...route.path.matchAll(/:\w+/g)].map(String));
    if (requires !== "nobody") expect(statuses).toEqual(expect.arrayContaining(["401", "403"]));
    if (accepts === "json") {
      expect(Object.keys(operation?.requestBody?.content ?? {})).toEqual(["application/json"]);
      expect(statuses).toEqual(expect.arrayContaining(["400", "413", "415", "422"]));
    }
    if (accepts?.startsWith("scim")) {
      expect(Object.keys(operation?.requestBody?.content ?? {})).toEqual(["application/scim+json"]);
      expect(statuses).toEqual(expect.arrayContaining(["400", "413", "415"]));
    }
  }
});

/** The security schemes in the document, by the requirement of the guard. */
const SECURITY: Record<string, unknown[]> = {
  nobody: [],
  session: [{ browserSession: [] }],
  scim: [{ scimBearer: [] }],
  proxy: [{ proxyBearer: [] }],
  workstation: [{ oauthDevice: ["governance:read"] }],
};
const eitherCaller = (scopes: string[]) => [{ oauthDevice: scopes }, { browserSession: [] }];
const NO_SCOPE = new Set(["anyone", "administrator", "metrics"]);

test("every route documents the credential that its guard requires", async () => {
  await using testServer = await createTestServer();
  const document = await documentOf(testServer);
  const seen = new Set<string>();
  for (const route of (await testServer.server.allRoutes()).filter(isShown)) {
    const requires = String(route.hooks.detail?.["x-requires"]);
    const expected = SECURITY[requires] ?? eitherCaller(NO_SCOPE.has(requires) ? [] : [requires]);
    expect([route.path, operationOf(document, route)?.security]).toEqual([route.path, expected]);
    seen.add(requires);
  }
  expect([...seen]).toEqual(expect.arrayContaining([...Object.keys(SECURITY), "anyone", "administrator"]));
});

test("the document includes its server and list parameters and no internals", async () => {
  await using testServer = await createTestServer();
  const document = await documentOf(testServer);
  expect(document.servers).toEqual([{ url: "https://control.example.com" }]);
  const list = document.paths["/admin/users"]?.get;
  const inQuery = list?.parameters.filter((parameter) => parameter.in === "query");
  const taken = inQuery?.map(({ name, required, schema }) => [name, required, schema.type, schema.enum]);
  expect(taken).toEqual([
    ["page", false, "integer", undefined],
    ["per_page", false, "integer", undefined],
    ["q", false, "string", undefined],
    ["role", false, "string", ["admin", "member"]],
    ["status", false, "string", ["active", "suspended", "removed"]],
    ["provisioning_source", false, "string", ["local", "scim"]],
    ["group", false, "string", undefined],
    ["workstations", false, "string", ["none"]],
    ["not_seen_for_days", false, "integer", undefined],
  ]);
  expect(document.paths["/admin/users/{id}"]?.get?.parameters[0]?.schema).toMatchObject({ format: "uuid" });
  expect(JSON.stringify(document)).not.toMatch(/"x-(?:requires|accepts|answers|headers)"/);
});

/** The promises of the last release. QUARTERMASTER_UPDATE_GOLDEN=1 writes it again, when the next release is made. */
const RELEASED = join(import.meta.dir, "fixtures/released-api.txt");

/** @returns what callers of the released API would miss, or would have to send that was not required before */
function breaksOf(released: readonly string[], now: readonly string[]): string[] {
  const accepted = new Set(now.flatMap(typeByType));
  const isKept = (line: string) => now.includes(line) || typeByType(line).every((one) => accepted.has(one));
  const isLasting = (line: string) => !/^\w+ GET \/assets\//.test(line); // named after their content
  const isPromise = (line: string) => !line.startsWith("needs ") && isLasting(line);
  const lost = released.filter((line) => isPromise(line) && !isKept(line));
  const operationIn = (line: string): string => line.split(" ").slice(1, 3).join(" ");
  const known = new Set(released.map(operationIn));
  const wanted = now.filter((line) => line.startsWith("needs ") && known.has(operationIn(line)));
  return [...lost, ...wanted.filter((line) => !released.includes(line))];
}

/** @returns a line for each accepted type: an additional one breaks no caller */
function typeByType(line: string): string[] {
  if (!line.startsWith("takes ")) return [line];
  const at = line.lastIndexOf(" ");
  return line
    .slice(at + 1)
    .split("|")
    .map((type) => `${line.slice(0, at)} ${type}`);
}

test("API-5: keeps everything that the last release documented", async () => {
  await using testServer = await createTestServer();
  const now = promisesOf(await (await testServer.request("GET", "/openapi.json")).json());
  if (process.env.QUARTERMASTER_UPDATE_GOLDEN === "1") writeFileSync(RELEASED, `${now.join("\n")}\n`);
  const released = readFileSync(RELEASED, "utf8").trimEnd().split("\n");
  expect(breaksOf(released, now)).toEqual([]);
});

test("detects removed paths, members and statuses and newly required input, and allows additions", () => {
  const released = ["takes GET /a", "gives GET /a 200", "gives GET /a 200 id string", "needs GET /a query q"];
  expect(breaksOf(released, [...released, "takes PUT /b", "needs PUT /b body name string"])).toEqual([]);
  expect(breaksOf(released, released.slice(0, -1))).toEqual([]);
  expect(breaksOf(released, released.slice(1))).toEqual(["takes GET /a"]);
  expect(breaksOf(["takes GET /assets/1-style.css"], ["takes GET /assets/2-style.css"])).toEqual([]);
  expect(breaksOf(released, [...released, "needs GET /a query page"])).toEqual(["needs GET /a query page"]);
  const size = "takes PUT /a body size null|number";
  expect(breaksOf([size], ["takes PUT /a body size null|number|string"])).toEqual([]);
  expect(breaksOf([size], ["takes PUT /a body size number"])).toEqual([size]);
});

/** The schemas themselves are validated with the whole document. */
const ajv = addFormats(new Ajv({ strict: false, allErrors: true, validateSchema: false }));

/** @returns what is wrong with a body by the schema in the document */
/** Compiled once for all responses of one schema. */
const checks = new Map<string, ValidateFunction>();

function mismatchesOf(document: Document, schema: object, body: unknown): unknown[] {
  const text = JSON.stringify(schema);
  const check = checks.get(text) ?? ajv.compile({ ...schema, components: document.components });
  checks.set(text, check);
  return check(body) ? [] : (check.errors ?? []);
}

/** A page with an error, or a redirect. Programs do not read it. */
const isForPeople = ({ status, headers }: Response): boolean =>
  status === 303 || (status >= 400 && (headers.get("content-type") ?? "").startsWith("text/html"));

/** Rows for the routes that name one. */
async function fill(
  { request, domain, world }: TestServer,
  { accessToken: token, user }: Caller,
): Promise<string[]> {
  const invited = await request("POST", "/admin/invitations", {
    token,
    body: { email: "new@example.com", role: "member" },
  });
  const { id } = await invited.json();
  await request("PUT", "/admin/branding", { token, body: { logo_url: "https://example.com/logo.svg" } });
  await domain.governance.deployments.apply(world.system, undefined);
  return [user.id, id, "codex"];
}

test("GET responses match the document", async () => {
  await using testServer = await createTestServer();
  const document = await documentOf(testServer);
  const admin = await testServer.signedIn("admin");
  const ids = await fill(testServer, admin);
  const checked: string[] = [];
  for (const route of (await testServer.server.allRoutes()).filter(({ method }) => method === "GET")) {
    for (const id of route.path.includes(":") ? ids : [""]) {
      const path = route.path.replaceAll(/:\w+/g, id);
      const response = await testServer.request("GET", path, { cookie: admin.cookie });
      if (isForPeople(response)) continue;
      const answer = operationOf(document, route)?.responses[String(response.status)];
      expect([path, response.status, answer !== undefined]).toEqual([path, response.status, true]);
      const mediaType = (response.headers.get("content-type") ?? "").split(";")[0] ?? "";
      const schema = answer?.content?.[mediaType]?.schema;
      if (mediaType === "text/event-stream") await response.body?.cancel(); // it never ends
      if (response.status !== 200 || schema === undefined || response.bodyUsed) continue;
      const text = await response.text();
      const body = mediaType === "application/json" ? JSON.parse(text) : text;
      expect([path, mismatchesOf(document, schema, body)]).toEqual([path, []]);
      checked.push(route.path);
    }
  }
  expect(checked).toEqual(
    expect.arrayContaining([
      "/admin/users/:id",
      "/admin/invitations/:id",
      "/auth/me",
      "/admin/governance-config",
      "/admin/governance-config/revisions",
      "/admin/harnesses/:harness/managed-config",
      "/admin/harnesses/managed-configs",
      "/admin/blue-config/export",
    ]),
  );
});

test("the document omits only routes that always refuse", async () => {
  await using testServer = await createTestServer();
  const hidden = (await testServer.server.allRoutes()).filter((route) => !isShown(route));
  expect(hidden.length).toBeGreaterThan(0);
  expect(hidden.filter(({ method }) => method !== "ALL")).toEqual([]);
  const { paths } = await documentOf(testServer);
  expect(Object.values(paths).flatMap((methods) => Object.keys(methods))).not.toContain("all");
});

test("refusals match the document", async () => {
  await using testServer = await createTestServer();
  const document = await documentOf(testServer);
  const { accessToken: token } = await testServer.signedIn("admin");
  const body = await (await testServer.request("GET", "/admin/users?page=x", { token })).json();
  expect(mismatchesOf(document, { $ref: "#/components/schemas/Problem" }, body)).toEqual([]);
  expect(mismatchesOf(document, { $ref: "#/components/schemas/Problem" }, { error: "x" })).not.toEqual([]);
});
