// Long work in steps, as a generator that yields wherever other requests may run. It runs in one turn, over many turns of the
// event loop, or in batches with a transaction each.
import { setImmediate } from "node:timers/promises";

/** Work in steps; its yielded values have no meaning, its return value is the result. */
export type Steps<T> = Generator<undefined, T>;

/** Runs all steps in this turn. @returns the result @throws errors of the work */
export function runSynchronously<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** How long work in steps may block the event loop. */
const TURN_MS = 5;

/**
 * Runs all steps, and yields to the event loop every `turnMs`; 0 yields after each step.
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
 * `runInTurns` with a deadline.
 * @param untilMs on the clock of `performance.now()`
 * @returns the result; undefined if the work was not done by then and was canceled
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
 * @param batch processes one batch and returns its number of rows
 * @param limit rows of a full batch
 * @param signal ends the run between two batches
 * @returns the total number of rows
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
