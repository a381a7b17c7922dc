// Finds objects that no row names, such as those of an upload whose row was restored away, and removes them. In a bucket that this
// service did not claim, a sweep only looks: something else may keep objects of the same form there.
import { DAY_MS } from "../../../platform/clock.ts";
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { SWEEP_OBJECTS_MAX } from "../limits.ts";
import type { ListedObject } from "../objects/object-store.ts";
import { isNamed, markPlaces } from "../objects/removal-store.ts";
import type { Removals } from "../objects/removals.ts";

export interface Swept {
  /** objects without a row that are older than a day, at most SWEEP_OBJECTS_MAX */
  found: number;
  bytes: number;
  removed: number;
  /** false if the store is not known to be ours, so that nothing was removed */
  isOurs: boolean;
}

type Own = Pick<SessionsDependencies, "db" | "clock" | "audit" | "stores"> & { removals: Removals };

export class Sweep {
  constructor(private readonly own: Own) {}

  /**
   * @param isDryRun only looks, and claims the store, so that the next sweep removes
   * @throws DomainError `sessions.store_unavailable`
   */
  async run(
    actor: Actor,
    { isDryRun = false, signal }: { isDryRun?: boolean; signal: AbortSignal },
  ): Promise<Swept> {
    const { db, clock, audit, stores, removals } = this.own;
    const store = stores.active;
    const isOurs = await store.isOurs();
    const found = await this.#unnamed(signal);
    const bytes = found.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (isDryRun && !isOurs) await store.claim();
    if (isDryRun || !isOurs || found.length === 0) return { found: found.length, bytes, removed: 0, isOurs };
    const marks = found.map((object) => ({ ...object, store: store.kind }));
    await db.write((tx) => {
      markPlaces(tx, marks, clock.nowMs());
      const after = { objects: found.length, bytes };
      audit.record(tx, { actor, action: "captured_session.sweep", target: actor.organizationId, after });
    }, "unobserved");
    const { objects: removed } = await removals.drain({ limit: SWEEP_OBJECTS_MAX, signal });
    return { found: found.length, bytes, removed, isOurs };
  }

  async #unnamed(signal: AbortSignal): Promise<ListedObject[]> {
    const { db, clock, stores } = this.own;
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
