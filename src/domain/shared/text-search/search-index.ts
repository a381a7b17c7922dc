// Maintains the index of a table's texts: adds new texts, and removes the remains of deleted ones.
import type { Db, Tx } from "../../../platform/database/database.ts";
import { type IndexedTexts, indexTexts } from "./indexed-texts-store.ts";
import { mergeAfterBatch, mergeOnlyOnRequest, optimizeIndex } from "./trigram-store.ts";

export class SearchIndex {
  #isConfigured = false;

  constructor(
    private readonly db: Pick<Db, "write">,
    private readonly texts: IndexedTexts,
  ) {}

  /** @returns how many texts were added */
  async add(signal: AbortSignal): Promise<number> {
    let added = 0;
    while (!signal.aborted) {
      const batch = await this.db.write((tx) => this.#addBatch(tx), "unobserved");
      if (batch === 0) break;
      this.#isConfigured = true;
      added += batch;
    }
    return added;
  }

  #addBatch(tx: Tx): number {
    const { index } = this.texts;
    const added = indexTexts(tx, this.texts);
    if (added === 0) return 0;
    if (!this.#isConfigured) mergeOnlyOnRequest(tx, index);
    mergeAfterBatch(tx, index);
    return added;
  }

  /** Removes all texts of deleted rows from the index. */
  async optimize(signal: AbortSignal): Promise<void> {
    await optimizeIndex(this.db, this.texts.index, signal);
  }
}
