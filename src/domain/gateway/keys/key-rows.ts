// In-memory cache of gateway key rows, so that a repeated request for a healthy key reads nothing from the database. A new
// data revision, also from another process, clears the cache.
import type { Db } from "../../../platform/database/database.ts";
import type { KeyRow } from "../model.ts";
import * as store from "./store.ts";

/** Cached rows, about a kilobyte each, with the secret still sealed. Exceeding the limit clears the cache. */
export const KEPT_ROWS_MAX = 10_000;

export class KeyRows {
  readonly #kept = new Map<string, KeyRow>();
  #revision = -1;

  constructor(
    private readonly db: Db,
    private readonly sizeMax = KEPT_ROWS_MAX,
  ) {}

  /** @returns the current row of a user's key */
  find(userId: string): KeyRow | undefined {
    const revision = this.#currentRevision();
    if (revision !== this.#revision) this.#kept.clear();
    this.#revision = revision;
    const kept = this.#kept.get(userId);
    if (kept) return kept;
    const row = store.findKey(this.db.read, userId);
    if (this.#kept.size >= this.sizeMax) this.#kept.clear();
    if (row) this.#kept.set(userId, row);
    return row;
  }

  get size(): number {
    return this.#kept.size;
  }

  /** Includes the changes by other areas: users lose access (retire.ts) and groups change (due-keys.ts). */
  #currentRevision(): number {
    const { db } = this;
    return db.revision("gateway") + db.revision("access") + db.revision("provisioning");
  }
}
