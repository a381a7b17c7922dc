// When each device login was last polled, in memory only: a poll must not touch the disk (performance.md).
// Losing the times, by a restart or by the bound, lets one poll through early and breaks nothing.

/** The last accepted poll of each device login. */
export class PollTimes {
  readonly #acceptedAtMs = new Map<string, number>();

  /** @param sizeMax device logins remembered; beyond it the one polled longest ago is forgotten */
  constructor(private readonly sizeMax: number) {}

  /**
   * Counts the interval from the last accepted poll, so that a client which waits always succeeds (USE-1).
   * @returns whether the poll came in time; a clock set back never keeps a client out
   * @source RFC 8628 section 3.5
   */
  accept(id: string, { nowMs, intervalMs }: { nowMs: number; intervalMs: number }): boolean {
    const last = this.#acceptedAtMs.get(id);
    if (last !== undefined && nowMs >= last && nowMs < last + intervalMs) return false;
    this.#acceptedAtMs.delete(id);
    this.#acceptedAtMs.set(id, nowMs);
    if (this.#acceptedAtMs.size > this.sizeMax) this.#forgetOldest();
    return true;
  }

  /** Drops a login that is over. */
  forget(id: string): void {
    this.#acceptedAtMs.delete(id);
  }

  get size(): number {
    return this.#acceptedAtMs.size;
  }

  /** A map keeps the order of insertion, and accepting inserts anew. */
  #forgetOldest(): void {
    const oldest = this.#acceptedAtMs.keys().next();
    if (!oldest.done) this.#acceptedAtMs.delete(oldest.value);
  }
}
