// Reads every stored object again. Marks an object as lost if it is missing or its digest differs, and removes the mark if a lost
// object is intact again.
import type { Actor } from "../../shared/actor.ts";
import type { SessionsDependencies } from "../dependencies.ts";
import { RETENTION_BATCH_ROWS } from "../limits.ts";
import type { ArtifactRow } from "../model.ts";
import { markFound, markLost } from "../objects/lost.ts";
import { findArtifact } from "../store.ts";
import { listStored } from "./retention-store.ts";

/** A version whose bytes differ from its row. */
export interface Damage {
  artifact: ArtifactRow;
  fault: "missing" | "differs";
}

export interface Verified {
  /** number of versions read */
  artifacts: number;
  bytes: number;
  damaged: readonly Damage[];
  /** how many of those this run marked as lost */
  lost: number;
  /** number of lost versions that are intact again */
  recovered: number;
}

interface Reading {
  signal: AbortSignal;
  /** called with the number of bytes read */
  advance(bytes: number): void;
}

type Dependencies = Pick<SessionsDependencies, "db" | "clock" | "audit" | "stores">;

/** Every method throws DomainError `sessions.store_unavailable`. */
export class Verification {
  constructor(private readonly dependencies: Dependencies) {}

  /** Changes nothing; `lost` and `recovered` count what `run` would mark. */
  check(organizationId: string, reading: Reading): Promise<Verified> {
    return this.#readAll(organizationId, reading, {
      onDamage: async ({ artifact }) => artifact.lostAtMs === null,
      onIntact: async ({ lostAtMs }) => lostAtMs !== null,
    });
  }

  /** Marks what it finds, with an audit entry for each version that changes. */
  run(actor: Actor, reading: Reading): Promise<Verified> {
    return this.#readAll(actor.organizationId, reading, {
      onDamage: ({ artifact }) => markLost(this.dependencies, actor, artifact),
      onIntact: async (artifact) =>
        artifact.lostAtMs !== null && (await markFound(this.dependencies, actor, artifact)),
    });
  }

  /** @param marks functions that mark a version and return whether that changed anything */
  async #readAll(
    organizationId: string,
    { signal, advance }: Reading,
    marks: { onDamage(damage: Damage): Promise<boolean>; onIntact(artifact: ArtifactRow): Promise<boolean> },
  ): Promise<Verified> {
    const { db, stores } = this.dependencies;
    const damaged: Damage[] = [];
    const counts = { artifacts: 0, bytes: 0, lost: 0, recovered: 0 };
    for (let afterId = ""; ; ) {
      const rows = listStored(db.read, { organizationId, afterId, limit: RETENTION_BATCH_ROWS });
      for (const artifact of rows) {
        signal.throwIfAborted();
        const sha256 = await stores.of(artifact.store).hash(artifact.place, { signal });
        if (sha256 === artifact.sha256) counts.recovered += (await marks.onIntact(artifact)) ? 1 : 0;
        else if (this.#isStillThere(artifact)) {
          const damage: Damage = { artifact, fault: sha256 === undefined ? "missing" : "differs" };
          damaged.push(damage);
          counts.lost += (await marks.onDamage(damage)) ? 1 : 0;
        }
        counts.artifacts += 1;
        counts.bytes += artifact.sizeBytes;
        advance(artifact.sizeBytes);
      }
      const last = rows.at(-1);
      if (rows.length < RETENTION_BATCH_ROWS || !last) return { ...counts, damaged };
      afterId = last.id;
    }
  }

  /** Retention may have removed the version since, or `sessions migrate` may have moved it. */
  #isStillThere(artifact: ArtifactRow): boolean {
    const row = findArtifact(this.dependencies.db.read, artifact);
    return row?.store === artifact.store && row.place === artifact.place;
  }
}
