// A data directory for services that run as separate processes. A first start in such a process takes longer than the rest of most
// tests, and so does every password with the cost parameters of the product.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Copy, remember } from "../content/copies.ts";
import { runHere } from "../in-process.ts";
import { placeOfWorlds, temporaryDirectory } from "../world.ts";

export const ADMIN_EMAIL = "admin@example.com";
export const ADMIN_PASSWORD = "correct horse battery";

let made: Promise<Copy> | undefined;

/**
 * Writes an installation, created once in a process, to an empty or missing directory: ADMIN_EMAIL signs in with ADMIN_PASSWORD.
 */
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
