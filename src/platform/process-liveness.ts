// Whether the process that began a file may still write it. A process id alone is not enough: the system reuses the id of an
// ended process, and a killed process keeps its id until its parent collects its status.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { codeOf } from "./errors.ts";

/** @returns false only if no process of this program has that id now */
export function isOwnProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return codeOf(error) !== "ESRCH";
  }
  return !hasEnded(pid) && !isOtherProgram(pid);
}

/** @returns the processes of this user whose working directory is that folder or in it; none on a system without /proc */
export function processesIn(folder: string): number[] {
  const own = orUndefined(() => realpathSync(folder));
  const names = orUndefined(() => readdirSync("/proc")) ?? [];
  return names.filter((name) => /^\d+$/.test(name) && isIn(own, name)).map(Number);
}

function isIn(folder: string | undefined, pid: string): boolean {
  const current = orUndefined(() => readlinkSync(`/proc/${pid}/cwd`));
  return folder !== undefined && (current === folder || current?.startsWith(`${folder}/`) === true);
}

/** The state follows the program's name, which may contain any character. */
const hasEnded = (pid: number): boolean =>
  orUndefined(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
    ?.split(") ")
    .at(-1)
    ?.startsWith("Z") ?? false;

/** After a program file is replaced, its name ends with a mark. */
function isOtherProgram(pid: number): boolean {
  const path = orUndefined(() => readlinkSync(`/proc/${pid}/exe`));
  return path !== undefined && basename(path.replace(/ \(deleted\)$/, "")) !== basename(process.execPath);
}

/** not Linux, or no permission */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
