// Finds and removes objects without a row, such as uploads whose rows a restore undid. In a bucket that this service has not
// claimed, a sweep only reports: other software may keep objects with the same form of key there.
import { DAY_MS } from "../../../platform/clock.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { SWEEP_OBJECTS_MAX } from "../limits.ts";
import type { ListedObject } from "../objects/object-store.ts";
import { isNamed, markPlaces } from "../objects/removal-store.ts";
import type { Removals } from "../objects/removals.ts";

/** The objects that a sweep would remove. */
export interface Unnamed {
  /** number of objects without a row that are older than a day, at most SWEEP_OBJECTS_MAX */
  found: number;
  bytes: number;
  /** false if the store is not claimed, so that a sweep removes nothing */
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
    return unnamedIn(await this.#unnamed(signal), await this.dependencies.stores.active.isOurs());
  }

  /** Records that no other software keeps objects with our form of key in the store. */
  claim(): Promise<void> {
    return this.dependencies.stores.active.claim();
  }

  async run(actor: Actor, signal: AbortSignal): Promise<Swept> {
    const { db, clock, audit, stores, removals } = this.dependencies;
    const { kind: store } = stores.active;
    const objects = await this.#unnamed(signal);
    const seen = unnamedIn(objects, await stores.active.isOurs());
    if (!seen.isOurs || seen.found === 0) return { ...seen, removed: 0 };
    const marks = objects.map((object) => ({ ...object, store }));
    const after = { objects: seen.found, bytes: seen.bytes };
    await db.write((tx) => {
      markPlaces(tx, marks, clock.nowMs());
      audit.record(tx, { actor, action: "captured_session.sweep", target: actor.organizationId, after });
    }, "unobserved");
    const { objects: removed } = await removals.drain({ limit: SWEEP_OBJECTS_MAX, signal });
    return { ...seen, removed };
  }

  async #unnamed(signal: AbortSignal): Promise<ListedObject[]> {
    const { db, clock, stores } = this.dependencies;
    const { kind: store, list } = stores.active;
    const unnamed: ListedObject[] = [];
    const olderThanMs = clock.nowMs() - DAY_MS;
    for await (const object of list({ signal })) {
      if (signal.aborted || unnamed.length >= SWEEP_OBJECTS_MAX) break;
      if (object.modifiedAtMs > olderThanMs || isNamed(db.read, { store, place: object.place })) continue;
      unnamed.push(object);
    }
    return unnamed;
  }
}

const unnamedIn = (objects: readonly ListedObject[], isOurs: boolean): Unnamed => ({
  found: objects.length,
  bytes: objects.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  isOurs,
});
