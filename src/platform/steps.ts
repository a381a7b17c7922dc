// Long work in parts: as a generator that yields wherever other requests may run, at once or over many turns of the event loop,
// or in batches of which each has a transaction.
import { setImmediate } from "node:timers/promises";

/** Work in steps; its yielded values have no meaning, its return value is the result. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all of it in this turn. @returns its result @throws errors of the work */
export function runSynchronously<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** How long work in steps may hold the event loop. */
const TURN_MS = 5;

/**
 * Runs all of it, and lets the event loop turn every `turnMs`; 0 lets it turn after each step.
 * @returns its result
 * @throws errors of the work
 */
export async function runInTurns<T>(steps: Steps<T>, turnMs = TURN_MS): Promise<T> {
  let endMs = performance.now() + turnMs;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < endMs) continue;
    await setImmediate();
    endMs = performance.now() + turnMs;
  }
}

/**
 * `runInTurns`, until a time.
 * @param untilMs as `performance.now()` counts
 * @returns the result; undefined if the work was not finished by then and was canceled
 * @throws errors of the work
 */
export async function runInTurnsUntil<T>(steps: Steps<T>, untilMs: number): Promise<T | undefined> {
  for (;;) {
    const endMs = performance.now() + TURN_MS;
    do {
      const step = steps.next();
      if (step.done) return step.value;
    } while (performance.now() < endMs);
    if (performance.now() >= untilMs) return undefined;
    await setImmediate();
  }
}

/**
 * Runs batches until one is not full.
 * @param batch does the work of one and returns how many rows it had
 * @param limit rows of a full batch
 * @param signal ends the run between two batches
 * @returns how many rows there were
 */
export async function runInBatches(
  batch: () => Promise<number>,
  { limit, signal }: { limit: number; signal: AbortSignal },
): Promise<number> {
  let sum = 0;
  while (!signal.aborted) {
    const rows = await batch();
    sum += rows;
    if (rows < limit) break;
  }
  return sum;
}
