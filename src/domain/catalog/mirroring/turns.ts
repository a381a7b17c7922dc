// Work that must not run twice at once: the same work is done once for everybody who asks, and other work in the same place waits.

/** The work, and where it is done. */
interface Names {
  work: string;
  place: string;
}

export class Turns<Result> {
  readonly #running = new Map<string, Promise<Result>>();
  /** the last work in each place */
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns what the work returns, or what the same work that is running already does @throws what the work throws */
  async take({ work: name, place }: Names, work: () => Promise<Result>): Promise<Result> {
    const running =
      this.#running.get(name) ?? this.#after(place, work).finally(() => this.#running.delete(name));
    this.#running.set(name, running);
    return await running;
  }

  async #after(place: string, work: () => Promise<Result>): Promise<Result> {
    const turn = (this.#last.get(place) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => {}); // the caller gets the error
    this.#last.set(place, settled);
    try {
      return await turn;
    } finally {
      if (this.#last.get(place) === settled) this.#last.delete(place);
    }
  }
}
