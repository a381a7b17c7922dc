// Rows of gateway keys as requests look at them, kept in memory while nothing changed: a healthy key that is asked for again
// reads none. Like every cache it is dropped when the revision moves, also by another process.
import type { Db } from "../../../platform/database/database.ts";
import type { KeyRow } from "../model.ts";
import * as store from "./store.ts";

/** Kept at most, about a kilobyte each, still sealed; one more and all are read anew. */
export const KEPT_ROWS_MAX = 10_000;

export class KeyRows {
  readonly #kept = new Map<string, KeyRow>();
  #revision = -1;

  constructor(
    private readonly db: Db,
    private readonly sizeMax = KEPT_ROWS_MAX,
  ) {}

  /** @returns the row of a user's key, as it is at this moment */
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

  /** Keys also go with their users' access, and fall due with their groups (retire.ts, due-keys.ts). */
  #currentRevision(): number {
    const { db } = this;
    return db.revision("gateway") + db.revision("access") + db.revision("provisioning");
  }
}
