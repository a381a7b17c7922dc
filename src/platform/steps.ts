// Work that takes longer than others should wait: a generator that yields wherever they may go on. Whether it runs at once
// or over many turns of the event loop is for whoever has it done.

/** Work in pieces; what it yields means nothing, what it returns is its result. */
export type Steps<T> = Generator<undefined, T>;

/** Does all of it in this turn. @returns its result @throws what the work throws */
export function inOneTurn<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}
