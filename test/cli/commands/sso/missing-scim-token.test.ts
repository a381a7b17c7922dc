// `config check` if only SCIM creates the users who sign in at the provider, and no SCIM token exists: a start is refused.
import { expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Bench, createBench, createInstallation } from "../../../support/in-process.ts";

const CHECK = "config check --config oidc.yaml";
const MISSING = expect.stringContaining("there is no SCIM token");

function configure({ folder }: Bench, rules = ""): void {
  const provider = "issuer: https://id.example.org, client_id: q, client_secret_file: client-secret";
  const text = `server: {public_url: "https://qm.example.org"}\nidentity:\n  mode: oidc\n  oidc: {${provider}${rules}}\n`;
  writeFileSync(join(folder, "oidc.yaml"), text);
  writeFileSync(join(folder, "client-secret"), "client-secret", { mode: 0o600 });
}

test("SSO-3 config check finds that no SCIM token was ever created where only SCIM creates users", async () => {
  using bench = await createInstallation();
  configure(bench);
  expect(await bench.run(CHECK)).toMatchObject({ exitCode: 2, stderr: MISSING });
  expect(await bench.run(`${CHECK} --identity-oidc-provisioning invited`)).toMatchObject({ exitCode: 0 });
  writeFileSync(join(bench.folder, "token"), "t".repeat(40), { mode: 0o600 });
  expect(await bench.run(`${CHECK} --scim-token-file token`)).toMatchObject({ exitCode: 0 });
  await bench.json("scim tokens create okta --config oidc.yaml");
  expect(await bench.run(CHECK)).toMatchObject({ exitCode: 0 });
  await bench.json("scim tokens revoke okta --yes --config oidc.yaml");
  expect(await bench.run(CHECK)).toMatchObject({ exitCode: 0 });
});

test("config check finds it before there is a data directory, and says nothing about a database that it cannot read", async () => {
  using bench = createBench();
  configure(bench);
  expect(await bench.run(CHECK)).toMatchObject({ exitCode: 2, stderr: MISSING });
  mkdirSync(bench.data);
  writeFileSync(join(bench.data, "quartermaster.db"), "not a database");
  expect(await bench.run(CHECK)).toMatchObject({ exitCode: 0 });
});

test("config check reports a missing CA file of the provider with all other problems", async () => {
  using bench = await createInstallation();
  configure(bench, ", ca_file: ca.pem");
  const { exitCode, stderr } = await bench.run(CHECK);
  expect(exitCode).toBe(2);
  expect(stderr).toContain("identity.oidc.ca_file: cannot be read");
  expect(stderr).toContain("there is no SCIM token");
});
