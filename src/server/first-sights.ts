// How much of the processor goes into access tokens that come for the first time. Verifying one takes longer than the rest
// of a small request, and anybody may send any number of them: after a restart the whole fleet does, and an attacker may do
// so with tokens that were never ours. So all of them together get a share of the processor and wait their turn for it, and
// an address whose tokens are refused is soon not listened to. Tokens seen before need none of this.
import { countedAddress } from "../domain/access/counted-address.ts";
import { DomainError } from "../domain/errors.ts";
import type { Clock } from "../platform/clock.ts";
import { createRates } from "./rate-limit.ts";

/** Of a core. Whoever else asks finds the other half. */
export const VERIFICATION_SHARE = 0.5;
/** Of verification, in one go: about a hundred and fifty tokens. Nobody else is answered meanwhile. */
export const VERIFICATION_BURST_MS = 10;
const PACE_MS = 4;
/** Callers that wait for their turn, for a second or two at most; whoever comes then is asked to come again. */
export const WAITING_MAX = 10_000;
/** Refused tokens of one address: a hundredth of a core. A site behind one address has some expired ones. */
export const REFUSED_TOKENS = { perSecond: 200, burst: 2_000 };
const RETRY_SECONDS = 2;

export interface FirstSightsOptions {
  clock: Clock;
  /** milliseconds of a clock that nobody sets; the runtime's when left out */
  elapsedMs?: () => number;
}

/** Work on the token of somebody, with its turn. */
interface Waiting {
  run(): void;
}

/** The one gate that verifications go through; made once. */
export class FirstSights {
  readonly #refused;
  readonly #elapsedMs: () => number;
  readonly #waiting: Waiting[] = [];
  #leftMs = VERIFICATION_BURST_MS;
  #atMs: number;
  #timer: Timer | undefined;

  constructor({ clock, elapsedMs = () => performance.now() }: FirstSightsOptions) {
    this.#refused = createRates(clock, REFUSED_TOKENS);
    this.#elapsedMs = elapsedMs;
    this.#atMs = elapsedMs();
  }

  /** @returns callers that wait */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @param verify throws for a token that is refused
   * @returns what it returns; undefined, without asking it, where the caller has to wait for a turn
   * @throws what `verify` throws; DomainError `access.tokens_refused` for an address that sent too many bad ones
   */
  atOnce<T>(address: string | null, verify: () => T): T | undefined {
    this.#refuseExhausted(address);
    if (this.#waiting.length > 0 || !this.#hasTime()) return undefined;
    return this.#verify(address, verify);
  }

  /**
   * @returns what `verify` returns, when it is this caller's turn
   * @throws as `atOnce`; DomainError `access.verification_busy` where too many wait
   */
  async inTurn<T>(address: string | null, verify: () => T): Promise<T> {
    if (this.#waiting.length >= WAITING_MAX) throw busy();
    return await new Promise<T>((resolve, reject) => {
      const run = () => {
        try {
          this.#refuseExhausted(address);
          resolve(this.#verify(address, verify));
        } catch (error) {
          reject(error);
        }
      };
      this.#waiting.push({ run });
      this.#timer ??= setTimeout(() => this.#drain(), PACE_MS);
    });
  }

  #drain(): void {
    this.#timer = undefined;
    let taken = 0;
    while (taken < this.#waiting.length && this.#hasTime()) {
      this.#waiting[taken]?.run();
      taken += 1;
    }
    this.#waiting.splice(0, taken);
    if (this.#waiting.length > 0) this.#timer = setTimeout(() => this.#drain(), PACE_MS);
  }

  #hasTime(): boolean {
    const nowMs = this.#elapsedMs();
    const gainedMs = (nowMs - this.#atMs) * VERIFICATION_SHARE;
    this.#leftMs = Math.min(VERIFICATION_BURST_MS, this.#leftMs + gainedMs);
    this.#atMs = nowMs;
    return this.#leftMs > 0;
  }

  #verify<T>(address: string | null, verify: () => T): T {
    const key = countedAddress(address);
    const beganMs = this.#elapsedMs();
    this.#refused.charge(key, 1);
    try {
      const verified = verify();
      this.#refused.charge(key, -1);
      return verified;
    } finally {
      this.#leftMs -= this.#elapsedMs() - beganMs;
    }
  }

  #refuseExhausted(address: string | null): void {
    const seconds = this.#refused.wait(countedAddress(address));
    if (seconds === 0) return;
    throw new DomainError(
      "too_many",
      "access.tokens_refused",
      "too many tokens from this address were refused; try again later",
      { retryAfterSeconds: seconds },
    );
  }
}

const busy = () =>
  new DomainError(
    "unavailable",
    "access.verification_busy",
    "too many callers come with a token for the first time; try again",
    { retryAfterSeconds: RETRY_SECONDS },
  );
