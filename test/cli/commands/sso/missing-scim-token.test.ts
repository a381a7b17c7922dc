// `config check` when only SCIM creates the users who sign in at the provider and no SCIM token exists. A start would
// be refused.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInstallation, createWorkspace, type Workspace } from "../../../support/in-process.ts";

const CHECK = "config check --config oidc.yaml";
const MISSING = expect.stringContaining("there is no SCIM token");

function configure({ folder }: Workspace, rules = ""): void {
  const provider = "issuer: https://id.example.org, client_id: q, client_secret_file: client-secret";
  const text = `server: {public_url: "https://qm.example.org"}\nidentity:\n  mode: oidc\n  oidc: {${provider}${rules}}\n`;
  writeFileSync(join(folder, "oidc.yaml"), text);
  writeFileSync(join(folder, "client-secret"), "client-secret", { mode: 0o600 });
}

test("SSO-3 config check finds that no SCIM token was ever created where only SCIM creates users", async () => {
  using workspace = await createInstallation();
  configure(workspace);
  expect(await workspace.run(CHECK)).toMatchObject({ exitCode: 2, stderr: MISSING });
  expect(await workspace.run(`${CHECK} --identity-oidc-provisioning invited`)).toMatchObject({ exitCode: 0 });
  writeFileSync(join(workspace.folder, "token"), "t".repeat(40), { mode: 0o600 });
  expect(await workspace.run(`${CHECK} --scim-token-file token`)).toMatchObject({ exitCode: 0 });
  await workspace.json("scim tokens create okta --config oidc.yaml");
  expect(await workspace.run(CHECK)).toMatchObject({ exitCode: 0 });
  await workspace.json("scim tokens revoke okta --yes --config oidc.yaml");
  expect(await workspace.run(CHECK)).toMatchObject({ exitCode: 0 });
});

test("config check finds it before a data directory exists, and does not report a database that it cannot read", async () => {
  using workspace = createWorkspace();
  configure(workspace);
  expect(await workspace.run(CHECK)).toMatchObject({ exitCode: 2, stderr: MISSING });
  mkdirSync(workspace.data);
  writeFileSync(join(workspace.data, "quartermaster.db"), "not a database");
  expect(await workspace.run(CHECK)).toMatchObject({ exitCode: 0 });
});

test("config check reports a missing CA file of the provider with all other problems", async () => {
  using workspace = await createInstallation();
  configure(workspace, ", ca_file: ca.pem");
  const { exitCode, stderr } = await workspace.run(CHECK);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("identity.oidc.ca_file: cannot be read");
  expect(stderr).toContain("there is no SCIM token");
});
