// Log lines of a start about provisioning that is configured but cannot work.
import { expect, test } from "bun:test";
import { startProvisioning } from "../../../../src/app/service/configuration/provisioning-start.ts";
import { createLog } from "../../../../src/platform/observe/log.ts";
import { SSO } from "../../../domain/sso/sso-world.ts";
import { createTestServer, type TestServerOptions } from "../../../support/server.ts";

async function warningsOf(options: TestServerOptions = {}) {
  await using site = await createTestServer(options);
  const { domain, world } = site;
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  const log = createLog({ level: "warning", format: "json", write, clock: world.clock });
  const start = () =>
    startProvisioning({ domain }, { actor: world.system, log, baseUrl: "https://q.example" });
  await start();
  const caller = {
    actor: { ...world.system, kind: "scim", label: "scim:okta" },
    profile: "standard",
  } as const;
  await domain.scim.users.create(caller, { userName: "ada@example.com" }, {});
  await start();
  return lines.map((line) => JSON.parse(line));
}

test("a start warns about provisioned users who cannot sign in, with their number and a remedy", async () => {
  const warnings = await warningsOf();
  expect(warnings).toEqual([
    expect.objectContaining({
      event: "scim.cannot_sign_in",
      users: 1,
      next: expect.stringContaining("quartermaster users "),
    }),
  ]);
});

test("SSO-3 refuses to start if only SCIM may create users and it never had a token, and warns if its token was revoked", async () => {
  const sso = () => ({ ...SSO, provisioning: "scim" as const });
  await using site = await createTestServer({ sso, identity: { mode: "oidc" }, scimToken: undefined });
  const { domain, world } = site;
  const lines: string[] = [];
  const log = createLog({
    level: "warning",
    format: "json",
    write: (line) => void lines.push(line),
    clock: world.clock,
  });
  const start = () =>
    startProvisioning({ domain }, { actor: world.system, log, baseUrl: "https://q.example" });
  await expect(start()).rejects.toMatchObject({ reason: "sso.no_scim_token" });
  const { tokens } = domain.scim;
  await tokens.create(world.system, { label: "okta", profile: "standard", expiresAtMs: undefined });
  await start();
  expect(lines).toEqual([]);
  await tokens.revoke(world.system, "okta");
  await start();
  expect(lines.map((line) => JSON.parse(line).event)).toEqual(["scim.no_token"]);
});

test.each(["invited", "jit"] as const)(
  "a start does not warn about a missing SCIM token where users are created without SCIM: %s",
  async (provisioning) => {
    const options = {
      sso: () => ({ ...SSO, provisioning }),
      identity: { mode: "oidc", hasProvider: true },
    } as const;
    expect(await warningsOf({ ...options, scimToken: undefined })).toEqual([]);
  },
);

test("a start does not warn if an identity provider signs the users in", async () => {
  expect(await warningsOf({ identity: { hasProvider: true } })).toEqual([]);
  expect(await warningsOf({ identity: { mode: "oidc" } })).toEqual([]);
});
