// Counts requests in progress, in total and by user. A permit is held from before reading the credential until the last byte of
// the response.

export interface PermitLimits {
  /** all requests */
  inFlightMax: number;
  /** maximum for one user; 0 for no limit */
  perUserMax: number;
}

export class Permits {
  #inFlight = 0;
  readonly #byUser = new Map<string, number>();

  constructor(private readonly limits: PermitLimits) {}

  get inFlight(): number {
    return this.#inFlight;
  }

  get capacity(): number {
    return this.limits.inFlightMax;
  }

  /** @returns whether a permit was free */
  take(): boolean {
    if (this.#inFlight >= this.limits.inFlightMax) return false;
    this.#inFlight += 1;
    return true;
  }

  release(): void {
    this.#inFlight -= 1;
  }

  /** @returns whether the user may have one more request */
  takeForUser(userId: string): boolean {
    const { perUserMax } = this.limits;
    const count = this.#byUser.get(userId) ?? 0;
    if (perUserMax > 0 && count >= perUserMax) return false;
    this.#byUser.set(userId, count + 1);
    return true;
  }

  releaseForUser(userId: string): void {
    const count = this.#byUser.get(userId) ?? 0;
    if (count > 1) this.#byUser.set(userId, count - 1);
    else this.#byUser.delete(userId);
  }
}
