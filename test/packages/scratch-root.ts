// A copy of this machine in which packages are installed: an overlay file system, which keeps every change in memory. It exists
// only in the mount namespace of this process. Its systemctl only records its arguments.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ASKED = "/systemctl.log";
const SYSTEMCTL = `#!/bin/sh
echo "$*" >> ${ASKED}
`;

/** A separate folder, so that a removal cannot reach the files of this machine. */
const DEVICES = [
  ["null", "3"],
  ["zero", "5"],
  ["urandom", "9"],
] as const;

export interface Outcome {
  exitCode: number;
  /** stdout and stderr */
  output: string;
}

export class ScratchRoot {
  readonly path: string;
  /** receives every file that differs from this machine */
  readonly #changes: string;

  /** @param place an empty folder in which file systems can be mounted */
  constructor(place: string) {
    this.path = join(place, "root");
    this.#changes = join(place, "memory", "changes");
    mkdirSync(join(place, "memory"), { recursive: true });
    mount("-t", "tmpfs", "tmpfs", join(place, "memory"));
    const work = join(place, "memory", "work");
    for (const folder of [this.path, this.#changes, work]) mkdirSync(folder, { recursive: true });
    const options = `lowerdir=/,upperdir=${this.#changes},workdir=${work}`;
    mount("-t", "overlay", "overlay", "-o", options, this.path);
    mount("-t", "proc", "proc", join(this.path, "proc"));
    for (const [name, minor] of DEVICES)
      must("mknod", "-m", "666", join(this.path, "dev", name), "c", "1", minor);
    rmSync(join(this.path, "usr/sbin/policy-rc.d"), { force: true });
    rmSync(join(this.path, "usr/bin/systemctl"), { force: true });
    writeFileSync(join(this.path, "usr/bin/systemctl"), SYSTEMCTL);
    chmodSync(join(this.path, "usr/bin/systemctl"), 0o755);
    mkdirSync(join(this.path, "run/systemd/system"), { recursive: true });
  }

  run(...command: string[]): Outcome {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["chroot", this.path, ...command], {
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL: "C.UTF-8" },
      stdin: "ignore",
    });
    return { exitCode, output: `${stdout}${stderr}` };
  }

  /** @throws Error with the output if the command fails */
  must(...command: string[]): string {
    const { exitCode, output } = this.run(...command);
    if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}:\n${output}`);
    return output;
  }

  /** @returns the arguments of systemctl since the last call */
  requests(): string[] {
    const log = join(this.path, ASKED);
    const lines = existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
    rmSync(log, { force: true });
    return lines;
  }

  /** @returns `MODE USER:GROUP` of a file, or undefined if it does not exist */
  owned(path: string): string | undefined {
    const { exitCode, output } = this.run("stat", "--format", "%a %U:%G", path);
    return exitCode === 0 ? output.trim() : undefined;
  }

  read(path: string): string {
    return readFileSync(join(this.path, path), "utf8");
  }

  write(path: string, text: string): void {
    writeFileSync(join(this.path, path), text);
  }

  /** Makes everything read-only except one folder, which is empty and belongs to the user and group. */
  protect(folder: string, user: string): void {
    mount("--rbind", this.path, this.path);
    mount("-o", "remount,ro,bind", this.path);
    mount("-t", "tmpfs", "-o", `uid=${user},gid=${user},mode=700`, "tmpfs", join(this.path, folder));
  }

  /** @returns the files of the product that differ from this machine */
  changedFiles(): string[] {
    return [
      ...new Bun.Glob("**/*quartermaster*").scanSync({ cwd: this.#changes, dot: true, onlyFiles: false }),
    ].sort();
  }
}

const mount = (...args: string[]): void => must("mount", ...args);

function must(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")} ended with ${exitCode}: ${stderr}`);
}
