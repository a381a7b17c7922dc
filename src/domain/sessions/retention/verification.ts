// Reads every stored object again and finds those that are missing or whose digest differs.
import type { SessionsDependencies } from "../dependencies.ts";
import { RETENTION_BATCH_ROWS } from "../limits.ts";
import type { ArtifactRow } from "../model.ts";
import { listStored } from "./retention-store.ts";

/** A version whose bytes are not what its row says. */
export interface Damage {
  artifact: ArtifactRow;
  fault: "missing" | "differs";
}

export interface Verified {
  /** versions that were read */
  artifacts: number;
  bytes: number;
  damaged: readonly Damage[];
}

export class Verification {
  constructor(private readonly own: Pick<SessionsDependencies, "db" | "stores">) {}

  /**
   * @param advance is called with the bytes that were read
   * @throws DomainError `sessions.store_unavailable`
   */
  async run(
    organizationId: string,
    { signal, advance }: { signal: AbortSignal; advance: (bytes: number) => void },
  ): Promise<Verified> {
    const { db, stores } = this.own;
    const damaged: Damage[] = [];
    let [artifacts, bytes] = [0, 0];
    for (let afterId = ""; ; ) {
      const rows = listStored(db.read, { organizationId, afterId, limit: RETENTION_BATCH_ROWS });
      for (const artifact of rows) {
        signal.throwIfAborted();
        const sha256 = await stores.of(artifact.store).hash(artifact.place, { signal });
        if (sha256 !== artifact.sha256)
          damaged.push({ artifact, fault: sha256 === undefined ? "missing" : "differs" });
        artifacts += 1;
        bytes += artifact.sizeBytes;
        advance(artifact.sizeBytes);
      }
      const last = rows.at(-1);
      if (rows.length < RETENTION_BATCH_ROWS || !last) return { artifacts, bytes, damaged };
      afterId = last.id;
    }
  }
}
