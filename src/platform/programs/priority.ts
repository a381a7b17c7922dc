// Lowers the priority of work that must not delay requests.
import { constants, getPriority, setPriority } from "node:os";

/** Below the thread that answers requests, which thus gets three quarters of a busy processor. */
const NICENESS = 5;
/** Nine tenths. */
export const UPLOAD_NICENESS = 10;

/**
 * Lowers the priority of the calling thread, and of a process with one thread. On Linux the number 0 means the calling thread,
 * elsewhere the whole process. A failure is ignored: a sandbox may forbid the call, and nothing depends on it.
 */
export function yieldToRequests(niceness = NICENESS): void {
  if (process.platform !== "linux") return;
  try {
    setPriority(0, Math.min(constants.priority.PRIORITY_LOW, getPriority(0) + niceness));
  } catch {}
}
