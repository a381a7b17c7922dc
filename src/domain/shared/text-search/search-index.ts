// Maintains the index of a table's texts: adds new texts, and removes the remains of deleted ones.
import type { Db } from "../../../platform/database/database.ts";
import { type IndexedTexts, indexTexts } from "./indexed-texts-store.ts";
import { optimizeIndex } from "./trigram-store.ts";

export class SearchIndex {
  constructor(
    private readonly db: Pick<Db, "write">,
    private readonly texts: IndexedTexts,
  ) {}

  /** @returns how many texts were added */
  async add(signal: AbortSignal): Promise<number> {
    let added = 0;
    while (!signal.aborted) {
      const batch = await this.db.write((tx) => indexTexts(tx, this.texts), "unobserved");
      if (batch === 0) break;
      added += batch;
    }
    return added;
  }

  /** Removes all texts of deleted rows from the index. */
  async optimize(signal: AbortSignal): Promise<void> {
    await optimizeIndex(this.db, this.texts.index, signal);
  }
}
