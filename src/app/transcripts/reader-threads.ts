// Reads captured sessions in threads, one session in each, so that the service keeps answering. Only the service has access to
// the stores, so it passes the bytes to the thread. The thread's entry point is reader-worker.ts.
import { Worker } from "node:worker_threads";
import pLimit from "p-limit";
import { readersBusy, storeUnavailable } from "../../domain/sessions/errors.ts";
import type { StoredAs } from "../../domain/sessions/transcript/bundle.ts";
import { SCAN_TIME_MS, STORE_TIME_MS } from "../../domain/sessions/transcript/limits.ts";
import type { Place, TranscriptPage } from "../../domain/sessions/transcript/model.ts";
import type { TranscriptReader } from "../../domain/sessions/transcript/reader.ts";
import type { SecretScan } from "../../domain/sessions/transcript/secrets.ts";
import { resultOf } from "../../platform/task-thread.ts";

type Bytes = AsyncIterable<Uint8Array>;

/** Maximum number of readers that wait for a thread; further ones must try again later. */
export const READERS_WAITING_MAX = 16;
/** Maximum number of threads. The other processor stays free for requests. */
const READERS_MAX = 1;

export type ReaderTask =
  | { name: "page"; storedAs: StoredAs; place: Place }
  | { name: "scan"; storedAs: StoredAs; untilMs: number };

/** Undefined at the end of the bytes. */
export interface SentPiece {
  piece: Uint8Array | undefined;
}

export class ReaderThreads implements TranscriptReader {
  readonly #limit = pLimit(READERS_MAX);

  /** @throws DomainError `sessions.no_transcript`, `sessions.invalid`, `sessions.readers_busy`, `sessions.store_unavailable` */
  page = (stored: () => Bytes, storedAs: StoredAs, place: Place): Promise<TranscriptPage> =>
    this.#run(() => runThread<TranscriptPage>({ name: "page", storedAs, place }, stored()));

  /** @throws like `page` */
  scan = (stored: () => Bytes, storedAs: StoredAs): Promise<SecretScan> =>
    this.#run(() =>
      runThread<SecretScan>({ name: "scan", storedAs, untilMs: Date.now() + SCAN_TIME_MS }, stored()),
    );

  #run<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#limit.pendingCount >= READERS_WAITING_MAX) throw readersBusy();
    return this.#limit(work);
  }
}

async function runThread<Result>(task: ReaderTask, stored: Bytes): Promise<Result> {
  const pieces = stored[Symbol.asyncIterator]();
  const stop = new AbortController();
  const worker = new Worker(new URL("./reader-worker.ts", import.meta.url), { workerData: task });
  const send = async () => {
    try {
      const { done, value } = await pieces.next();
      const sent: SentPiece = { piece: done ? undefined : value };
      worker.postMessage(sent);
    } catch (error) {
      stop.abort(error);
    }
  };
  const timer = setTimeout(
    () => stop.abort(storeUnavailable(new Error("reading took too long"))),
    STORE_TIME_MS,
  );
  try {
    return await resultOf<Result, "next">(worker, { signal: stop.signal, onProgress: () => void send() });
  } finally {
    clearTimeout(timer);
    void pieces.return?.().catch(() => {}); // closes the stream of the store
  }
}
