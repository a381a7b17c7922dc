// Finds and removes objects without a row, such as uploads whose rows a restore undid. In a bucket that this service has not
// claimed, a sweep only reports: other software may keep objects with the same form of key there.
import { DAY_MS } from "../../../platform/clock.ts";
import type { Connection } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { SWEEP_OBJECTS_MAX } from "../limits.ts";
import type { StoreKind } from "../model.ts";
import type { ListedObject } from "../objects/object-store.ts";
import { isArtifact, isNamed, markPlaces } from "../objects/removal-store.ts";
import type { Removals } from "../objects/removals.ts";

/** The objects that a sweep would remove. */
export interface Unnamed {
  /** number of objects without a row that are older than a day, at most SWEEP_OBJECTS_MAX */
  found: number;
  bytes: number;
  /** false if a store is not claimed; a sweep removes nothing there */
  isOurs: boolean;
}

export interface Swept extends Unnamed {
  removed: number;
}

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "stores"> & { removals: Removals };

/** Every method throws DomainError `sessions.store_unavailable`. */
export class Sweep {
  constructor(private readonly dependencies: Dependencies) {}

  async preview(signal: AbortSignal): Promise<Unnamed> {
    const { objects, isOurs } = await this.#unnamed(signal);
    return { ...sumOf(objects), isOurs };
  }

  /** Records that no other software keeps objects with our form of key in the stores. */
  async claim(): Promise<void> {
    for (const store of this.dependencies.stores.all) await store.claim();
  }

  /** A move between stores that was killed may have left an object in either, so it looks into each. */
  async run(actor: Actor, signal: AbortSignal): Promise<Swept> {
    const { db, clock, audit, removals } = this.dependencies;
    const { objects, isOurs } = await this.#unnamed(signal);
    const ours = objects.filter((object) => object.isOurs);
    if (ours.length === 0) return { ...sumOf(objects), isOurs, removed: 0 };
    const { found, bytes } = sumOf(ours);
    const after = { objects: found, bytes };
    await db.write((tx) => {
      markPlaces(tx, ours, clock.nowMs());
      audit.record(tx, { actor, action: "captured_session.sweep", target: actor.organizationId, after });
    }, "unobserved");
    const { objects: removed } = await removals.drain({ limit: SWEEP_OBJECTS_MAX, signal });
    return { ...sumOf(objects), isOurs, removed };
  }

  /** @returns them, and whether every store is claimed */
  async #unnamed(signal: AbortSignal): Promise<{ objects: UnnamedObject[]; isOurs: boolean }> {
    const { db, clock, stores } = this.dependencies;
    const unnamed: UnnamedObject[] = [];
    const olderThanMs = clock.nowMs() - DAY_MS;
    let areOurs = true;
    for (const searched of stores.all) {
      const { kind: store } = searched;
      const isOurs = await searched.isOurs();
      areOurs &&= isOurs;
      for await (const object of searched.list({ signal })) {
        if (signal.aborted || unnamed.length >= SWEEP_OBJECTS_MAX) break;
        const { place } = object;
        if (object.modifiedAtMs > olderThanMs || isNamed(db.read, { store, place })) continue;
        if (store === "s3" && isOfVersion(db.read, place)) continue;
        unnamed.push({ ...object, store, isOurs });
      }
    }
    return { objects: unnamed, isOurs: areOurs };
  }
}

const KEY_ID = /([^/]+)\.[a-z]+$/;

/**
 * A killed move may have left an object of a version that still exists in the local store. The next move writes it again, and a
 * deletion at that time would delete the new bytes. So it stays as long as its version.
 */
const isOfVersion = (connection: Connection, key: string): boolean =>
  isArtifact(connection, KEY_ID.exec(key)?.[1] ?? "");

interface UnnamedObject extends ListedObject {
  store: StoreKind;
  /** whether its store is claimed */
  isOurs: boolean;
}

const sumOf = (objects: readonly ListedObject[]): Pick<Unnamed, "found" | "bytes"> => ({
  found: objects.length,
  bytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});
