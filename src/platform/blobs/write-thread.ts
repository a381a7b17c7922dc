// A thread that writes and hashes large files, because both take the processor for long enough to delay every request. It starts
// with the first file, and ends when none has come for a while. The thread itself is write-worker.ts.
import type { FileHandle } from "node:fs/promises";
import { Worker } from "node:worker_threads";
import { DomainError } from "../errors.ts";
import type { OpenWriter, PieceWriter } from "./piece-writer.ts";

/** `id` identifies the file. A request with only the id makes the thread forget the file. */
export type WriteRequest =
  | { id: number; fd: number; piece: Uint8Array<ArrayBuffer> }
  | { id: number; digest: true }
  | { id: number };

/** One response per request. */
export interface WriteResponse {
  id: number;
  digest?: string;
  failed?: { message: string; code: string | undefined };
}

/** An idle thread takes a few MB. */
const IDLE_MS = 60_000;

export class WriteThread implements Disposable {
  #running: Running | undefined;
  #files = 0;
  #idle: Timer | undefined;

  /** @param idleMs after which the thread ends; the next file starts another one */
  constructor(private readonly idleMs: number = IDLE_MS) {}

  get isRunning(): boolean {
    return this.#running !== undefined;
  }

  readonly open: OpenWriter = (file) => {
    clearTimeout(this.#idle);
    if (!this.#running?.isAlive) this.#running = new Running();
    this.#files += 1;
    return new ThreadWriter(this.#running, file, () => this.#ended());
  };

  /** Ends the thread; files that are being written fail. */
  [Symbol.dispose](): void {
    clearTimeout(this.#idle);
    this.#running?.end();
    this.#running = undefined;
  }

  #ended(): void {
    this.#files -= 1;
    if (this.#files > 0) return;
    this.#idle = setTimeout(() => this[Symbol.dispose](), this.idleMs);
    this.#idle.unref();
  }
}

type Answered = PromiseWithResolvers<WriteResponse>;

/** A thread from its start to its end. */
class Running {
  readonly #worker = new Worker(new URL("./write-worker.ts", import.meta.url));
  /** by file; each has one request at a time */
  readonly #waiting = new Map<number, Answered>();
  #lastId = 0;
  isAlive = true;

  constructor() {
    this.#worker.unref();
    this.#worker.on("message", (response: WriteResponse) => this.#settle(response));
    this.#worker.on("error", (error) => this.#fail(error));
    this.#worker.on("exit", () => this.#fail());
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** The memory of a piece moves to the thread. */
  ask(request: WriteRequest): Promise<WriteResponse> {
    if (!this.isAlive) return Promise.reject(threadEnded());
    const answered = Promise.withResolvers<WriteResponse>();
    this.#waiting.set(request.id, answered);
    this.#worker.postMessage(request, "piece" in request ? [request.piece.buffer] : []);
    return answered.promise;
  }

  end(): void {
    void this.#worker.terminate().catch(() => {}); // the thread may have ended already
  }

  #settle(response: WriteResponse): void {
    const { id, failed } = response;
    const answered = this.#waiting.get(id);
    this.#waiting.delete(id);
    if (failed) answered?.reject(Object.assign(new Error(failed.message), { code: failed.code }));
    else answered?.resolve(response);
  }

  #fail(cause?: unknown): void {
    this.isAlive = false;
    for (const { reject } of this.#waiting.values()) reject(threadEnded(cause));
    this.#waiting.clear();
  }
}

class ThreadWriter implements PieceWriter {
  readonly #id: number;
  /** response to the last piece; the next piece can arrive while the thread writes this one */
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly running: Running,
    private readonly file: FileHandle,
    private readonly ended: () => void,
  ) {
    this.#id = running.nextId();
  }

  async write(piece: Uint8Array): Promise<void> {
    await this.#last;
    this.#last = this.running.ask({ id: this.#id, fd: this.file.fd, piece: alone(piece) });
    this.#last.catch(() => {}); // the next call reports the error
  }

  async digest(): Promise<string> {
    await this.#last;
    const { digest } = await this.running.ask({ id: this.#id, digest: true });
    return digest ?? "";
  }

  /** The system may reuse the descriptor as soon as this file is closed, so the thread must be done with it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#last.catch(() => {});
    await this.running.ask({ id: this.#id }).catch(() => {}); // a dead thread no longer has the file
    this.ended();
  }
}

/** @returns the piece in memory of its own, which can be transferred; copies it only if it shares memory */
const alone = (piece: Uint8Array): Uint8Array<ArrayBuffer> =>
  piece.buffer instanceof ArrayBuffer && piece.buffer.byteLength === piece.byteLength
    ? new Uint8Array(piece.buffer)
    : new Uint8Array(piece);

const threadEnded = (cause?: unknown) =>
  new DomainError("unavailable", "artifact.thread_ended", "the thread that writes files has ended", {
    hint: "send the file again",
    cause: cause ?? new Error("the write thread exited"),
  });
