// Entry point of the thread that makes the archive of a mirrored commit. It does one task and ends; repack-threads.ts starts it and ends
// it when its time is over.
import { workerData } from "node:worker_threads";
import { type RepackTask, repack } from "../../domain/catalog/mirroring/repack.ts";
import { answerLater } from "../../platform/task-thread.ts";

const task: RepackTask = workerData;

await answerLater(() => repack(task));
