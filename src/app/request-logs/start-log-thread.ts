// Starts the thread of the request log. log-worker.ts is the thread itself.
import { Worker } from "node:worker_threads";
import type { StartLogThread } from "../../domain/inference/log/writing/log-client.ts";

/** See StartLogThread. */
export const startLogThread: StartLogThread = (file, { onResponse, onEnd }) => {
  const worker = new Worker(new URL("./log-worker.ts", import.meta.url), { workerData: { file } });
  const ended = Promise.withResolvers<unknown>();
  worker.on("message", onResponse);
  worker.on("error", ended.resolve);
  worker.on("exit", (code) => ended.resolve(`exit code ${code}`));
  void ended.promise.then(onEnd);
  return {
    post: (message) => worker.postMessage(message),
    terminate: () => worker.terminate(),
  };
};
