// Deletes objects whose rows are removed. The mark survives a crash: an object may wait for its deletion, but no row ever names a
// deleted object. Owners of equal bytes share local files, so one transaction checks that no row names the file and deletes it, and
// no upload can come in between.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { SessionsDependencies } from "../dependencies.ts";
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
   * Deletes marked objects, oldest first.
   * @param signal ends the turn between two objects
   */
  async drain({ limit, signal }: { limit: number; signal?: AbortSignal | undefined }): Promise<Drained> {
    const drained: Drained = { objects: 0, bytes: 0, isDone: true };
    for (const object of store.marked(this.dependencies.db.read, limit)) {
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

  /** @returns false if another artifact still names the object */
  async #remove(object: store.MarkedObject): Promise<boolean> {
    const { db, stores, blobs } = this.dependencies;
    if (object.store === "s3") await stores.of("s3").remove(object.place);
    return await db.write((tx) => {
      const isNamed = store.isNamed(tx, object);
      if (!isNamed && object.store === "local") blobs.removeNow(parseDigest(object.place));
      store.unmark(tx, object);
      return !isNamed;
    }, "unobserved");
  }
}
