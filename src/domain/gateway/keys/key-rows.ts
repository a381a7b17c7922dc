// In-memory cache of gateway key rows, so that a repeated request for a healthy key reads nothing from the database. A new
// data revision, also from another process, clears the cache.
import { LRUCache } from "lru-cache";
import type { Db } from "../../../platform/database/database.ts";
import type { KeyRow } from "../model.ts";
import * as store from "./store.ts";

/** Cached rows, about a kilobyte each, with the secret still sealed. */
export const KEPT_ROWS_MAX = 10_000;

export class KeyRows {
  readonly #kept: LRUCache<string, KeyRow>;
  #revision = -1;

  constructor(
    private readonly db: Db,
    sizeMax = KEPT_ROWS_MAX,
  ) {
    this.#kept = new LRUCache({ max: sizeMax });
  }

  /** @returns the current row of a user's key */
  find(userId: string): KeyRow | undefined {
    const revision = this.#currentRevision();
    if (revision !== this.#revision) this.#kept.clear();
    this.#revision = revision;
    const kept = this.#kept.get(userId);
    if (kept) return kept;
    const row = store.findKey(this.db.read, userId);
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
