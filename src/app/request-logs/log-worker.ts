// Entry point of the thread that writes, sweeps and searches the file of the request log. It runs as long as the
// service; start-log-thread.ts starts it, and domain/inference/log/writing/log-thread.ts does the work.
import { parentPort, workerData } from "node:worker_threads";
import { LogThread } from "../../domain/inference/log/writing/log-thread.ts";

const thread = new LogThread({
  file: workerData.file,
  send: (response) => parentPort?.postMessage(response),
});
parentPort?.on("message", (message) => thread.receive(message));
