// Which error format each path uses, at the borders between them.
import { expect, test } from "bun:test";
import { type Dialect, dialectOf } from "../../../../src/server/http/problems/dialect.ts";
import { createTestServer } from "../../../support/server.ts";
import { sharedServer } from "../../../support/shared.ts";

const cases: [path: string, dialect: Dialect][] = [
  ["/", "page"],
  ["/login", "page"],
  ["/login/", "page"],
  ["/login/x", "page"],
  ["/loginx", "problem"],
  ["/api/auth/callback/x", "page"],
  ["/api/auth/callbacks", "problem"],
  ["/api/auth/backchannel-logout/x", "problem"],
  ["/sign-out", "page"],
  ["/device", "page"],
  ["/device/abc", "page"],
  ["/devices", "problem"],
  ["/accept-invitation", "page"],
  ["/accept-invitation/done", "page"],
  ["/set-password", "page"],
  ["/set-password/done", "page"],
  ["/api/auth/device/code", "oauth"],
  ["/api/auth/device/token", "oauth"],
  ["/api/auth/device", "oauth"],
  ["/api/auth/oauth2/token", "oauth"],
  ["/api/auth/oauth2/nothing", "oauth"],
  ["/api/auth/sign-in/email", "problem"],
  ["/api/device/abc", "problem"],
  ["/nothing", "problem"],
  ["/scim", "scim"],
  ["/scim/", "scim"],
  ["/scim/v1/Users", "scim"],
  ["/scim/v2/nothing", "scim"],
  ["/scimitar", "problem"],
  ["/SCIM/v2/Users", "problem"],
];

test.each(cases)("%s refuses as %s", (path, dialect) => {
  expect(dialectOf(path)).toBe(dialect);
});

const BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8";
const sameServer = sharedServer(createTestServer);

test.each([
  ["GET", "/nothing", BROWSER, "text/html; charset=utf-8"],
  ["GET", "/nothing", "text/html", "text/html; charset=utf-8"],
  ["GET", "/nothing", "application/json, text/html", "application/problem+json"],
  ["GET", "/nothing", "application/problem+json, text/html", "application/problem+json"],
  ["GET", "/nothing", "text/html, application/json", "text/html; charset=utf-8"],
  ["GET", "/nothing", "*/*", "application/problem+json"],
  ["GET", "/nothing", undefined, "application/problem+json"],
  ["GET", "/admin/users", BROWSER, "application/problem+json"],
  ["POST", "/health", BROWSER, "application/problem+json"],
])("only a browser that lost its way gets a page: %s %s for %p is %s", async (method, path, accept, type) => {
  const server = await sameServer();
  const headers = accept === undefined ? {} : { accept };
  const response = await server.request(method, path, { headers });
  expect(response.headers.get("content-type")).toBe(type);
});

test.each([
  ["/api/auth/callbacks", true],
  ["/api/auth/sign-in/nothing", true],
  ["/api/auth", false],
  ["/api/authority/", false],
  ["/nothing/api/auth/", false],
])(
  "a problem repeats reason and detail as code and message only below the issuer: %s, %p",
  async (path, repeats) => {
    const server = await sameServer();
    const problem = await (await server.request("GET", path)).json();
    const { reason: code, detail: message } = problem;
    expect(problem).toMatchObject(repeats ? { code, message } : { reason: expect.any(String) });
    expect("code" in problem || "message" in problem).toBe(repeats);
  },
);
