// Deletes objects whose rows are removed. The mark survives a crash: an object may wait for its deletion, but no row ever names a
// deleted object. Owners of equal bytes share local files, so one transaction checks that no row names the file and deletes it, and
// no upload can come in between.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import type { StoreKind } from "../model.ts";
import * as store from "./removal-store.ts";

export interface Drained {
  objects: number;
  bytes: number;
  /** false if a store failed; the marks stay for the next run */
  isDone: boolean;
}

export class Removals {
  constructor(private readonly dependencies: Pick<SessionsDependencies, "db" | "stores" | "blobs">) {}

  /**
   * Deletes marked objects, the oldest of each store first. A failing store does not stop the deletions in another one.
   * @param turn `limit`: maximum number of objects of each store; `signal` ends the turn between two objects
   */
  async drain(turn: { limit: number; signal?: AbortSignal | undefined }): Promise<Drained> {
    const local = await this.#drain("local", turn);
    const remote = await this.#drain("s3", turn);
    return {
      objects: local.objects + remote.objects,
      bytes: local.bytes + remote.bytes,
      isDone: local.isDone && remote.isDone,
    };
  }

  async #drain(
    kind: StoreKind,
    { limit, signal }: { limit: number; signal?: AbortSignal | undefined },
  ): Promise<Drained> {
    const drained: Drained = { objects: 0, bytes: 0, isDone: true };
    for (const object of store.marked(this.dependencies.db.read, limit, kind)) {
      if (signal?.aborted) return { ...drained, isDone: false };
      try {
        if (!(await this.#remove(object))) continue;
      } catch (error) {
        if (!(error instanceof DomainError)) throw error;
        return { ...drained, isDone: false };
      }
      drained.objects += 1;
      drained.bytes += object.sizeBytes;
    }
    return drained;
  }

  /** @returns when the oldest pending deletion was marked, in UTC milliseconds; undefined if none is pending */
  waitingSinceMs = (): number | undefined => store.marked(this.dependencies.db.read, 1)[0]?.markedAtMs;

  /** @returns false if another artifact names the object, or its mark is gone */
  async #remove(object: store.MarkedObject): Promise<boolean> {
    const { db, stores, blobs } = this.dependencies;
    const isDue = (tx: Tx): boolean => {
      if (!store.isNamed(tx, object)) return store.isMarked(tx, object);
      store.unmark(tx, object);
      return false;
    };
    if (object.store === "local")
      return await db.write((tx) => {
        if (!isDue(tx)) return false;
        blobs.removeNow(parseDigest(object.place));
        store.unmark(tx, object);
        return true;
      }, "unobserved");
    if (!(await db.write(isDue, "unobserved"))) return false;
    await stores.of("s3").remove(object.place);
    return await db.write((tx) => store.unmark(tx, object), "unobserved");
  }
}
