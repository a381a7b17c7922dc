// Shows the progress of a backup task on stderr: a spinner until the size is known, then a bar for each phase.
import type { TaskOptions } from "../../../src/app/backup/backup-task.ts";
import type { Context } from "../../context.ts";
import { startProgress } from "../../output/progress.ts";

/** @returns the options of the task; `using` clears the bar */
export function watchTask(context: Context, label: string): Required<TaskOptions> & Disposable {
  let progress = startProgress(context, { label, unit: "bytes" });
  let [counted, total] = [0, -1];
  return {
    signal: context.stopSignal(),
    onProgress: (doneBytes, totalBytes) => {
      if (totalBytes !== total) {
        progress.end();
        progress = startProgress(context, { label, unit: "bytes", total: totalBytes });
        [counted, total] = [0, totalBytes];
      }
      progress.advance(doneBytes - counted);
      counted = doneBytes;
    },
    [Symbol.dispose]: () => progress.end(),
  };
}
