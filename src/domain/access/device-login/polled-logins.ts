// Device logins as their workstations poll them, in memory only: a poll must not touch the disk (performance.md). Of the
// polls of one login only the first reads a row while nothing changes; like every cache it is read anew when the revision
// moves, also by another process. Losing a login, by a restart or by the bound, lets one poll through early.
import type { Db } from "../../../platform/database/database.ts";
import * as store from "./device-logins-store.ts";

/** Kept at most, about 500 bytes each; one more and the one kept longest is forgotten. */
export const POLLED_LOGINS_MAX = 50_000;

export interface Polled {
  /** as it is at this moment */
  login: store.PolledLogin;
  revision: number;
  /** the last poll that came in time */
  acceptedAtMs: number | undefined;
}

export class PolledLogins {
  /** by the hash of the device code */
  readonly #known = new Map<string, Polled>();

  constructor(
    private readonly db: Db,
    private readonly sizeMax = POLLED_LOGINS_MAX,
  ) {}

  /** @returns the login of a device code, as it is at this moment */
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
    return this.#remember(code.hash, { login, revision, acceptedAtMs: undefined });
  }

  /** Drops a login that is over. */
  forget(hash: string): void {
    this.#known.delete(hash);
  }

  get size(): number {
    return this.#known.size;
  }

  #remember(hash: string, polled: Polled): Polled {
    this.#known.set(hash, polled);
    const oldest = this.#known.keys().next();
    if (this.#known.size > this.sizeMax && !oldest.done) this.#known.delete(oldest.value);
    return polled;
  }
}

/**
 * Counts the interval from the last accepted poll, so that a client which waits always succeeds (USE-1).
 * @returns whether the poll came in time; a clock set back never keeps a client out
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
