// Makes the archives of mirrored commits in a thread, one at a time, so that the service keeps answering: compressing takes one
// processor for seconds, and the other one is for requests. The thread itself is repack-worker.ts.
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { sourceFault } from "../../domain/catalog/connections/faults.ts";
import type { Repacked, RunRepack } from "../../domain/catalog/mirroring/repack.ts";
import { resultOf } from "../../platform/task-thread.ts";

/** Threads at the same time. */
const THREADS_MAX = 1;

/** @returns a function that runs tasks; a service needs one */
export function createRepackThreads(): RunRepack {
  const limit = pLimit(THREADS_MAX);
  return (task, { signal }) =>
    limit(async () => {
      if (signal.aborted) throw sourceFault("too_slow");
      const worker = new Worker(new URL("./repack-worker.ts", import.meta.url), { workerData: task });
      try {
        return await resultOf<Repacked>(worker, { signal });
      } catch (error) {
        throw signal.aborted ? sourceFault("too_slow") : error;
      }
    });
}
