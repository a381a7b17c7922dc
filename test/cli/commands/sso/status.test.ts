// `status` and company sign-in: the provider, the result of the last sign-in, and who must sign in again soon.
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOUR_MS } from "../../../../src/platform/clock.ts";
import { createInstallation, type Workspace } from "../../../support/in-process.ts";

const ISSUER = "https://id.example.org";

function configure({ folder }: Workspace, mode: string): void {
  const oidc = `issuer: "${ISSUER}", client_id: quartermaster, client_secret_file: client-secret, provisioning: invited`;
  const text = `server: {public_url: "https://qm.example.org"}\nidentity:\n  mode: ${mode}\n  oidc: {${oidc}, provider_name: Example}\n`;
  writeFileSync(join(folder, `${mode}.yaml`), text);
  writeFileSync(join(folder, "client-secret"), "client-secret", { mode: 0o600 });
}

async function signInLines(workspace: Workspace, options = ""): Promise<string[]> {
  const { stdout } = await workspace.run(`status --offline-ok${options}`);
  const lines = stdout.split("\n");
  const from = lines.findIndex((line) => line.startsWith("sign-in"));
  const length = lines.slice(from + 1).findIndex((line) => !line.startsWith(" "));
  return lines.slice(from, from + 1 + length).map((line) => line.replace(/^(sign-in)? +/, ""));
}

test("SSO-29 status counts users who must sign in again, and shows the result of the last sign-in", async () => {
  using workspace = await createInstallation();
  configure(workspace, "oidc");
  configure(workspace, "password");
  expect(await signInLines(workspace)).toEqual(["passwords"]);
  expect(await signInLines(workspace, " --config password.yaml")).toEqual([
    `Example (${ISSUER}), or passwords; who may: invited`,
    "no sign-in has succeeded yet",
  ]);
  using database = new Database(join(workspace.data, "quartermaster.db"));
  const nowMs = workspace.clock.nowMs();
  const add = database.query(
    "INSERT INTO user_identities (user_id, issuer, subject, linked_by, linked_at_ms, last_sign_in_at_ms) VALUES (?1, ?2, ?1, 'email', 0, ?3)",
  );
  for (const [user, hours] of [
    ["late", 169],
    ["due", 168],
    ["soon", 145],
    ["fresh", 144],
  ] as const)
    add.run(user, ISSUER, nowMs - hours * HOUR_MS + 1);
  expect((await signInLines(workspace, " --config oidc.yaml"))[2]).toBe(
    "2 users must sign in at the provider again within 24 hours",
  );
  database.run("DELETE FROM user_identities WHERE user_id = 'due'");
  database.run(
    "INSERT INTO identity_providers (issuer, last_success_at_ms, last_error_reason, last_error_at_ms) VALUES (?, ?, 'sso.clock', ?)",
    [ISSUER, nowMs, nowMs],
  );
  expect(await signInLines(workspace, " --config oidc.yaml")).toEqual([
    `Example (${ISSUER}); who may: invited`,
    "failing: sso.clock (last success 2026-01-01T00:00:00.000Z); see sso verify",
    "1 user must sign in at the provider again within 24 hours",
  ]);
  expect(await workspace.json("status --offline-ok --config oidc.yaml")).toMatchObject({
    sign_in: {
      mode: "oidc",
      issuer: ISSUER,
      provider_name: "Example",
      last_error_reason: "sso.clock",
      last_success_at: "2026-01-01T00:00:00.000Z",
      due_within_day: 1,
    },
  });
  database.run("UPDATE identity_providers SET last_error_reason = 'sso.callback_error'");
  expect((await signInLines(workspace, " --config oidc.yaml"))[1]).toBe(
    "last success 2026-01-01T00:00:00.000Z; a browser returned with sso.callback_error: see sso show",
  );
});
