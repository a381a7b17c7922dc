// The output of the commands for passwords when people sign in at the identity provider.
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInstallation } from "../../../support/in-process.ts";

test("SSO-5 a new password in mode oidc comes with a warning that it only links the account", async () => {
  using workspace = await createInstallation();
  writeFileSync(join(workspace.folder, "oidc.yaml"), "identity: {mode: oidc}\n", { mode: 0o600 });
  const mode = "--config oidc.yaml";
  await workspace.run("users create ana@example.org --role member");
  const reset = (options: string) => workspace.run(`users reset-password ana@example.org --yes ${options}`);
  expect((await reset(mode)).stderr).toContain("cannot sign in with a password");
  expect((await reset("")).stderr).not.toContain("cannot sign in with a password");
});
