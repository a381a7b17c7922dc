// How many device logins may wait for a decision: in all, of one network and of one address. All of them are not counted on
// every request.
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import { countedAs } from "./counted-address.ts";
import * as store from "./device-logins-store.ts";
import { tooManyPendingFrom, tooManyPendingLogins } from "./errors.ts";
import { DEVICE_LOGINS_PENDING_MAX } from "./model.ts";
import type { LimitSettings } from "./settings.ts";

/** Counting walks the index of all pending rows: a few milliseconds at the limit, so once a second at most. */
const RECOUNT_AFTER_MS = SECOND_MS;

interface Asking {
  address: string | null;
  clock: Clock;
  limits: Pick<LimitSettings, "pendingLoginsPerAddress" | "pendingLoginsPerNetwork">;
}

/** A count that is exact when taken, and grows by our own inserts until it is taken again. */
export class PendingCount {
  #rows = 0;
  #countedAtMs = Number.NEGATIVE_INFINITY;

  /** @returns the number of pending rows; too high at most, except for what other processes added in the last second */
  current(nowMs: number, count: () => number): number {
    const isFresh = nowMs >= this.#countedAtMs && nowMs < this.#countedAtMs + RECOUNT_AFTER_MS;
    if (!isFresh) {
      this.#rows = count();
      this.#countedAtMs = nowMs;
    }
    return this.#rows;
  }

  /**
   * Refuses a login where too many wait: one network may not use up what all may have.
   * @param address null over a local socket
   * @throws DomainError `device_login.too_many_pending`
   */
  refuseFull(tx: Tx, { address, clock, limits }: Asking): void {
    const nowMs = clock.nowMs();
    const pending = this.current(nowMs, () => store.countPending(tx));
    if (pending >= DEVICE_LOGINS_PENDING_MAX) throw tooManyPendingLogins();
    const { countedAddress, countedNetwork } = countedAs(address);
    const waiting = store.countPendingOf(tx, { address: countedAddress, network: countedNetwork, nowMs });
    if (waiting.address >= limits.pendingLoginsPerAddress) throw tooManyPendingFrom("address");
    if (waiting.network >= limits.pendingLoginsPerNetwork) throw tooManyPendingFrom("network");
  }

  /** Counts one insert. */
  add(): void {
    this.#rows += 1;
  }
}
