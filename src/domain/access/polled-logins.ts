// Device logins as their workstations poll them, kept in memory while nothing changed: of the polls of one login only the
// first reads a row. Like every cache it is dropped when the revision moves, also by another process.
import type { Db } from "../../platform/database/database.ts";
import * as store from "./device-logins-store.ts";

/** Kept at most, about 400 bytes each; one more and the one looked up longest ago is read anew. */
export const POLLED_LOGINS_MAX = 50_000;

interface Known {
  revision: number;
  login: store.PolledLogin;
}

export class PolledLogins {
  /** by the hash of the device code */
  readonly #known = new Map<string, Known>();

  constructor(
    private readonly db: Db,
    private readonly sizeMax = POLLED_LOGINS_MAX,
  ) {}

  /** @returns the login of a device code, as it is at this moment */
  find(code: { id: string; hash: string }): store.PolledLogin | undefined {
    const revision = this.db.revision("access");
    const known = this.#known.get(code.hash);
    if (known?.revision === revision) return known.login;
    this.#known.delete(code.hash);
    const login = store.ofDeviceCode(this.db.read, code);
    if (login) this.#remember(code.hash, { revision, login });
    return login;
  }

  get size(): number {
    return this.#known.size;
  }

  #remember(hash: string, known: Known): void {
    this.#known.set(hash, known);
    const oldest = this.#known.keys().next();
    if (this.#known.size > this.sizeMax && !oldest.done) this.#known.delete(oldest.value);
  }
}
