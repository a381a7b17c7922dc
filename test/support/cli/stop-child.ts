// Stops a child process at a step of its work, so that a signal arrives during that step even on a busy machine.
import { readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { Subprocess } from "bun";

const STOPPED = "T";

/**
 * @param isThere returns whether the process is at the step; called again after the stop
 * @returns true once the process is stopped at the step, where SIGCONT or SIGKILL ends the stop; false if it ended without it
 */
export async function stopAt(child: Subprocess, isThere: () => boolean): Promise<boolean> {
  while (hasNotEnded(child)) {
    if (isThere()) {
      child.kill("SIGSTOP");
      while (hasNotEnded(child) && !isStopped(child.pid)) await nextTurn();
      if (hasNotEnded(child) && isThere()) return true;
      child.kill("SIGCONT");
    }
    await nextTurn();
  }
  return false;
}

const hasNotEnded = ({ exitCode, signalCode }: Subprocess): boolean =>
  exitCode === null && signalCode === null;

/** @returns whether every thread is stopped: one that is in a system call stops at its end */
function isStopped(pid: number): boolean {
  try {
    const tasks = `/proc/${pid}/task`;
    return readdirSync(tasks).every((task) => {
      const text = readFileSync(`${tasks}/${task}/stat`, "utf8");
      return text.slice(text.lastIndexOf(")") + 2).startsWith(STOPPED); // the state follows the name, which may have parentheses
    });
  } catch {
    return false; // a thread ended in the meantime
  }
}
