// The Containerfile of the handbook: hadolint lints it, and the service runs with its user, variables and command, where only the
// volume is writable.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { containerfile } from "../../src/handbook/containerfile.ts";
import type { Examination } from "./examination.ts";
import type { ScratchRoot } from "./scratch-root.ts";

const DATA = "/var/lib/quartermaster";
const ADDRESS = "127.0.0.1:18080";
const PATIENCE_MS = 20_000;

/** @param root has the executable at its place */
export async function examineContainer(
  root: ScratchRoot,
  { folder, hadolint }: { folder: string; hadolint: string },
  seen: Examination,
): Promise<void> {
  const file = join(folder, "Containerfile");
  const text = containerfile();
  writeFileSync(file, `${text}\n`);
  seen.equal("container: hadolint finds nothing", Bun.spawnSync([hadolint, file]).stdout.toString(), "");
  mkdirSync(join(root.path, DATA), { recursive: true });
  const { user, group, variables, healthCheck, command } = instructionsIn(text);
  root.protect(DATA, user);
  const probe = () => root.run(...healthCheck);
  seen.equal("container: the health check fails without the service", probe().exitCode, 6);
  const rights = [
    `--reuid=${user}`,
    `--regid=${group}`,
    "--clear-groups",
    "--no-new-privs",
    "--bounding-set=-all",
  ];
  const inRoot = ["/usr/sbin/chroot", root.path, "env", ...variables, "setpriv", ...rights, ...command];
  await using service = Bun.spawn(inRoot, {
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

/** The settings of a container engine, with another address, because this machine may use that one. */
function instructionsIn(text: string) {
  const moved = text.replaceAll(/(?:0\.0\.0\.0|127\.0\.0\.1):8080/g, ADDRESS);
  const wordsOf = (instruction: string): string[] =>
    JSON.parse(new RegExp(`^${instruction} (\\[.*\\])$`, "m").exec(moved)?.[1] ?? "[]");
  const [, user = "", group = ""] = /^USER (\d+):(\d+)$/m.exec(moved) ?? [];
  return {
    user,
    group,
    variables: moved.match(/\bQUARTERMASTER_\w+=[^\s\\]+/g) ?? [],
    healthCheck: wordsOf(" +CMD"),
    command: [...wordsOf("ENTRYPOINT"), ...wordsOf("CMD")],
  };
}
