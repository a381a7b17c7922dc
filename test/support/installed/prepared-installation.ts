// A data directory for services that run as separate processes. It is created once, because a first start and hashing a password at
// the product's cost each take longer than the rest of most tests.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Copy, remember } from "../content/copies.ts";
import { runHere } from "../in-process.ts";
import { placeOfWorlds, temporaryDirectory } from "../world.ts";

export const ADMIN_EMAIL = "admin@example.com";
export const ADMIN_PASSWORD = "correct horse battery";

let made: Promise<Copy> | undefined;

/** Copies the installation to an empty or missing directory. ADMIN_EMAIL signs in there with ADMIN_PASSWORD. */
export async function prepareInstallation(dataDir: string): Promise<void> {
  made ??= makeInstallation();
  const write = await made;
  write(dataDir);
}

async function makeInstallation(): Promise<Copy> {
  const folder = temporaryDirectory(placeOfWorlds);
  const [data, password] = [join(folder, "data"), join(folder, "password")];
  writeFileSync(password, ADMIN_PASSWORD, { mode: 0o600 });
  const args = ["setup", "--data-dir", data, "--bootstrap-admin-password-file", password];
  const { exitCode, stderr } = await runHere(args, { cwd: folder });
  if (exitCode !== 0) throw new Error(stderr);
  const copy = remember(data);
  rmSync(folder, { recursive: true });
  return copy;
}
