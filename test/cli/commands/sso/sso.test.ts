// `sso show` and `sso verify`, with and without a provider, compared with golden/sso.txt; and the list of outgoing connections,
// which includes what they found.

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectGolden, type Step } from "../../../support/cli/golden.ts";
import { createInstallation } from "../../../support/in-process.ts";
import { CLIENT_ID, CLIENT_SECRET, createLyingProvider } from "../../../support/provider/lying-provider.ts";

test("SSO-33 shows what to register, and verifies the provider while no service runs", async () => {
  using workspace = await createInstallation();
  await using idp = await createLyingProvider({ nowMs: workspace.clock.nowMs });
  const other = `http://localhost:${new URL(idp.origin).port}`;
  idp.faults = { metadata: { jwks_uri: `${other}/jwks` } };
  const oidc = (secretFile: string) =>
    `  oidc: {issuer: "${idp.issuer}", client_id: ${CLIENT_ID}, client_secret_file: ${secretFile}}\n`;
  const write = (name: string, text: string) =>
    writeFileSync(join(workspace.folder, name), text, { mode: 0o600 });
  write("secret", CLIENT_SECRET);
  write("wrong", "wrong");
  write("sso.yaml", `server: {public_url: "https://control.example.com"}\nidentity:\n${oidc("secret")}`);
  write("wrong.yaml", `server: {public_url: "https://control.example.com"}\nidentity:\n${oidc("wrong")}`);
  const steps: Step[] = [];
  const run = async (line: string) => void steps.push({ line, ...(await workspace.run(line)) });
  for (const line of [
    "sso show",
    "sso show --json",
    "sso verify",
    "config show --outgoing --config sso.yaml",
    "sso show --config sso.yaml",
    "sso verify --config sso.yaml",
    "sso verify --config sso.yaml --json",
    "sso show --config sso.yaml --json",
    "config show --outgoing --config sso.yaml",
    "sso verify --config wrong.yaml",
  ])
    await run(line);
  idp.faults = { discovery: "html" };
  await run("sso verify --config sso.yaml");
  expectGolden(
    "sso",
    steps,
    new Map([
      [workspace.folder, "<folder>"],
      [idp.origin, "<provider>"],
      [other, "<other origin>"],
    ]),
  );
});

test("SSO-21 only the public half of a client key is shown", async () => {
  using workspace = await createInstallation();
  const { privateKey } = generateKeyPairSync("ed25519");
  const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  const file = join(workspace.folder, "client.pem");
  writeFileSync(file, pem, { mode: 0o600 });
  const flags = `--identity-oidc-issuer https://idp.example --identity-oidc-client-id ${CLIENT_ID} --identity-oidc-client-auth private_key_jwt --identity-oidc-client-key-file ${file}`;
  const { client_key: key } = await workspace.json(`sso show ${flags}`);
  const { x } = privateKey.export({ format: "jwk" });
  expect(key).toEqual({ crv: "Ed25519", kty: "OKP", x, kid: expect.any(String), alg: "EdDSA", use: "sig" });
});

test("SSO-12 the last failure is shown with its remedy", async () => {
  using workspace = await createInstallation();
  const flags = `--identity-oidc-issuer https://idp.example --identity-oidc-client-id ${CLIENT_ID} --identity-oidc-client-secret-file ${join(workspace.folder, "secret")}`;
  writeFileSync(join(workspace.folder, "secret"), CLIENT_SECRET, { mode: 0o600 });
  {
    using database = new Database(join(workspace.folder, "data/quartermaster.db"));
    database.run(
      "INSERT INTO identity_providers (issuer, last_error_reason, last_error_at_ms) VALUES ('https://idp.example', 'sso.groups_overage', 1)",
    );
  }
  const { stdout } = await workspace.run(`sso show ${flags}`);
  expect(stdout).toMatch(/last error +sso\.groups_overage\n +let the provider send only groups/);
});
