// A thread that runs checkpoints, because a checkpoint of a large log can keep the disk busy for a second or more. The thread keeps
// running between checkpoints: starting one costs more processor time than most checkpoints. checkpoint-worker.ts is its entry point.
import { Worker } from "node:worker_threads";
import { nextResultOf } from "../task-thread.ts";
import type { LogState } from "./checkpoints.ts";

export class CheckpointThread implements Disposable {
  #worker: Worker | undefined;

  /**
   * Copies the log of a database into its file, as far as no reader needs older pages. Callers run one at a time. The
   * first call starts the thread; if the thread died, the next call starts another one.
   * @throws DomainError `storage.*`
   */
  async checkpoint(file: string): Promise<LogState> {
    this.#worker ??= this.#start();
    this.#worker.postMessage(file);
    return await nextResultOf<LogState>(this.#worker);
  }

  [Symbol.dispose](): void {
    void this.#worker?.terminate().catch(() => {}); // the thread may have ended already
    this.#worker = undefined;
  }

  #start(): Worker {
    const worker = new Worker(new URL("./checkpoint-worker.ts", import.meta.url));
    worker.unref();
    worker.on("error", () => {}); // the call that waits for the thread reports it
    worker.on("exit", () => {
      if (this.#worker === worker) this.#worker = undefined;
    });
    return worker;
  }
}
