// `logins revoke` voids password links, because they open an account like a login, even if nobody is signed in.
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { runHere } from "../../../support/in-process.ts";
import { prepareInstallation } from "../../../support/installed/prepared-installation.ts";
import { temporaryDirectory } from "../../../support/world.ts";

const NO_LOGINS = { login_sessions: 0, grants: 0, device_logins: 0, password_links: 0 };

test("logins revoke voids the password link of a user, and of everybody", async () => {
  const folder = temporaryDirectory();
  await prepareInstallation(join(folder, "data"));
  const command = async (line: string) => {
    const args = [...line.split(" "), "--json", "--data-dir", join(folder, "data")];
    const { stdout, stderr, exitCode } = await runHere(args, { cwd: folder });
    expect({ stderr: exitCode === 0 ? "" : stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
    return JSON.parse(stdout);
  };
  await command("users create ada@example.org --role member");
  for (const whose of ["--user ada@example.org", "--all"]) {
    await command("users password-link ada@example.org --yes --server-public-url https://qm.example.org");
    expect(await command(`logins revoke ${whose} --yes`)).toEqual({
      changed: true,
      ...NO_LOGINS,
      password_links: 1,
    });
    expect(await command(`logins revoke ${whose} --yes`)).toEqual({ changed: false, ...NO_LOGINS });
  }
  rmSync(folder, { recursive: true });
});
