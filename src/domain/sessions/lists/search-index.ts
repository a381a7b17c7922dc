// Keeps the index of texts: adds those of completed sessions, and frees what removed ones have left.
import type { SessionsDependencies } from "../dependencies.ts";
import { indexTexts, mergeIndex } from "./search-store.ts";

/** of one transaction: some milliseconds */
const MERGED_PAGES = 16;

export class SearchIndex {
  constructor(private readonly own: Pick<SessionsDependencies, "db">) {}

  /** @returns how many texts were added */
  async add(signal: AbortSignal): Promise<number> {
    let added = 0;
    while (!signal.aborted) {
      const batch = await this.own.db.write((tx) => indexTexts(tx), "unobserved");
      if (batch === 0) break;
      added += batch;
    }
    return added;
  }

  /** Afterwards nothing in the index comes from a removed session. */
  async tidy(signal: AbortSignal): Promise<void> {
    const { db } = this.own;
    let hasMore = await db.write((tx) => mergeIndex(tx, -MERGED_PAGES), "unobserved");
    while (hasMore && !signal.aborted)
      hasMore = await db.write((tx) => mergeIndex(tx, MERGED_PAGES), "unobserved");
  }
}
