// Measures how much memory the executable uses for a repository that is read with git, compared with a command that mirrors
// nothing.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "../../src/app/release/build.ts";
import { type GitHost, TOKEN, USERNAME } from "./git-host.ts";
import { Repository } from "./git-repositories.ts";

const FILES = 60;
const FILE_BYTES = 1024 ** 2;
const MIB = 1024 ** 2;

/** Prints the peaks of both commands, without git itself and the process that makes the archive. */
export async function measureExecutable(host: GitHost, folder: string): Promise<void> {
  const executable = join(folder, "executable");
  build({ directory: executable });
  const repository = new Repository(host.root, "acme/measured");
  const noise = () => crypto.getRandomValues(new Uint8Array(65_536));
  const file = () => Buffer.concat(Array.from({ length: FILE_BYTES / 65_536 }, noise));
  const files = Object.fromEntries(Array.from({ length: FILES }, (_, at) => [`files/${at}.bin`, file()]));
  repository.set("refs/heads/main", repository.commit(files));
  const connection = {
    id: "host",
    provider: "git",
    api_base_url: host.origin,
    username: USERNAME,
    token: "file://token",
    ca_bundle: "ca.pem",
    organizations: { dev: ["acme"] },
  };
  writeFileSync(join(folder, "ca.pem"), host.ca);
  writeFileSync(join(folder, "token"), TOKEN, { mode: 0o600 });
  const config = join(folder, "measured.yaml");
  writeFileSync(config, JSON.stringify({ package_sources: { connections: [connection] } }), { mode: 0o600 });
  const run = async (...args: string[]) => {
    const common = ["--data-dir", join(folder, "measured"), "--config", config, "--json"];
    const child = Bun.spawn([join(executable, "quartermaster"), ...args, ...common], {
      stdio: ["ignore", "ignore", "inherit"],
    });
    let peak = 0;
    while (child.exitCode === null && child.signalCode === null) {
      peak = Math.max(peak, peakOf(child.pid));
      await Bun.sleep(5);
    }
    if (child.exitCode !== 0) throw new Error(`${args.join(" ")} failed`);
    return peak / 1024;
  };
  await run("setup");
  const idle = await run("artifacts", "list");
  const mirrored = await run(
    "artifacts",
    "create",
    "--connection",
    "host",
    "--repository",
    "acme/measured",
    "--ref",
    "main",
  );
  process.stdout.write(
    `memory of the executable for ${(FILES * FILE_BYTES) / MIB} MiB: ${mirrored.toFixed(0)} MiB, without ${idle.toFixed(0)} MiB\n`,
  );
}

/** The value that the system reports at the end includes this process. @returns peak memory in KiB */
function peakOf(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0; // it has ended
  }
}
