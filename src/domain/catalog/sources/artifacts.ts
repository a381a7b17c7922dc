// Stored archives: their origin, whether their bytes are intact, and their removal. An artifact that any policy revision ever
// named is kept, because revisions are records. Any other artifact is removed after nothing has named it for a while.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import { DAY_MS } from "../../../platform/clock.ts";
import type { Connection } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import { runInTurns, type Steps } from "../../../platform/steps.ts";
import type { Actor } from "../../shared/actor.ts";
import { quoted } from "../archive/limits.ts";
import type { Mirrored, MirrorRow } from "../mirroring/mirror-store.ts";
import * as mirrorStore from "../mirroring/mirror-store.ts";
import * as store from "../store.ts";
import type { KeptArchivesDependencies } from "./kept-archives.ts";

/** How long an artifact that nothing names is kept. */
export const UNNAMED_DAYS_MAX = 90;

/** A stored archive with the commits that it was mirrored from, newest first; none for an upload or a public source. */
export interface StoredArtifact {
  artifact: store.ArtifactRow;
  mirrors: MirrorRow[];
}

export interface ArtifactsDependencies extends Omit<KeptArchivesDependencies, "harnesses"> {
  /** @returns ids of the artifacts that policies, drafts and additions name */
  namedElsewhere(connection: Connection, organizationId: string): Steps<Set<string>>;
}

export class Artifacts {
  constructor(private readonly dependencies: ArtifactsDependencies) {}

  /** @param after last id of the previous page; empty for the first page @returns a page in the order of ids */
  list(organizationId: string, after = ""): StoredArtifact[] {
    const { read } = this.dependencies.db;
    return store
      .listArtifacts(read, organizationId, after)
      .map((artifact) => ({ artifact, mirrors: mirrorsIn(read, artifact) }));
  }

  /** @returns the number of referenced archives, and of unreferenced ones as of the last daily check */
  counts(organizationId: string): { named: number; unnamed: number } {
    return store.countArtifacts(this.dependencies.db.read, organizationId);
  }

  /** @throws DomainError `artifact.unknown` */
  get(organizationId: string, id: string): StoredArtifact {
    const { read } = this.dependencies.db;
    const artifact = store.findArtifact(read, organizationId, id.toLowerCase());
    if (!artifact) throw unknown(id);
    return { artifact, mirrors: mirrorsIn(read, artifact) };
  }

  /** @returns whether the bytes are stored and match their digest */
  check({ sha256 }: Pick<store.ArtifactRow, "sha256">): Promise<"intact" | "damaged" | "missing"> {
    return this.dependencies.blobs.verify(parseDigest(sha256));
  }

  /** @returns ids of all artifacts that something names */
  named(organizationId: string): Promise<Set<string>> {
    return runInTurns(this.#namedIn(this.dependencies.db.read, organizationId));
  }

  /** @returns an artifact that `remove` would remove @throws as `remove` */
  async removable(organizationId: string, id: string): Promise<StoredArtifact> {
    const found = this.get(organizationId, id);
    if ((await this.named(organizationId)).has(found.artifact.id)) throw inUse();
    return found;
  }

  /**
   * Removes an artifact that nothing names, first its row and then its bytes.
   * @throws DomainError `artifact.unknown`, `artifact.in_use`
   */
  async remove(actor: Actor, id: string): Promise<StoredArtifact> {
    const found = await this.removable(actor.organizationId, id);
    await this.#removeRow(actor, found);
    await this.dependencies.blobs.remove(parseDigest(found.artifact.sha256));
    return found;
  }

  /** Removes artifacts that nothing has named for UNNAMED_DAYS_MAX. @returns how many */
  async retire(actor: Actor, signal: AbortSignal): Promise<number> {
    const { organizationId } = actor;
    const { clock, db } = this.dependencies;
    const named = await this.named(organizationId);
    const nowMs = clock.nowMs();
    let removed = 0;
    for (let page = this.list(organizationId); page.length > 0; ) {
      for (const { artifact } of page) {
        signal.throwIfAborted();
        const isNamed = named.has(artifact.id);
        const sinceMs = isNamed ? null : (artifact.unnamedSinceMs ?? nowMs);
        if (sinceMs !== null && nowMs - sinceMs >= UNNAMED_DAYS_MAX * DAY_MS) {
          await this.remove(actor, artifact.id);
          removed += 1;
        } else if (sinceMs !== artifact.unnamedSinceMs)
          await db.write((tx) => store.noteUnnamed(tx, artifact.id, sinceMs), "unobserved");
      }
      page = this.list(organizationId, page.at(-1)?.artifact.id);
    }
    return removed;
  }

  *#namedIn(connection: Connection, organizationId: string): Steps<Set<string>> {
    const named = yield* this.dependencies.namedElsewhere(connection, organizationId);
    for (const id of store.artifactsOfCatalog(connection, organizationId)) named.add(id);
    return named;
  }

  async #removeRow(actor: Actor, { artifact, mirrors }: StoredArtifact): Promise<void> {
    const { audit, db } = this.dependencies;
    const { id, sha256, sizeBytes } = artifact;
    await db.write((tx) => {
      mirrorStore.removeMirrors(tx, id);
      if (!store.removeArtifact(tx, actor.organizationId, id)) throw unknown(id);
      const repositories = mirrors.map(({ repository, commit }) => `${repository}@${commit}`);
      const before = { sha256, size_bytes: sizeBytes, repositories };
      audit.record(tx, { actor, action: "artifact.remove", target: id, before });
    }, "catalog");
  }
}

const mirrorsIn = (connection: Connection, { organizationId, id }: store.ArtifactRow): MirrorRow[] =>
  mirrorStore.mirrorsOf(connection, organizationId, id).map(({ mirror }: Mirrored) => mirror);

const unknown = (id: string): DomainError =>
  new DomainError("not_found", "artifact.unknown", `there is no stored archive ${quoted(id)}`, {
    hint: "see `quartermaster artifacts list`",
  });

const inUse = (): DomainError =>
  new DomainError(
    "conflict",
    "artifact.in_use",
    "a revision of the policy, a draft, or the catalog names this archive",
    { hint: "revisions are kept as a record, and so are their archives" },
  );
