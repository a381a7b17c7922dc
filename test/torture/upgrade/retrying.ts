// Callers that retry until they get a response, like workstations and identity providers, and the times of these responses.
import type { Caller } from "../callers.ts";

const PAUSE_MS = 10;
const PATIENCE_MS = 60_000;
/** Responses that a service may send while it ends or starts. */
const TEMPORARY = /"status":503/;

export class RetryingLoad {
  /** responses that a retry cannot change */
  readonly refusals: string[] = [];
  #isOver = false;
  readonly #acknowledgedAtMs: number[] = [];
  readonly #running: Promise<void>[];
  readonly callers: readonly Caller[];

  constructor(callers: readonly Caller[]) {
    this.callers = callers;
    this.#running = callers.map((caller) => this.#repeat(caller));
  }

  async #repeat(caller: Caller): Promise<void> {
    while (!this.#isOver) {
      const before = caller.acknowledged;
      await caller.change().catch((error: unknown) => {
        if (!TEMPORARY.test(String(error))) this.refusals.push(String(error));
      });
      if (caller.acknowledged > before) this.#acknowledgedAtMs.push(performance.now());
      else await Bun.sleep(PAUSE_MS);
    }
  }

  /** Resolves when each caller got another response. @throws Error after a minute */
  async everyoneAnswered(): Promise<void> {
    const before = this.callers.map(({ acknowledged }) => acknowledged);
    const deadlineMs = performance.now() + PATIENCE_MS;
    while (this.callers.some(({ acknowledged }, index) => acknowledged <= (before[index] ?? 0))) {
      if (performance.now() > deadlineMs) throw new Error(`no response in a minute; ${this.refusals.at(-1)}`);
      await Bun.sleep(PAUSE_MS);
    }
  }

  async end(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#running);
  }

  /** @returns the time without a response around a moment, in milliseconds */
  gapAround(momentMs: number): number {
    const times = this.#acknowledgedAtMs.toSorted((one, other) => one - other);
    const next = times.findIndex((time) => time > momentMs);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time));
    // A request that the old version still answers may come after that moment.
    return Math.max(0, ...gaps.slice(Math.max(next - 1, 0)));
  }
}
