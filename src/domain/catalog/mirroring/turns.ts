// Shares and orders work: concurrent requests for the same work share one run, and different work at the same place waits.

/** The work and its place. */
interface Names {
  work: string;
  place: string;
}

export class Turns<Result> {
  readonly #running = new Map<string, Promise<Result>>();
  /** the last work in each place */
  readonly #last = new Map<string, Promise<unknown>>();

  /** @returns the result of the work, which may be a run already in progress @throws the errors of the work */
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
