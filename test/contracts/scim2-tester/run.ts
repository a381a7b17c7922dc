// `bun run test:scim2`: scim2-tester, an independent checker of SCIM servers written in Python, run against the executable. Builds
// the executable and creates a Python environment, both in a temporary directory. Needs Python 3.10 and its package registry, which
// is why `bun run test` leaves it out. check.py interprets the findings.
import { mkdtempDisposableSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "../../../src/app/release/build.ts";
import { SCIM_BASE_PATH } from "../../../src/domain/scim/wire.ts";
import { startService } from "../../support/running-service.ts";

const TOKEN = "a-token-for-scim2-tester-and-nobody-else";

async function main(): Promise<number> {
  using directory = mkdtempDisposableSync(join(tmpdir(), "quartermaster-scim2-"));
  const python = await pythonWith(join(import.meta.dir, "requirements.txt"), join(directory.path, "python"));
  const tokenFile = join(directory.path, "token");
  writeFileSync(tokenFile, TOKEN, { mode: 0o600 });
  build({ directory: join(directory.path, "executable") });
  const settings = ["--scim-token-file", tokenFile, "--scim-requests-burst", "100000"];
  await using service = await startService({
    command: [join(directory.path, "executable", "quartermaster")],
    args: ["--data-dir", join(directory.path, "data"), ...settings],
  });
  const SCIM_BASE_URL = service.baseUrl + SCIM_BASE_PATH;
  return await run([python, join(import.meta.dir, "check.py")], { SCIM_BASE_URL, SCIM_TOKEN: TOKEN });
}

/** @returns the interpreter of a new environment with the packages of the file */
async function pythonWith(requirements: string, directory: string): Promise<string> {
  const python = join(directory, "bin", "python");
  for (const command of [
    ["python3", "-m", "venv", directory],
    [python, "-m", "pip", "install", "--quiet", "--requirement", requirements],
  ]) {
    if ((await run(command)) !== 0)
      throw new Error(`failed, and Python 3.10 is needed: ${command.join(" ")}`);
  }
  return python;
}

/** @returns the exit code of a command that prints to the output of this process */
function run(command: string[], env: Readonly<Record<string, string>> = {}): Promise<number> {
  return Bun.spawn(command, { env: { ...process.env, ...env }, stdio: ["ignore", "inherit", "inherit"] })
    .exited;
}

process.exitCode = await main();
