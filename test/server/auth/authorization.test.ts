// Every route with every kind of caller: who is refused and how, and that the request is not read before.
import { afterAll, beforeEach, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { SESSION_COOKIE, USER_SCOPES } from "../../../src/domain/access/wire.ts";
import type { Domain } from "../../../src/domain/domain.ts";
import { users } from "../../../src/domain/identity/tables.ts";
import type { NewScimToken } from "../../../src/domain/scim/tokens/tokens.ts";
import { HOUR_MS } from "../../../src/platform/clock.ts";
import { createGuard, type Requirement } from "../../../src/server/auth/guard.ts";
import { canReadMetrics } from "../../../src/server/auth/metrics-access.ts";
import { TokenVerificationLimit } from "../../../src/server/auth/token-verification-limit.ts";
import { BODY_BYTES_MAX } from "../../../src/server/http/bodies/body.ts";
import { type DocumentedRoute, operation } from "../../../src/server/openapi.ts";
import { createRouter } from "../../../src/server/router.ts";
import { createGatewayServer, PROXY_TOKEN } from "../../support/gateway/gateway-server.ts";
import {
  BASE_URL,
  type Caller,
  METRICS_TOKEN,
  SCIM_TOKEN,
  type Sent,
  type TestServer,
} from "../../support/server.ts";
import type { World } from "../../support/world.ts";

type Verdict = 401 | 403 | "through";

interface Case {
  send(testServer: TestServer): Promise<Sent & { query?: string }>;
  /** for every requirement except `nobody`; by default `scim` is refused */
  verdict(requirement: Requirement, method: string, path: string): Verdict;
  provider?: "through";
  /** by default the proxy's own routes are refused */
  proxy?: "through";
}

const isRole = (requirement: Requirement): boolean =>
  requirement === "administrator" || requirement === "metrics";
const refused = (): Verdict => 401;
/** Operations for a browser session only: tokens are refused. */
const isBrowsers = (requirement: Requirement): boolean => requirement === "session";
/** Operations for workstations only: cookies are refused. */
const isWorkstations = (requirement: Requirement): boolean => requirement === "workstation";
const everywhere = (requirement: Requirement): Verdict => (isWorkstations(requirement) ? 401 : "through");
const asMember = (requirement: Requirement): Verdict => (isRole(requirement) ? 403 : everywhere(requirement));
/** A GET that binds a login to its caller: a page of another site may not send it. */
const isBinding = (path: string): boolean => path === "/api/device/:token";
const asForeignPage = (requirement: Requirement, method: string, path: string): Verdict =>
  method === "GET" && !isBinding(path) ? everywhere(requirement) : 403;
const holding =
  (scopes: readonly string[]) =>
  (requirement: Requirement): Verdict => {
    if (isBrowsers(requirement)) return 401;
    const needed = isWorkstations(requirement) ? "governance:read" : requirement;
    return needed === "anyone" || scopes.includes(needed) ? "through" : 403;
  };
const onlyMetrics = (requirement: Requirement): Verdict => (requirement === "metrics" ? "through" : 401);
const bearer = ({ accessToken }: Caller): Sent => ({ token: accessToken });

const CASES: Record<string, Case> = {
  "a caller without a credential": { send: async () => ({}), verdict: refused },
  "a garbage token": { send: async () => ({ token: "garbage" }), verdict: refused },
  "an expired token": {
    async send({ domain, world, signedIn }) {
      const { accessToken, user } = await signedIn("admin");
      const { claims } = domain.access.tokens.read(accessToken);
      const { sid, scope, grant_id: id, client_id: clientId, aud: resource } = claims;
      const nowMs = world.clock.nowMs() - HOUR_MS;
      const grant = { id, clientId, resource };
      return { token: domain.access.tokens.mint({ user, grant, scope, sid, issuedAtMs: nowMs }).accessToken };
    },
    verdict: refused,
  },
  "a member's token": {
    send: async ({ signedIn }) => bearer(await signedIn("member")),
    verdict: holding(USER_SCOPES),
  },
  ...Object.fromEntries(
    USER_SCOPES.map((scope) => [
      `a member's token with ${scope} alone`,
      {
        send: async ({ signedIn }: TestServer) => bearer(await signedIn("member", { scope })),
        verdict: holding([scope]),
      },
    ]),
  ),
  "an administrator's token without governance:read": {
    send: async ({ signedIn }) => bearer(await signedIn("admin", { scope: "session:write" })),
    verdict: holding(["session:write"]),
  },
  "an administrator's token": {
    send: async ({ signedIn }) => bearer(await signedIn("admin")),
    verdict: (requirement) => (isBrowsers(requirement) ? 401 : "through"),
  },
  "a member's browser": {
    send: async ({ signedIn }) => ({ cookie: (await signedIn("member")).cookie }),
    verdict: asMember,
  },
  "an administrator's browser": {
    send: async ({ signedIn }) => ({ cookie: (await signedIn("admin")).cookie }),
    verdict: everywhere,
  },
  "an administrator's browser on our own page": {
    send: async ({ signedIn }) => ({
      cookie: (await signedIn("admin")).cookie,
      headers: { origin: BASE_URL, "sec-fetch-site": "same-origin" },
    }),
    verdict: everywhere,
  },
  "an administrator's browser on another site's page": {
    send: async ({ signedIn }) => ({
      cookie: (await signedIn("admin")).cookie,
      headers: { origin: "https://evil.example" },
    }),
    verdict: asForeignPage,
  },
  "an administrator's browser that hides its origin": {
    send: async ({ signedIn }) => ({
      cookie: (await signedIn("admin")).cookie,
      headers: { "sec-fetch-site": "cross-site" },
    }),
    verdict: asForeignPage,
  },
  "the token of a suspended administrator": {
    async send({ signedIn, world }) {
      const caller = await signedIn("admin");
      await world.db.write((tx) => {
        tx.update(users).set({ status: "suspended" }).where(eq(users.id, caller.user.id)).run();
      });
      return bearer(caller);
    },
    verdict: refused,
  },
  "the browser of a removed administrator": {
    async send({ signedIn, domain, world }) {
      const { cookie, user } = await signedIn("admin");
      await signedIn("admin"); // the last one cannot be removed
      await domain.identity.users.remove(world.system, user.id);
      return { cookie };
    },
    verdict: refused,
  },
  "a token of a revoked grant": {
    async send({ signedIn, domain, request }) {
      const caller = await signedIn("admin");
      expect((await request("GET", "/auth/me", bearer(caller))).status).toBe(200); // the token is known before it expires
      await domain.identity.users.revokeLogins(caller.actor, caller.user.id);
      return bearer(caller);
    },
    verdict: refused,
  },
  "a valid token in the query": {
    send: async ({ signedIn }) => ({ query: `?access_token=${(await signedIn("admin")).accessToken}` }),
    verdict: refused,
  },
  "a valid token without a space after Bearer": {
    send: async ({ signedIn }) => ({
      headers: { authorization: `Bearer${(await signedIn("admin")).accessToken}` },
    }),
    verdict: refused,
  },
  "an invalid token beside a valid cookie": {
    send: async ({ signedIn }) => ({ token: "bad", cookie: (await signedIn("admin")).cookie }),
    verdict: refused,
  },
  "an invalid cookie": {
    send: async ({ signedIn }) => ({ cookie: (await signedIn("admin")).cookie.replace(/.$/, "~") }),
    verdict: refused,
  },
  "the configured SCIM token": {
    send: async () => ({ token: SCIM_TOKEN }),
    verdict: refused,
    provider: "through",
  },
  "a SCIM token that the operator created": {
    send: async ({ domain, world }) => ({ token: (await providerToken(domain, world)).reveal() }),
    verdict: refused,
    provider: "through",
  },
  "a SCIM token beside an administrator's cookie": {
    send: async ({ signedIn }) => ({ token: SCIM_TOKEN, cookie: (await signedIn("admin")).cookie }),
    verdict: refused,
    provider: "through",
  },
  "a SCIM token after another spelling of the scheme": {
    send: async () => ({ headers: { authorization: `bEARER   ${SCIM_TOKEN}  ` } }),
    verdict: refused,
    provider: "through",
  },
  "a SCIM token without a scheme": {
    send: async () => ({ headers: { authorization: SCIM_TOKEN } }),
    verdict: refused,
  },
  "a SCIM token in the query": {
    send: async () => ({ query: `?access_token=${SCIM_TOKEN}` }),
    verdict: refused,
  },
  "a SCIM token in a cookie": {
    send: async () => ({ cookie: `__Secure-${SESSION_COOKIE}=${SCIM_TOKEN}` }),
    verdict: refused,
  },
  "a revoked SCIM token": {
    async send({ domain, world, request }) {
      const token = (await providerToken(domain, world, { label: "revoked" })).reveal();
      expect((await request("GET", "/scim/v2/Users", { token })).status).toBe(200); // the token is known before it expires
      await domain.scim.tokens.revoke(world.system, "revoked");
      return { token };
    },
    verdict: refused,
  },
  "an expired SCIM token": {
    async send({ domain, world }) {
      const expiresAtMs = world.clock.nowMs() + HOUR_MS;
      const token = await providerToken(domain, world, { expiresAtMs });
      world.clock.advance(HOUR_MS);
      return { token: token.reveal() };
    },
    verdict: refused,
  },
  "the token of the inference proxy": {
    send: async () => ({ token: PROXY_TOKEN }),
    verdict: refused,
    proxy: "through",
  },
  "the token of the inference proxy beside an administrator's cookie": {
    send: async ({ signedIn }) => ({ token: PROXY_TOKEN, cookie: (await signedIn("admin")).cookie }),
    verdict: refused,
    proxy: "through",
  },
  "the token of the inference proxy in the query": {
    send: async () => ({ query: `?access_token=${PROXY_TOKEN}` }),
    verdict: refused,
  },
  "the metrics token": { send: async () => ({ token: METRICS_TOKEN }), verdict: onlyMetrics },
  "the metrics token after a scheme in other letters": {
    send: async () => ({ headers: { authorization: `bEARER ${METRICS_TOKEN}` } }),
    verdict: onlyMetrics,
  },
  "a local caller without a credential": { send: async () => ({ address: "127.0.0.1" }), verdict: refused },
};

async function providerToken(domain: Domain, world: World, request: Partial<NewScimToken> = {}) {
  const wanted = { label: world.ids.uuid(), profile: "standard", ...request };
  return (await domain.scim.tokens.create(world.system, wanted)).token;
}

/** One server for all: a caller in the middle of a test does not affect the next one. */
const testServer = await createGatewayServer();
afterAll(() => testServer[Symbol.asyncDispose]());
beforeEach(() => testServer.world.clock.advance(HOUR_MS)); // no budget is left

const UNKNOWN_ID = "01890000-0000-7000-8000-000000000000";
const pathOf = ({ path }: DocumentedRoute): string => path.replaceAll(/:\w+/g, UNKNOWN_ID);
const requirementOf = ({ hooks }: DocumentedRoute): Requirement => hooks.detail?.["x-requires"] ?? "nobody";
/** The framework's name for methods without a route at a path. */
const methodOf = ({ method }: DocumentedRoute): string => (method === "ALL" ? "PROPFIND" : method);
const guarded = async ({ server }: TestServer) =>
  (await server.allRoutes()).filter((route) => requirementOf(route) !== "nobody");
const verdictOf = ({ status }: Response): Verdict => (status === 401 || status === 403 ? status : "through");

test.each(Object.entries(CASES))(
  "%s is admitted only to permitted routes",
  async (_name, { send, verdict, provider = refused(), proxy = refused() }) => {
    let sent = await send(testServer);
    const found: Record<string, Verdict> = {};
    const expected: Record<string, Verdict> = {};
    for (const route of await guarded(testServer)) {
      const method = methodOf(route);
      const requirement = requirementOf(route);
      const { query = "", ...rest } = sent;
      const response = await testServer.request(method, `${pathOf(route)}${query}`, rest);
      const outcome = verdictOf(response);
      found[`${method} ${route.path}`] = outcome;
      const own = { scim: provider, proxy };
      expected[`${method} ${route.path}`] =
        requirement === "scim" || requirement === "proxy"
          ? own[requirement]
          : verdict(requirement, method, route.path);
      // The request may have ended the login that it was sent with.
      if (method !== "GET" && outcome === "through") sent = await send(testServer);
    }
    expect(found).toEqual(expected);
    expect(Object.keys(found).length).toBeGreaterThan(15);
  },
);

test.each([
  ["malformed", "{"],
  ["wrong", { unexpected: 1 }],
  ["oversized", "x".repeat(BODY_BYTES_MAX + 1)],
])("every route refuses an unauthenticated caller before reading a %s body", async (_name, body) => {
  for (const route of (await guarded(testServer)).filter(({ method }) => method !== "GET")) {
    for (const type of ["application/json", "text/plain"]) {
      const response = await testServer.request(methodOf(route), pathOf(route), {
        body,
        headers: { "content-type": type },
      });
      expect(`${route.path} ${response.status}`).toBe(`${route.path} 401`);
    }
  }
});

test("a valid token in the body does not authenticate", async () => {
  const { accessToken } = await testServer.signedIn("admin");
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  for (const route of (await guarded(testServer)).filter(({ method }) => method !== "GET")) {
    const sent = { body: `access_token=${accessToken}`, headers };
    const { status } = await testServer.request(methodOf(route), pathOf(route), sent);
    expect(`${route.path} ${status}`).toBe(`${route.path} 401`);
  }
});

test("refuses an empty bearer token instead of using the cookie", async () => {
  const { cookie, accessToken } = await testServer.signedIn("admin");
  for (const authorization of ["Bearer", "Bearer "]) {
    for (const path of ["/admin/users", `/admin/users?access_token=${accessToken}`]) {
      const { status } = await testServer.request("GET", path, { cookie, headers: { authorization } });
      expect([path.length, status]).toEqual([path.length, 401]);
    }
  }
});

test.each(["bearer ", "BEARER ", "Bearer   ", "bearer  "])(
  "accepts the scheme of a token in any case, with any number of spaces: %p",
  async (scheme) => {
    const { accessToken, cookie } = await testServer.signedIn("admin");
    const ask = async (token: string) => {
      const sent = { cookie, headers: { authorization: `${scheme}${token}` } };
      return (await testServer.request("GET", "/admin/users", sent)).status;
    };
    expect(await ask(accessToken)).toBe(200);
    expect(await ask("garbage")).toBe(401);
    expect(await ask("")).toBe(401);
  },
);

test("refuses an unauthenticated caller before validating path or query", async () => {
  const outcome = async (path: string) => (await testServer.request("GET", path)).status;
  expect(await outcome("/admin/users/no-uuid")).toBe(401);
  expect(await outcome("/admin/users?page=x")).toBe(401);
});

test("a refusal only states how to authenticate", async () => {
  const response = await testServer.request("GET", "/admin/users", { token: "garbage" });
  expect(response.headers.get("www-authenticate")).toBe('Bearer error="invalid_token"');
  expect(await response.json()).toMatchObject({ status: 401, reason: "access.token_invalid" });
  const foreign = await testServer.request("PUT", "/admin/branding", {
    cookie: (await testServer.signedIn("admin")).cookie,
    headers: { origin: "https://evil.example" },
    body: {},
  });
  expect(await foreign.json()).toMatchObject({ status: 403, reason: "access.foreign_origin" });
});

/** The declarations of every route. */
function omissionsOf({ method, hooks: { detail } }: DocumentedRoute): string[] {
  return [
    ...(detail?.["x-requires"] === undefined ? ["requires"] : []),
    ...(method !== "GET" && detail?.["x-accepts"] === undefined ? ["accepts"] : []),
  ];
}

/** Callers of paths whose methods differ in access. The first pattern that matches a path applies. */
const REQUIREMENTS: readonly (readonly [RegExp, Requirement | Readonly<Record<string, Requirement>>])[] = [
  [/^\/admin\//, "administrator"],
  [/^\/scim(?:\/|$)/, "scim"],
  [/^\/metrics$/, "metrics"],
  [/^\/internal\/gateway\//, "proxy"],
  [/^\/gateway\/(?:session\/revoke|token)$/, "workstation"],
  [/^\/gateway\/proxy\/health$/, "administrator"],
  [/^\/gateway\/request-logs/, "administrator"],
  [/^\/gateway\/jwks$/, "nobody"],
  [/^\/gateway\//, "governance:read"],
  [/^\/auth\/me$/, "anyone"],
  [/^\/me\/(?:password|logins\/revoke-others)$/, "session"],
  [/^\/me\//, "governance:read"],
  [/^\/governance-config(?:\/events)?$/, "governance:read"],
  [/^\/package-artifacts\//, "anyone"],
  [/^\/artifacts\//, "nobody"],
  [/^\/hooks\//, "nobody"],
  [/^\/session-uploads(?:$|\/(?:facets|members)$|\/:id\/(?:download|sharing|transcript)$)/, "anyone"],
  [/^\/session-uploads\/:id$/, { GET: "anyone", DELETE: "session:write" }],
  [/^\/session-uploads\/(?:presign|:id\/complete)$/, "session:write"],
  [/^\/session-objects\//, "nobody"],
  [/^\/harness-metadata$/, "governance:read"],
  [/^\/client-status$/, "client-status:write"],
  [/^\/api\/device\/|^\/api\/auth\/device(?:\/approve|\/deny)?$/, "session"],
  [/^\/health\/dependencies$/, "governance:read"],
  [/^\/(?:health|ready|branding|connection|openapi\.json|\.well-known)(?:\/|$)/, "nobody"],
  [/^\/api\/(?:auth\/|(?:health|login-method)$)/, "nobody"],
  [
    /^\/(?:$|(?:login|sign-out|signed-out|account|console|device|accept-invitation|set-password|help|assets)(?:\/|$))/,
    "nobody",
  ],
];

test.each([
  ["a local caller over IPv4", "http://127.0.0.1:8080", "127.0.0.1", {}, true],
  ["a local caller over IPv6", "http://[::1]:8080", "::1", {}, true],
  ["a local caller under the name localhost", "http://localhost:8080", "127.0.0.1", {}, true],
  [
    "a caller behind a proxy",
    "http://127.0.0.1:8080",
    "127.0.0.1",
    { "x-forwarded-for": "203.0.113.9" },
    false,
  ],
  [
    "a caller possibly behind a proxy without a forwarding header",
    "https://control.example.com",
    "127.0.0.1",
    {},
    false,
  ],
  ["a caller on another machine", "http://127.0.0.1:8080", "203.0.113.9", {}, false],
  ["a caller with an unknown address", "http://127.0.0.1:8080", null, {}, false],
  ["a host in the loopback network", "http://127.0.0.1:8080", "127.0.0.1", { host: "127.9.8.7" }, true],
  ["localhost in other letter case", "http://127.0.0.1:8080", "127.0.0.1", { host: "LocalHost:1" }, true],
  [
    "a foreign host that resolves to this machine",
    "http://127.0.0.1:8080",
    "127.0.0.1",
    { host: "evil.example:8080" },
    false,
  ],
  [
    "a host that only starts with localhost",
    "http://127.0.0.1:8080",
    "127.0.0.1",
    { host: "localhost.evil.example" },
    false,
  ],
  ["an address of another network", "http://127.0.0.1:8080", "127.0.0.1", { host: "[2001:db8::1]" }, false],
  ["two hosts", "http://127.0.0.1:8080", "127.0.0.1", { host: "localhost, evil.example" }, false],
  ["an empty host", "http://127.0.0.1:8080", "127.0.0.1", { host: "" }, false],
])(
  "GET /metrics without a credential answers %s according to host and address",
  (_, origin, address, headers, isOpen) => {
    const host = new URL(origin).host;
    const request = new Request(`${origin}/metrics`, { headers: { host, ...headers } });
    expect(canReadMetrics(request, { address }, { token: undefined, origin })).toBe(isOpen);
  },
);

test("the metrics token and an administrator can read the metrics under any host", async () => {
  const headers = { host: "control.example.org" };
  const { accessToken } = await testServer.signedIn("admin");
  for (const token of [METRICS_TOKEN, accessToken])
    expect((await testServer.request("GET", "/metrics", { token, headers })).status).toBe(200);
});

test("a verified token is accepted even if the token cache evicts it during the request", async () => {
  const { authenticator } = testServer.domain.access;
  const { accessToken: token } = await testServer.signedIn("member");
  const { known } = authenticator;
  authenticator.known = () => undefined;
  const { status } = await testServer.request("GET", "/auth/me", { token });
  authenticator.known = known;
  expect(status).toBe(200);
});

test("a refused metrics request names the setting that grants access", async () => {
  const { detail } = await (await testServer.request("GET", "/metrics")).json();
  expect(detail).toContain("metrics.token");
});

test("every route enforces the access in the table", async () => {
  const wanted = ({ method, path }: DocumentedRoute) => {
    const requirement = REQUIREMENTS.find(([pattern]) => pattern.test(path))?.[1];
    return typeof requirement === "object" ? requirement[method] : requirement;
  };
  const routes = await testServer.server.allRoutes();
  const table = (requirement: (route: DocumentedRoute) => Requirement | undefined) =>
    routes.map((route) => `${route.method} ${route.path}: ${requirement(route)}`);
  expect(table(requirementOf)).toEqual(table(wanted));
});

test("every route declares who may call it and which body it accepts", async () => {
  const omissions = (await testServer.server.allRoutes()).map((route) => [
    route.method,
    route.path,
    ...omissionsOf(route),
  ]);
  expect(omissions.filter(({ length }) => length > 2)).toEqual([]);
});

test("detects a route that declares neither", async () => {
  const guard = createGuard({
    authenticator: testServer.domain.access.authenticator,
    verificationLimit: new TokenVerificationLimit({ clock: testServer.world.clock }),
    baseUrl: () => BASE_URL,
    canReadMetrics: () => false,
    admitProvider: () => {},
    admitProxy: () => {},
  });
  const detail = () => operation("broken", "Broken", { tags: ["System"], answers: {} });
  const routes: readonly DocumentedRoute[] = createRouter(guard).post("/broken", () => "", {
    detail: detail(),
  }).routes;
  expect(routes.map(omissionsOf)).toEqual([["requires", "accepts"]]);
});

/** The guard sets the route, so a body refused before the guard is counted without a route. */
test("every guard runs before the body is read, on public routes too", async () => {
  for (const route of await testServer.server.allRoutes()) {
    const method = methodOf(route);
    const headers = { "content-type": "text/plain" };
    await testServer.request(method, pathOf(route), method === "GET" ? {} : { body: "x", headers });
    expect(testServer.logged.findLast(({ event }) => event === "http.answered")).toMatchObject({
      method,
      route: route.path,
    });
  }
});
