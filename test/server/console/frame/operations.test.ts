// CON-1: every operation of administrators in the API has a page or a form in the console.
import { afterAll, expect, test } from "bun:test";
import { createTestServer } from "../../../support/server.ts";

const site = await createTestServer();
afterAll(() => site[Symbol.asyncDispose]());

/** The operation of the API, and the equivalent page or form. */
const DEEDS: Readonly<Record<string, readonly [wire: string, page: string]>> = {
  "read and publish the policy": ["PUT /admin/governance-config", "POST /console/policy/review"],
  "read the revisions": ["GET /admin/governance-config/revisions", "GET /console/policy/history"],
  "export the configuration": ["GET /admin/blue-config/export", "GET /console/system/export"],
  "set the range and the settings of a harness": [
    "PUT /admin/harnesses/{harness}/managed-config",
    "POST /console/harnesses/{harness}",
  ],
  "see all harnesses": ["GET /admin/harnesses/managed-configs", "GET /console/harnesses"],
  "take a package of the catalog": ["GET /admin/package-catalog", "POST /console/catalog/{id}"],
  "inspect and add a package": ["POST /admin/package-source/inspect", "POST /console/packages/new"],
  "choose a repository": ["GET /admin/package-source/connections", "GET /console/packages/new"],
  "set how a harness uses a package": ["PUT /admin/governance-extensions", "POST /console/packages/{id}"],
  "say who gets a package": ["POST /admin/users/options", "POST /console/packages/{id}/audience"],
  "remove a package": ["PUT /admin/governance-extensions", "POST /console/packages/{id}/remove"],
  "add an MCP server": ["PUT /admin/governance-extensions", "POST /console/mcp/new"],
  "change an MCP server": ["PUT /admin/governance-extensions", "POST /console/mcp/{name}"],
  "list workstations": ["GET /admin/client-status", "GET /console/clients"],
  "filter workstations": ["GET /admin/client-status/facets", "GET /console/clients"],
  "remove a workstation": ["DELETE /admin/client-status/{id}", "POST /console/clients/action"],
  "list users": ["GET /admin/users", "GET /console/users"],
  "see one user": ["GET /admin/users/{id}", "GET /console/users/{id}"],
  "change the role or suspend a user": ["PATCH /admin/users/{id}", "POST /console/users/{id}/{action}"],
  "remove a user": ["DELETE /admin/users/{id}", "POST /console/users/{id}/{action}"],
  "end all logins of a user": ["POST /admin/users/{id}/sessions/revoke", "POST /console/users/{id}/{action}"],
  "list invitations": ["GET /admin/invitations", "GET /console/invitations"],
  invite: ["POST /admin/invitations", "POST /console/invitations"],
  "cancel an invitation": ["DELETE /admin/invitations/{id}", "POST /console/invitations/{id}/{action}"],
  "make a new link": ["POST /admin/invitations/{id}/resend", "POST /console/invitations/{id}/{action}"],
  "see the identity provider": ["GET /admin/identity/status", "GET /console/identity"],
  "see the gateway": ["GET /gateway/status", "GET /console/gateway"],
  "ask for the health of the proxy": ["POST /gateway/proxy/health", "POST /console/gateway"],
  "provision the own key": ["POST /gateway/key/ensure", "POST /console/me/key/ensure"],
  "check the own key": ["POST /gateway/key/validate", "POST /console/me/key/validate"],
  "read the request log": ["GET /gateway/request-logs", "GET /console/gateway/requests"],
  "filter the request log": ["GET /gateway/request-logs/facets", "GET /console/gateway/requests"],
  "list captured sessions": ["GET /session-uploads", "GET /console/sessions"],
  "see one session": ["GET /session-uploads/{id}", "GET /console/sessions/{id}"],
  "share a session": ["PUT /session-uploads/{id}/sharing", "POST /console/sessions/{id}/share"],
  "download a session": ["POST /session-uploads/{id}/download", "POST /console/sessions/{id}/download"],
  "set the logo": ["PUT /admin/branding", "POST /console/branding"],
};

test("CON-1 every operation of the contract for administrators exists, and so does the equivalent page", async () => {
  const { paths } = await (await site.request("GET", "/openapi.json")).json();
  const known = Object.entries<object>(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(new Set(Object.values(DEEDS).flat()).difference(new Set(known))).toEqual(new Set());
});
