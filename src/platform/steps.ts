// Long work as a generator that yields wherever other requests may go on. The caller decides whether it runs at once or over
// many turns of the event loop.
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
export const TURN_MS = 5;

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
