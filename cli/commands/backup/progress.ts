// Shows the progress of a backup task on stderr: a spinner until the size is known, then a bar for each phase.
import type { TaskOptions } from "../../../src/app/backup/backup-task.ts";
import type { Context } from "../../context.ts";
import { startProgress } from "../../output/progress.ts";

/**
 * @param label names the work until its first phase
 * @returns the options of the task; `using` clears the bar
 */
export function watchTask(context: Context, label: string): TaskOptions & Disposable {
  let progress = startProgress(context, { label, unit: "bytes" });
  let shown = { phase: label, total: -1 };
  let counted = 0;
  return {
    signal: context.stopSignal(),
    perform: context.performTask,
    onProgress: (doneBytes, total, phase = label) => {
      if (total !== shown.total || phase !== shown.phase) {
        progress.end();
        progress = startProgress(context, { label: phase, unit: "bytes", total });
        shown = { phase, total };
        counted = 0;
      }
      progress.advance(doneBytes - counted);
      counted = doneBytes;
    },
    [Symbol.dispose]: () => progress.end(),
  };
}
