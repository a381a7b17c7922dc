// Caches stored drafts: the content of a draft is read once per version, because a document may have megabytes.
import { LRUCache } from "lru-cache";
import type { Db } from "../../../platform/database/database.ts";
import type { Draft, DraftContent } from "./draft-model.ts";
import * as store from "./draft-store.ts";

/** Maximum number of cached contents, for administrators who write at the same time. */
export const DRAFTS_KEPT_MAX = 4;

export class StoredDrafts {
  /** by id and version; read only, like a revision */
  readonly #contents = new LRUCache<string, DraftContent>({ max: DRAFTS_KEPT_MAX });

  constructor(private readonly db: Pick<Db, "read">) {}

  /** @returns the draft of that administrator without its content */
  summaryOf(ownerId: string): store.DraftSummary | undefined {
    return store.findOwn(this.db.read, ownerId);
  }

  /** @returns the draft of that administrator; the same content until the next save */
  own(ownerId: string): Draft | undefined {
    return this.#withContent(this.summaryOf(ownerId));
  }

  /** @param reference id of the draft or of its owner */
  find(organizationId: string, reference: string): Draft | undefined {
    return this.#withContent(store.findDraft(this.db.read, organizationId, reference));
  }

  /** Caches the content of a draft that was just read or saved. @returns the draft */
  keep(draft: Draft): Draft {
    const { document, audiences, typed } = draft;
    this.#contents.set(keyOf(draft), { document, audiences, typed });
    return draft;
  }

  #withContent(summary: store.DraftSummary | undefined): Draft | undefined {
    if (!summary) return undefined;
    const kept = this.#contents.get(keyOf(summary));
    if (kept) return { ...kept, ...summary };
    const draft = store.readDraft(this.db.read, summary.id);
    return draft && this.keep(draft);
  }
}

const keyOf = ({ id, version }: Pick<Draft, "id" | "version">): string => `${id}/${version}`;
