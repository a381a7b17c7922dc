// Entry point of the thread that unpacks a captured session. It receives the bytes piece by piece, does one task and ends;
// reader-threads.ts starts it and limits its time.
import { parentPort, workerData } from "node:worker_threads";
import { PAGE_TIME_MS } from "../../domain/sessions/transcript/limits.ts";
import { noTranscript } from "../../domain/sessions/transcript/model.ts";
import { readPage } from "../../domain/sessions/transcript/page.ts";
import { scanForSecrets } from "../../domain/sessions/transcript/secrets.ts";
import { reportProgress, respondLater } from "../../platform/task-thread.ts";
import type { ReaderTask, SentPiece } from "./reader-threads.ts";

const task: ReaderTask = workerData;

/** Requests one piece at a time from the service, so that only one is in memory here. */
async function* pieces(): AsyncGenerator<Uint8Array> {
  for (;;) {
    const { promise, resolve } = Promise.withResolvers<SentPiece>();
    parentPort?.once("message", resolve);
    reportProgress("next");
    const { piece } = await promise;
    if (!piece) return;
    if (task.name === "page" && isTimeOver()) throw noTranscript("reading it takes too long");
    yield piece;
  }
}

/** Measured in processor time, so that a busy machine causes no refusals. */
function isTimeOver(): boolean {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000 > PAGE_TIME_MS;
}

await respondLater(() =>
  task.name === "page"
    ? readPage(pieces(), task.storedAs, task.place)
    : scanForSecrets(pieces(), task.storedAs, () => Date.now() >= task.untilMs),
);
