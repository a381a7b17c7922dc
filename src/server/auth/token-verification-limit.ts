// How much of the processor goes into access tokens that come for the first time. Verifying one takes longer than the rest
// of a small request, and anybody may send any number of them: after a restart the whole fleet does, and an attacker may do
// so with tokens that were never ours. So a turn of the event loop verifies for a bounded time, bad tokens get a bounded share
// of the processor, and an address that sends many is soon not listened to. Tokens seen before need none of this.
import { countedAddress } from "../../domain/access/budgets/counted-address.ts";
import type { Clock } from "../../platform/clock.ts";
import { DomainError } from "../../platform/errors.ts";
import { createRates } from "../http/rate-limit.ts";
import type { Verdict } from "../metrics/token-metrics.ts";

/** Of verification in one turn: about a hundred and fifty tokens. Nobody else is answered meanwhile. */
export const TURN_MS = 10;
/** Of a core, for tokens that are refused. While it is used up every new token waits: no verification tells beforehand. */
export const REFUSAL_SHARE = 0.25;
/** The same after a rest. */
export const REFUSAL_BURST_MS = 50;
const PACE_MS = 4;
/** Callers that wait for their turn, for a second or two at most; whoever comes then is asked to come again. */
export const WAITING_MAX = 10_000;
/** Refused tokens of one address: a hundredth of a core. A site behind one address has some expired ones. */
export const REFUSED_TOKENS = { perSecond: 200, burst: 2_000 };
const RETRY_SECONDS = 2;

export interface TokenVerificationLimitOptions {
  clock: Clock;
  /** counts each verification */
  observe?: (verdict: Verdict) => void;
  /** milliseconds of a clock that nobody sets; the runtime's when left out */
  elapsedMs?: () => number;
}

/** Work on the token of somebody, with its turn. */
interface Waiting {
  run(): void;
}

/** The one gate that verifications go through; made once. */
export class TokenVerificationLimit {
  readonly #refused;
  readonly #elapsedMs: () => number;
  readonly #observe: (verdict: Verdict) => void;
  readonly #waiting: Waiting[] = [];
  #isDraining = false;
  /** when this turn has verified for long enough; undefined before its first verification */
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

  /** @returns callers that wait */
  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * @param verify throws for a token that is refused
   * @returns what it returns; undefined, without asking it, where the caller has to wait for a turn
   * @throws what `verify` throws; DomainError `access.tokens_refused` for an address that sent too many bad ones
   */
  readConsistently<T>(address: string | null, verify: () => T): T | undefined {
    this.#refuseExhausted(address);
    if (this.#waiting.length > 0 || !this.#hasTime()) return undefined;
    return this.#verify(address, verify);
  }

  /**
   * @returns what `verify` returns, when it is this caller's turn
   * @throws as `readConsistently`; DomainError `access.verification_busy` where too many wait
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
      this.#drainSoon();
    });
  }

  /** In the next turn; later where refusals have used up their share. */
  #drainSoon(): void {
    if (this.#isDraining) return;
    this.#isDraining = true;
    if (this.#refusalLeftMs > 0) setImmediate(this.#drain);
    else setTimeout(this.#drain, PACE_MS);
  }

  readonly #drain = (): void => {
    this.#isDraining = false;
    this.#turnEndsMs = undefined;
    let taken = 0;
    while (taken < this.#waiting.length && this.#hasTime()) {
      this.#waiting[taken]?.run();
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
