// Work that takes longer than others should wait: a generator that yields wherever they may go on. Whether it runs at once
// or over many turns of the event loop is for whoever has it done.
import { setImmediate } from "node:timers/promises";

/** Work in pieces; what it yields means nothing, what it returns is its result. */
export type Steps<T> = Generator<undefined, T>;

/** Does all of it in this turn. @returns its result @throws what the work throws */
export function runSynchronously<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

/** How long work in steps keeps others waiting. */
export const TURN_MS = 5;

/** Does all of it, and lets the event loop turn whenever TURN_MS are over. @returns its result @throws what the work throws */
export async function runInTurns<T>(steps: Steps<T>): Promise<T> {
  let endMs = performance.now() + TURN_MS;
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
    if (performance.now() < endMs) continue;
    await setImmediate();
    endMs = performance.now() + TURN_MS;
  }
}
