// Whether the process that began a file may still write it. A process id alone is not enough: the system gives the number of a
// process that has ended to another program, and a killed process keeps its number until its parent has asked how it ended.
import { readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename } from "node:path";
import { codeOf } from "./errors.ts";

/** @returns false only if no process of this program has that id */
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

/** The state follows the name of the program, which may contain anything. */
const hasEnded = (pid: number): boolean =>
  orUndefined(() => readFileSync(`/proc/${pid}/stat`, "utf8"))
    ?.split(") ")
    .at(-1)
    ?.startsWith("Z") ?? false;

/** The file name of a program that was replaced in the meantime ends with a mark. */
function isOtherProgram(pid: number): boolean {
  const path = orUndefined(() => readlinkSync(`/proc/${pid}/exe`));
  return path !== undefined && basename(path.replace(/ \(deleted\)$/, "")) !== basename(process.execPath);
}

/** Not Linux, or hidden from us. */
function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
