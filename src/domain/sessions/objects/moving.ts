// Moves objects to another store while the service runs: copies the object and verifies the digest, updates the row, then deletes
// the old object. An interrupted run leaves only complete objects, and the next run continues.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { storeUnavailable } from "../errors.ts";
import type { ArtifactRow, StoreKind } from "../model.ts";
import { findArtifact } from "../store.ts";
import { markLost } from "./lost.ts";
import * as store from "./moving-store.ts";
import { markPlaces, unmark } from "./removal-store.ts";
import type { Removals } from "./removals.ts";

/** A version that was not moved. */
export interface Unmoved {
  artifact: ArtifactRow;
  fault: "missing" | "differs";
}

export interface Moved {
  objects: number;
  bytes: number;
  unmoved: readonly Unmoved[];
}

interface Move {
  to: StoreKind;
  signal: AbortSignal;
  /** called with the number of bytes of each version */
  advance(bytes: number): void;
}

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "stores" | "blobs"> & {
  removals: Removals;
};
type Outcome = "moved" | "gone" | "copy lost" | Unmoved["fault"];

const BATCH_ROWS = 100;
/** Number of old objects to delete after each move. More than one, so that leftovers of a failed run are deleted too. */
const DRAINED_PER_MOVE = 4;

export class Moving {
  constructor(private readonly dependencies: Dependencies) {}

  /** @returns number and bytes of versions in other stores */
  elsewhere(organizationId: string, to: StoreKind): { objects: number; bytes: number } {
    return store.totalElsewhere(this.dependencies.db.read, { organizationId, to });
  }

  /** @throws DomainError `sessions.store_unavailable`, `sessions.store_unset`, `artifact.disk_full` */
  async run(actor: Actor, { to, signal, advance }: Move): Promise<Moved> {
    const { organizationId } = actor;
    const unmoved: Unmoved[] = [];
    let [objects, bytes] = [0, 0];
    try {
      for (let afterId = ""; ; ) {
        const wanted = { organizationId, to, afterId, limit: BATCH_ROWS };
        const rows = store.listElsewhere(this.dependencies.db.read, wanted);
        for (const artifact of rows) {
          signal.throwIfAborted();
          let outcome = await this.#move(artifact, to, signal);
          while (outcome === "copy lost") outcome = await this.#move(artifact, to, signal);
          advance(artifact.sizeBytes);
          if (outcome === "missing" || outcome === "differs") {
            await markLost(this.dependencies, actor, artifact);
            unmoved.push({ artifact, fault: outcome });
          }
          if (outcome !== "moved") continue;
          objects += 1;
          bytes += artifact.sizeBytes;
        }
        const last = rows.at(-1);
        if (rows.length < BATCH_ROWS || !last) return { objects, bytes, unmoved };
        afterId = last.id;
      }
    } finally {
      await this.#record(actor, { to, objects, bytes });
    }
  }

  async #move(artifact: ArtifactRow, to: StoreKind, signal: AbortSignal): Promise<Outcome> {
    const { db, clock, stores, removals } = this.dependencies;
    const target = { ...artifact, store: to, place: stores.of(to).placeOf(artifact) };
    // A former object at this place may still wait for its deletion, which must not delete the new one.
    const wasMarked = await db.write((tx) => unmark(tx, target), "unobserved");
    let isCopied = false;
    try {
      const fault = await this.#copy(artifact, target, signal);
      if (fault) return this.#isStillThere(artifact) ? fault : "gone";
      isCopied = true;
    } catch (error) {
      if (this.#isStillThere(artifact)) throw error;
      return "gone"; // removed with its object during the copy
    } finally {
      if (wasMarked && !isCopied)
        await db.write((tx) => markPlaces(tx, [target], clock.nowMs()), "unobserved");
    }
    const outcome = await this.#switch(artifact, target);
    await removals.drain({ limit: DRAINED_PER_MOVE, signal });
    return outcome;
  }

  /** Does not trust the response to an upload: the old object is deleted only if the new one is there. */
  async #copy(
    { store: kind, place: from }: ArtifactRow,
    copied: ArtifactRow,
    signal: AbortSignal,
  ): Promise<Unmoved["fault"] | undefined> {
    const [source, target] = [this.dependencies.stores.of(kind), this.dependencies.stores.of(copied.store)];
    const { place } = copied;
    if (!(await source.inspect(from, { signal }))) return "missing";
    try {
      await target.put(place, source.read(from, { signal }), { ...copied, signal });
    } catch (error) {
      if (error instanceof DomainError && error.reason === "artifact.digest_mismatch") return "differs";
      throw error;
    }
    const copy = await target.inspect(place, { signal });
    const isWhole = copy?.sizeBytes === copied.sizeBytes;
    const sha256 = isWhole ? (copy.sha256 ?? (await target.hash(place, { signal }))) : undefined;
    if (sha256 !== copied.sha256)
      throw storeUnavailable(new Error("the store does not have the bytes that it accepted"));
    return undefined;
  }

  #switch(artifact: ArtifactRow, target: ArtifactRow): Promise<Outcome> {
    const { db, clock } = this.dependencies;
    return db.write((tx): Outcome => {
      const isSame = isAt(findArtifact(tx, artifact), artifact);
      if (isSame && this.#isCopyLost(target)) return "copy lost";
      if (isSame) store.switchStore(tx, target);
      markPlaces(tx, [isSame ? artifact : target], clock.nowMs());
      return isSame ? "moved" : "gone";
    }, "unobserved");
  }

  /**
   * Another owner's version with equal bytes may have expired since the copy, and taken their local file along while no row of this
   * owner named it. Local files are deleted within a transaction too, so the answer holds until the row names the file.
   */
  #isCopyLost({ store: kind, place, sizeBytes }: ArtifactRow): boolean {
    return kind === "local" && this.dependencies.blobs.size(parseDigest(place)) !== sizeBytes;
  }

  /** Retention may have removed the version since, or another run may have moved it. */
  #isStillThere(artifact: ArtifactRow): boolean {
    return isAt(findArtifact(this.dependencies.db.read, artifact), artifact);
  }

  async #record(actor: Actor, after: { to: StoreKind; objects: number; bytes: number }): Promise<void> {
    if (after.objects === 0) return;
    await this.dependencies.db.write((tx) => {
      const target = actor.organizationId;
      this.dependencies.audit.record(tx, { actor, action: "captured_session.migrate", target, after });
    }, "unobserved");
  }
}

const isAt = (row: ArtifactRow | undefined, { store: kind, place }: ArtifactRow): boolean =>
  row?.store === kind && row.place === place;
