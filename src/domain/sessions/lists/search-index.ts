// Maintains the search index: adds the texts of completed sessions, and removes those of deleted sessions.
import { optimizeIndex } from "../../shared/text-search/trigram-store.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { indexTexts } from "./search-store.ts";

export class SearchIndex {
  constructor(private readonly dependencies: Pick<SessionsDependencies, "db">) {}

  /** @returns how many texts were added */
  async add(signal: AbortSignal): Promise<number> {
    let added = 0;
    while (!signal.aborted) {
      const batch = await this.dependencies.db.write((tx) => indexTexts(tx), "unobserved");
      if (batch === 0) break;
      added += batch;
    }
    return added;
  }

  /** Afterwards the index has no text of a deleted session. */
  async optimize(signal: AbortSignal): Promise<void> {
    await optimizeIndex(this.dependencies.db, "session_search", signal);
  }
}
