// Accepts archives that administrators name or upload: checks each as every client would, stores its bytes as an artifact, and
// returns its contents. Archives stay stored, so that a package can be added in several steps.
import { LRUCache } from "lru-cache";
import { type Blobs, parseDigest } from "../../../platform/blobs/blobs.ts";
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { DomainError, invariant, type Problem } from "../../../platform/errors.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { Audit } from "../../audit/service.ts";
import type { Harness } from "../../harnesses/harnesses.ts";
import type { Actor } from "../../shared/actor.ts";
import { ARCHIVE_LIMITS, type ArchiveContents, inspectArchive } from "../archive/archive.ts";
import { type ArchiveFacts, readArchiveFacts } from "../archive/archive-facts.ts";
import type { ManagedPackage } from "../model.ts";
import { proposeAdapters } from "../packages/layout-proposal.ts";
import { requiredPathsOf } from "../packages/required-paths.ts";
import * as store from "../store.ts";
import { registerArtifact } from "./artifact-register.ts";
import type { RuntimeDownload } from "./runtime-downloads.ts";

/** The content of an archive, without its bytes. */
export interface ArchiveView extends ArchiveContents {
  sha256: string;
  sizeBytes: number;
  /** the first PATHS_LISTED_MAX paths of the archive, in its order */
  paths: string[];
  /** the first DOWNLOADS_LISTED_MAX apparent downloads at run time */
  runtimeDownloads: RuntimeDownload[];
  /** a proposed adapter for each harness that can use part of the archive */
  adapters: ManagedPackage["adapters"];
}

export interface KeptArchive extends ArchiveView {
  artifactId: string;
}

export interface KeptArchivesDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  blobs: Blobs;
  /** the current facts */
  harnesses(): readonly Harness[];
}

/** Facts for the audit log about a newly stored archive. */
interface Intake {
  action: "artifact.mirror" | "artifact.upload";
  /** without secrets */
  source: string;
}

/** Maximum number of archives whose facts are cached, because each step of adding a package needs them. */
const FACTS_KEPT_MAX = 4;

export class KeptArchives {
  readonly #facts = new LRUCache<string, ArchiveFacts>({ max: FACTS_KEPT_MAX });

  constructor(private readonly dependencies: KeptArchivesDependencies) {}

  /**
   * Stores an archive completely or not at all. Equal bytes always become the same artifact.
   * @throws DomainError `archive.*`, `artifact.*`; errors of the bytes
   */
  async keep(actor: Actor, bytes: AsyncIterable<Uint8Array>, intake: Intake): Promise<KeptArchive> {
    const { blobs, db } = this.dependencies;
    const { organizationId } = actor;
    await blobs.sweepTemporary(); // partial files of a killed process
    const checked: { facts?: ArchiveFacts } = {};
    const { digest, sizeBytes } = await blobs.put(bytes, {
      maxBytes: ARCHIVE_LIMITS.compressedBytesMax,
      check: async (stored, sha256) => {
        const isKnown = store.findArtifactByDigest(db.read, organizationId, sha256) !== undefined;
        checked.facts = await readArchiveFacts(stored, isKnown ? TOLERANT : {});
      },
    });
    const { facts } = checked;
    invariant(facts, "what is kept was checked");
    this.#facts.set(digest, facts);
    const artifactId = await this.#register(actor, { sha256: digest, sizeBytes, ...facts }, intake);
    return { artifactId, ...this.#viewOf({ sha256: digest, sizeBytes }, facts) };
  }

  /** @param sha256 lower case @throws DomainError `artifact.not_found`, `artifact.bytes_missing` */
  async show(organizationId: string, sha256: string): Promise<KeptArchive> {
    const artifact = store.findArtifactByDigest(this.dependencies.db.read, organizationId, sha256);
    if (!artifact) throw notKept();
    const facts = this.#facts.get(sha256) ?? (await readArchiveFacts(await this.#read(sha256), TOLERANT));
    this.#facts.set(sha256, facts);
    return { artifactId: artifact.id, ...this.#viewOf(artifact, facts) };
  }

  /**
   * @param managed a package with that archive for every platform
   * @returns a problem for each path of its adapters that the archive lacks, with pointers into the package
   * @throws DomainError: see show
   */
  async missingPaths(organizationId: string, managed: ManagedPackage): Promise<readonly Problem[]> {
    const { sha256 } = managed;
    if (!store.findArtifactByDigest(this.dependencies.db.read, organizationId, sha256)) throw notKept();
    const requiredPaths = requiredPathsOf({ managed, index: 0, platform: undefined });
    try {
      await inspectArchive(await this.#read(sha256), { ...TOLERANT, requiredPaths });
      return [];
    } catch (error) {
      if (!(error instanceof DomainError) || error.reason !== "archive.missing_path") throw error;
      return error.problems.map(({ pointer, detail }) => ({ pointer: pointer.replace(/^\/0/, ""), detail }));
    }
  }

  async #read(sha256: string): Promise<AsyncIterable<Uint8Array>> {
    const digest = parseDigest(sha256);
    if (!(await this.dependencies.blobs.has(digest))) throw bytesMissing();
    return this.dependencies.blobs.read(digest);
  }

  #viewOf({ sha256, sizeBytes }: { sha256: string; sizeBytes: number }, facts: ArchiveFacts): ArchiveView {
    const { entries, expandedBytes, paths, runtimeDownloads, files } = facts;
    const adapters = proposeAdapters(files, this.dependencies.harnesses());
    return { sha256, sizeBytes, entries, expandedBytes, paths, runtimeDownloads, adapters };
  }

  #register(
    actor: Actor,
    archive: ArchiveContents & { sha256: string; sizeBytes: number },
    { action, source }: Intake,
  ): Promise<string> {
    const { organizationId } = actor;
    const { sha256, sizeBytes, entries, expandedBytes } = archive;
    const { audit, db } = this.dependencies;
    return db.write((tx) => {
      const known = store.findArtifactByDigest(tx, organizationId, sha256);
      if (known) return known.id;
      const id = registerArtifact(tx, this.dependencies, {
        organizationId,
        sha256,
        sizeBytes,
        entries,
        expandedBytes,
      });
      audit.record(tx, { actor, action, target: id, after: { source, sha256, size_bytes: sizeBytes } });
      return id;
    }, "catalog");
  }
}

/** `catalog verify` warns of rules that a stored archive breaks. */
const TOLERANT = { onOutdated: () => {} };

const notKept = () =>
  new DomainError("not_found", "artifact.not_found", "no archive with this digest is stored here", {
    hint: "upload it again",
  });

const bytesMissing = () =>
  new DomainError("unavailable", "artifact.bytes_missing", "the bytes of this archive are missing", {
    hint: "upload it again; `quartermaster catalog verify` shows what else is missing",
  });
