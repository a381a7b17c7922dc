// Limits how many device logins may be pending: in total, per network and per address. The counts are cached, because counting
// reads every pending row.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Tx } from "../../../platform/database/database.ts";
import type { CountedAs } from "../budgets/counted-address.ts";
import { tooManyPendingFromNetwork, tooManyPendingLogins } from "../errors.ts";
import { DEVICE_LOGINS_PENDING_MAX } from "../model.ts";
import type { LimitSettings } from "../settings.ts";
import * as store from "./device-logins-store.ts";

/** Limits how often every pending row is read, which takes up to a few milliseconds. */
const RECOUNT_AFTER_MS = SECOND_MS;

type Limits = Pick<LimitSettings, "pendingLoginsPerAddress" | "pendingLoginsPerNetwork">;

interface PendingRequest {
  caller: CountedAs;
  clock: Clock;
  limits: Limits;
}

/** Counts that are exact when taken; until the next count, our own inserts are added. */
export class PendingCount {
  #rows = 0;
  /** pending logins of the addresses and networks that made requests since the counts were last taken */
  readonly #waiting = new Map<string, number>();
  #countedAtMs = Number.NEGATIVE_INFINITY;

  /**
   * Rejects a login if too many are pending; one network cannot use up the total. A cached count alone never rejects an address
   * or network, because some of its logins may have ended since.
   * @throws DomainError `device_login.too_many_pending`
   */
  refuseFull(tx: Tx, { caller, clock, limits }: PendingRequest): void {
    const nowMs = clock.nowMs();
    this.#recount(tx, nowMs);
    if (this.#rows >= DEVICE_LOGINS_PENDING_MAX) throw tooManyPendingLogins();
    if (this.#isWithinLimits(caller, limits)) return;
    const { countedAddress, countedNetwork } = caller;
    const waiting = store.countPendingFor(tx, { address: countedAddress, network: countedNetwork, nowMs });
    this.#waiting.set(countedAddress, waiting.address).set(countedNetwork, waiting.network);
    if (waiting.address >= limits.pendingLoginsPerAddress) throw tooManyPendingFromNetwork("address");
    if (waiting.network >= limits.pendingLoginsPerNetwork) throw tooManyPendingFromNetwork("network");
  }

  /** Counts one insert. */
  add({ countedAddress, countedNetwork }: CountedAs): void {
    this.#rows += 1;
    for (const name of new Set([countedAddress, countedNetwork]))
      this.#waiting.set(name, (this.#waiting.get(name) ?? 0) + 1);
  }

  #recount(tx: Tx, nowMs: number): void {
    if (nowMs >= this.#countedAtMs && nowMs < this.#countedAtMs + RECOUNT_AFTER_MS) return;
    this.#rows = store.countPending(tx);
    this.#waiting.clear();
    this.#countedAtMs = nowMs;
  }

  #isWithinLimits({ countedAddress, countedNetwork }: CountedAs, limits: Limits): boolean {
    const [ofAddress, ofNetwork] = [this.#waiting.get(countedAddress), this.#waiting.get(countedNetwork)];
    if (ofAddress === undefined || ofNetwork === undefined) return false;
    return ofAddress < limits.pendingLoginsPerAddress && ofNetwork < limits.pendingLoginsPerNetwork;
  }
}
