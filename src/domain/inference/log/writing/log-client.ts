// The service's side of the thread: sends tasks and waits for their responses. The next task restarts an ended thread. The
// queue waits longer after each failed attempt.
import { within } from "../../../../platform/clock.ts";
import { errorIn, type FromThread, type LogTaskName, type LogTasks } from "./thread-messages.ts";

/** How long a stopping service waits for the queued rows and the thread. */
export const CLOSE_WAIT_MS = 5_000;

/** A pending task; the thread receives it as `ToThread`. */
interface Posted<Name extends LogTaskName> {
  number: number;
  name: Name;
  request: LogTasks[Name]["request"];
}

export interface RunningThread {
  post<Name extends LogTaskName>(message: Posted<Name>): void;
  terminate(): Promise<unknown>;
}

interface ThreadEvents {
  onResponse(response: FromThread): void;
  /** called once, also after `terminate` */
  onEnd(reason: unknown): void;
}

/** Starts the thread for a file; the thread is in app/request-logs/. */
export type StartLogThread = (file: string, events: ThreadEvents) => RunningThread;

interface Waiting {
  answered(response: FromThread): void;
  ended(reason: unknown): void;
}

export class LogClient {
  #thread: RunningThread | undefined;
  #number = 0;
  readonly #waiting = new Map<number, Waiting>();

  constructor(
    private readonly file: string,
    private readonly start: StartLogThread,
  ) {}

  /** @throws what the task throws; an Error if the thread ended before its response */
  ask<Name extends LogTaskName>(
    name: Name,
    request: LogTasks[Name]["request"],
  ): Promise<LogTasks[Name]["result"]> {
    const { promise, resolve, reject } = Promise.withResolvers<LogTasks[Name]["result"]>();
    const number = this.#number++;
    this.#waiting.set(number, {
      answered: (response) => ("result" in response ? resolve(response.result) : reject(errorIn(response))),
      ended: (reason) => reject(new Error("the thread of the request log ended", { cause: reason })),
    });
    this.#thread ??= this.#startThread();
    this.#thread.post({ number, name, request });
    return promise;
  }

  /** Closes the file and ends a running thread. */
  async end(): Promise<void> {
    const thread = this.#thread;
    if (!thread) return;
    await within(CLOSE_WAIT_MS, this.ask("close", null)).catch(() => {}); // a dead thread has no open file
    await thread.terminate();
  }

  #startThread(): RunningThread {
    const thread = this.start(this.file, {
      onResponse: (response) => {
        this.#waiting.get(response.number)?.answered(response);
        this.#waiting.delete(response.number);
      },
      onEnd: (reason) => {
        if (this.#thread === thread) this.#thread = undefined;
        const unanswered = [...this.#waiting.values()];
        this.#waiting.clear();
        for (const each of unanswered) each.ended(reason);
      },
    });
    return thread;
  }
}
