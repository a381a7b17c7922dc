// Stores mirrored archives with their origin. Two repositories with the same content share an artifact, and each has its row.
import { parseDigest } from "../../../platform/blobs/blobs.ts";
import type { Tx } from "../../../platform/database/database.ts";
import { codeOf, DomainError } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import { ARCHIVE_LIMITS } from "../archive/limits.ts";
import type { Connection } from "../connections/connection.ts";
import type { Coordinates } from "../connections/coordinates.ts";
import type { Resolved } from "../connections/resolve.ts";
import { proposeAdapters } from "../packages/layout-proposal.ts";
import { registerArtifact } from "../sources/artifact-register.ts";
import type { KeptArchivesDependencies } from "../sources/kept-archives.ts";
import { MIRROR_FORMAT } from "./mirror-format.ts";
import * as store from "./mirror-store.ts";
import type { MirrorView } from "./mirrored-source.ts";
import type { Repacked } from "./repack.ts";

/** A requested commit. */
export interface NamedCommit {
  actor: Actor;
  connection: Connection;
  coordinates: Coordinates;
  found: Resolved;
}

/** The archive of the commit, in a temporary file. */
export interface CommitArchive extends Repacked {
  file: string;
  /** digest of the archive that the host sent */
  hostSha256: string;
}

export class StoredMirrors {
  constructor(private readonly dependencies: KeptArchivesDependencies) {}

  find(named: NamedCommit): store.Mirrored | undefined {
    return store.findMirror(this.dependencies.db.read, keyOf(named));
  }

  hasBytes({ artifact }: store.Mirrored): Promise<boolean> {
    return this.dependencies.blobs.has(parseDigest(artifact.sha256));
  }

  /** Records a request for a commit that is already stored. */
  async noteInspection(named: NamedCommit, mirrored: store.Mirrored): Promise<void> {
    await this.dependencies.db.write((tx) => this.#record(tx, named, mirrored), "unobserved");
  }

  /**
   * @param expected digest of the commit's archive before its bytes were lost
   * @throws DomainError `source.not_reproduced`, `artifact.disk_full`
   */
  async keep(named: NamedCommit, made: CommitArchive, expected: string | undefined): Promise<store.Mirrored> {
    const { sha256, sizeBytes, facts } = made;
    if (expected !== undefined && expected !== sha256) throw notReproduced(expected, sha256);
    await this.#store(made);
    const { entries, expandedBytes } = facts;
    const artifact = { sha256, sizeBytes, entries, expandedBytes };
    const { organizationId } = named.actor;
    return await this.dependencies.db.write((tx) => {
      const artifactId = registerArtifact(tx, this.dependencies, { ...artifact, organizationId });
      const known = store.findMirror(tx, keyOf(named));
      const mirror = known?.mirror ?? this.#rowOf(named, made, artifactId);
      if (!known) store.addMirror(tx, mirror);
      this.#record(tx, named, { mirror, artifact });
      return { mirror, artifact };
    }, "catalog");
  }

  /** The folders share a file system, unless the operator has mounted another one over a folder. */
  async #store({ file, sha256 }: CommitArchive): Promise<void> {
    const { blobs } = this.dependencies;
    const digest = parseDigest(sha256);
    await blobs.sweepTemporary(); // partial files of a killed process
    await blobs.adopt(file, digest).catch(async (error: unknown) => {
      if (codeOf(error) !== "EXDEV") throw error;
      await blobs.put(file, { maxBytes: ARCHIVE_LIMITS.compressedBytesMax, expectedDigest: digest });
    });
  }

  #rowOf(
    named: NamedCommit,
    { facts, skipped, hostSha256 }: CommitArchive,
    artifactId: string,
  ): store.MirrorRow {
    const { actor, connection, coordinates, found } = named;
    const { clock, ids, harnesses } = this.dependencies;
    const { paths, runtimeDownloads, files } = facts;
    const adapters = proposeAdapters(files, harnesses());
    const view: MirrorView = { paths, runtimeDownloads, skipped, adapters };
    return {
      ...keyOf(named),
      id: ids.uuid(),
      artifactId,
      hostSha256,
      provider: connection.provider,
      ref: coordinates.ref,
      refKind: found.kind,
      committedAtMs: found.committedAtMs ?? null,
      mirrorFormat: MIRROR_FORMAT,
      view: JSON.stringify(view),
      mirroredAtMs: clock.nowMs(),
      mirroredBy: actor.id ?? actor.kind,
    };
  }

  #record(tx: Tx, { actor, connection, coordinates, found }: NamedCommit, mirrored: store.Mirrored): void {
    const { repository, ref, path } = coordinates;
    const where = { connection: connection.id, repository, ref, commit: found.commit, path };
    const { sha256, sizeBytes } = mirrored.artifact;
    this.dependencies.audit.record(tx, {
      actor,
      action: "artifact.mirror",
      target: mirrored.mirror.artifactId,
      after: { ...where, sha256, size_bytes: sizeBytes },
    });
  }
}

const keyOf = ({ actor, connection, coordinates, found }: NamedCommit): store.MirrorKey => ({
  organizationId: actor.organizationId,
  connectionId: connection.id,
  commit: found.commit,
  repository: coordinates.repository,
  path: coordinates.path,
});

const notReproduced = (former: string, sha256: string): DomainError =>
  new DomainError(
    "conflict",
    "source.not_reproduced",
    `the archive of this commit has sha256 ${sha256}, but the archive mirrored before had ${former}`,
    {
      hint: "the host changed what the commit contains, for example by export rules; mirror a newer commit",
    },
  );
