// Limits the processor time spent on access tokens that are seen for the first time. Verifying a token takes longer than the
// rest of a small request, and anyone can send any number: the whole fleet does after a restart, and an attacker may send
// forged ones. Three limits apply: verification time per turn of the event loop, the processor share of refused tokens, and
// refused tokens per address. Tokens verified before bypass this.
import { countedAddress } from "../../domain/access/budgets/counted-address.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import { createRates } from "../../platform/rate-limit.ts";
import type { Verdict } from "../metrics/token-metrics.ts";

/** Verification time in one turn of the event loop, about 150 tokens. All other requests wait during it. */
export const TURN_MS = 10;
/**
 * Share of one core for refused tokens. While it is used up all new tokens wait, because only verification distinguishes valid
 * tokens.
 */
export const REFUSAL_SHARE = 0.25;
/** Refusal budget that accumulates while idle. */
export const REFUSAL_BURST_MS = 50;
const BATCH_INTERVAL_MS = 4;
/** Callers waiting for verification, for one or two seconds at most. Further callers get 503 with Retry-After. */
export const WAITING_MAX = 10_000;
/** Refused tokens per address, about 1 % of a core. A site behind one address sends some expired tokens. */
export const REFUSED_TOKENS = { perSecond: 200, burst: 2_000 };
const RETRY_SECONDS = 2;

/** The caller's token, whose verification may have to wait. */
export interface WaitingToken<T> {
  /** Called after the wait. @returns the result if another caller verified the same token in the meantime */
  known?: () => T | undefined;
  /** called only if the caller must wait; if the caller disconnects in the meantime, its token is not verified */
  signalOf?: () => AbortSignal;
}

export interface TokenVerificationLimitOptions {
  clock: Clock;
  /** counts verifications */
  observe?: (verdict: Verdict) => void;
  /** milliseconds of a monotonic clock; defaults to `performance.now` */
  elapsedMs?: () => number;
}

/** All token verifications go through one instance. */
export class TokenVerificationLimit {
  readonly #refused;
  readonly #elapsedMs: () => number;
  readonly #observe: (verdict: Verdict) => void;
  /** queued verifications */
  readonly #waiting: (() => void)[] = [];
  #isDraining = false;
  /** when verification in this turn must stop; undefined before the first verification of the turn */
  #turnEndsMs: number | undefined;
  #refusalLeftMs = REFUSAL_BURST_MS;
  #refilledAtMs: number;

  constructor({
    clock,
    observe = () => {},
    elapsedMs = () => performance.now(),
  }: TokenVerificationLimitOptions) {
    this.#observe = observe;
    this.#refused = createRates(clock, REFUSED_TOKENS);
    this.#elapsedMs = elapsedMs;
    this.#refilledAtMs = elapsedMs();
  }

  /** @returns the number of waiting callers */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * Verifies a token: in this turn if there is time left, otherwise when the callers before it are done.
   * @param verify throws for a refused token
   * @returns the result of `verify`, or of `known` without a verification
   * @throws what `verify` throws; DomainError `access.tokens_refused` for an address that sent too many bad tokens,
   *   `access.verification_busy` if too many callers wait, `request.hung_up`
   */
  async run<T>(
    address: string | null,
    verify: () => T,
    { known, signalOf }: WaitingToken<T> = {},
  ): Promise<T> {
    this.#refuseExhausted(address);
    if (this.#waiting.length === 0 && this.#hasTime()) return this.#verify(address, verify);
    if (this.#waiting.length >= WAITING_MAX) throw busy();
    const { promise, resolve } = Promise.withResolvers<T>();
    const signal = signalOf?.();
    const verifyLater = () => {
      if (signal?.aborted) throw hungUp();
      const found = known?.();
      if (found !== undefined) return found;
      this.#refuseExhausted(address);
      return this.#verify(address, verify);
    };
    this.#waiting.push(() => resolve(Promise.try(verifyLater)));
    this.#drainSoon();
    return await promise;
  }

  /** Runs in the next turn, or later if refusals have used up their share. */
  #drainSoon(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    if (this.#refusalLeftMs > 0) setImmediate(this.#drain);
    else setTimeout(this.#drain, BATCH_INTERVAL_MS);
  }

  readonly #drain = (): void => {
    this.#isDraining = false;
    this.#turnEndsMs = undefined;
    let taken = 0;
    while (taken < this.#waiting.length && this.#hasTime()) {
      this.#waiting[taken]?.();
      taken += 1;
    }
    this.#waiting.splice(0, taken);
    if (this.#waiting.length > 0) this.#drainSoon();
  };

  #hasTime(): boolean {
    const nowMs = this.#elapsedMs();
    const gainedMs = (nowMs - this.#refilledAtMs) * REFUSAL_SHARE;
    this.#refusalLeftMs = Math.min(REFUSAL_BURST_MS, this.#refusalLeftMs + gainedMs);
    this.#refilledAtMs = nowMs;
    if (this.#refusalLeftMs <= 0) return false;
    if (this.#turnEndsMs === undefined) {
      this.#turnEndsMs = nowMs + TURN_MS;
      setImmediate(() => {
        this.#turnEndsMs = undefined;
      });
    }
    return nowMs < this.#turnEndsMs;
  }

  #verify<T>(address: string | null, verify: () => T): T {
    const beganMs = this.#elapsedMs();
    try {
      const verified = verify();
      this.#observe("accepted");
      return verified;
    } catch (refusal) {
      this.#observe("refused");
      this.#refused.charge(countedAddress(address), 1);
      this.#refusalLeftMs -= this.#elapsedMs() - beganMs;
      throw refusal;
    }
  }

  #refuseExhausted(address: string | null): void {
    const seconds = this.#refused.wait(countedAddress(address));
    if (seconds === 0) return;
    throw new DomainError(
      "too_many",
      "access.tokens_refused",
      "too many invalid tokens from this address; try again later",
      { retryAfterSeconds: seconds },
    );
  }
}

/** Nobody reads this response; it counts as the caller's failure, and not as ours. */
const hungUp = () => new DomainError("invalid", "request.hung_up", "the caller has hung up");

const busy = () =>
  new DomainError("unavailable", "access.verification_busy", "too many new tokens at once; try again", {
    retryAfterSeconds: RETRY_SECONDS,
  });
