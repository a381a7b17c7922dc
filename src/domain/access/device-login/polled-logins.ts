// Caches device logins for polling, because a poll must not touch the disk. While nothing changes, only the first poll of a login
// reads its row. The cache is reloaded when the revision changes, even by another process. A restart or an eviction lets one
// early poll through.
import type { LRUCache } from "lru-cache";
import type { Db } from "../../../platform/database/database.ts";
import { growingCache } from "../../../platform/memory/growing-cache.ts";
import * as store from "./device-logins-store.ts";

/** Maximum number of entries, about 500 bytes each. */
export const POLLED_LOGINS_MAX = 50_000;

export interface Polled {
  /** its current state */
  login: store.PolledLogin;
  revision: number;
  /** time of the last poll that was not too early */
  acceptedAtMs: number | undefined;
}

export class PolledLogins {
  /** by hash of the device code */
  readonly #known: LRUCache<string, Polled>;

  constructor(
    private readonly db: Db,
    sizeMax = POLLED_LOGINS_MAX,
  ) {
    this.#known = growingCache(sizeMax);
  }

  /** @returns the current state of the login of a device code */
  find(code: { id: string; hash: string }): Polled | undefined {
    const revision = this.db.revision("access");
    const known = this.#known.get(code.hash);
    if (known?.revision === revision) return known;
    const login = store.findByDeviceCode(this.db.read, code);
    if (!login) {
      this.forget(code.hash);
      return undefined;
    }
    if (known) return Object.assign(known, { login, revision });
    const polled: Polled = { login, revision, acceptedAtMs: undefined };
    this.#known.set(code.hash, polled);
    return polled;
  }

  /** Removes a login that has ended. */
  forget(hash: string): void {
    this.#known.delete(hash);
  }

  get size(): number {
    return this.#known.size;
  }
}

/**
 * The interval counts from the last accepted poll, so a client that waits always succeeds.
 * @returns whether the poll came late enough; a clock set back never locks a client out
 * @source RFC 8628 section 3.5
 */
export function acceptPoll(
  polled: Pick<Polled, "acceptedAtMs">,
  { nowMs, intervalMs }: { nowMs: number; intervalMs: number },
): boolean {
  const { acceptedAtMs: last } = polled;
  if (last !== undefined && nowMs >= last && nowMs < last + intervalMs) return false;
  polled.acceptedAtMs = nowMs;
  return true;
}
