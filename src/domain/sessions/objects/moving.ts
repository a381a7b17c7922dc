// Moves objects to another store while the service runs: copies the object and verifies the digest, updates the row, then deletes
// the old object. An interrupted run leaves only complete objects, and the next run continues.
import { DomainError } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import type { ArtifactRow, StoreKind } from "../model.ts";
import { findArtifact } from "../store.ts";
import { markLost } from "./lost.ts";
import * as store from "./moving-store.ts";
import { markPlaces } from "./removal-store.ts";
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

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "stores"> & { removals: Removals };
type Outcome = "moved" | "gone" | Unmoved["fault"];

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
          const outcome = await this.#move(artifact, to, signal);
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
    const [source, target] = [stores.of(artifact.store), stores.of(to)];
    if (!(await source.inspect(artifact.place, { signal }))) return "missing";
    const place = target.placeOf(artifact);
    try {
      await target.put(place, source.read(artifact.place, { signal }), { ...artifact, signal });
    } catch (error) {
      if (error instanceof DomainError && error.reason === "artifact.digest_mismatch") return "differs";
      throw error;
    }
    const outcome = await db.write((tx): Outcome => {
      const row = findArtifact(tx, artifact);
      const isSame = row?.store === artifact.store && row.place === artifact.place;
      if (isSame) store.switchStore(tx, { id: artifact.id, store: to, place });
      markPlaces(tx, [isSame ? artifact : { ...artifact, store: to, place }], clock.nowMs());
      return isSame ? "moved" : "gone";
    }, "unobserved");
    await removals.drain({ limit: DRAINED_PER_MOVE, signal });
    return outcome;
  }

  async #record(actor: Actor, after: { to: StoreKind; objects: number; bytes: number }): Promise<void> {
    if (after.objects === 0) return;
    await this.dependencies.db.write((tx) => {
      const target = actor.organizationId;
      this.dependencies.audit.record(tx, { actor, action: "captured_session.migrate", target, after });
    }, "unobserved");
  }
}
