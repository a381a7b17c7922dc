// Package sources that an administrator names. Each is fetched once by the outbound client for public hosts, checked as every
// client would check it, and stored as an artifact, so that no workstation depends on the host. platform/outbound/outbound.ts
// decides which hosts are public; the governance area publishes packages.
import type { Blobs, StoredBlob } from "../../../platform/blobs/blobs.ts";
import { type Clock, MINUTE_MS } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { DomainError, invariant } from "../../../platform/errors.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import { publicUrl } from "../../../platform/outbound/public-hosts.ts";
import type { Audit } from "../../audit/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { ARCHIVE_LIMITS, type ArchiveContents, inspectArchive } from "../archive/archive.ts";
import * as store from "../store.ts";
import {
  archiveUrl,
  COMMIT_MEDIA_TYPE,
  commitUrl,
  GITHUB,
  type GithubOrigins,
  readGithubSource,
} from "./github-source.ts";
import { readSourceRequest, type SourceRequest } from "./source-request.ts";

export type { SourceRequest } from "./source-request.ts";

/** Name of all public hosts on the list of destinations; they are on it only if the setting allows them. */
export const PUBLIC_SOURCES_DESTINATION = "package-sources";
/** For all requests of one inspection together. */
export const INSPECTION_TIMEOUT_MS = MINUTE_MS;
export const INSPECTIONS_AT_ONCE_MAX = 4;
/** paths of the archive that an answer lists */
export const PATHS_LISTED_MAX = 1_000;
export const COMMIT_ANSWER_BYTES_MAX = 1_024;
const BUSY_RETRY_SECONDS = 10;

export interface InspectedSource extends ArchiveContents {
  /** address of the archive */
  sourceRef: string;
  artifactId: string;
  sha256: string;
  sizeBytes: number;
  /** the first PATHS_LISTED_MAX of the archive, in its order */
  paths: string[];
}

/** One repository connection; no setting creates one yet. */
export interface PackageSourceConnection {
  id: string;
  name: string;
  provider: "github" | "bitbucket_cloud" | "bitbucket_data_center";
  namespaces: string[];
}

export interface PackageSourcesDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  blobs: Blobs;
  outbound: Pick<Outbound, "download" | "list">;
  github?: GithubOrigins;
}

export class PackageSources {
  #running = 0;

  constructor(private readonly own: PackageSourcesDependencies) {}

  /** @returns the connections of the organization */
  connections(): readonly PackageSourceConnection[] {
    return [];
  }

  /**
   * Fetches a source, checks it, and stores it as an artifact; the same bytes again are the same artifact.
   * @throws DomainError `package_source.*`, `outbound.*`, `archive.*`, `artifact.*`
   */
  async inspect(
    actor: Actor,
    request: SourceRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<InspectedSource> {
    const source = readSourceRequest(request);
    this.#refuseClosed();
    if (this.#running >= INSPECTIONS_AT_ONCE_MAX) throw busy();
    this.#running += 1;
    try {
      const timeout = AbortSignal.timeout(INSPECTION_TIMEOUT_MS);
      const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
      const url = await this.#locate(source, signal);
      return await this.#mirror(actor, url, signal);
    } finally {
      this.#running -= 1;
    }
  }

  #refuseClosed(): void {
    if (this.own.outbound.list().some(({ name }) => name === PUBLIC_SOURCES_DESTINATION)) return;
    throw new DomainError("forbidden", "package_source.closed", "public package sources are switched off", {
      hint: "the operator switches them on with the setting package_sources.public, or seeds the catalog from local archives",
    });
  }

  /** A ref may move; the URL that this returns always stands for the same commit. */
  async #locate(source: string, signal: AbortSignal): Promise<URL> {
    const github = readGithubSource(source);
    if (!github) return publicUrl(source);
    const { github: origins = GITHUB } = this.own;
    const answer = this.#download(commitUrl(github, origins), {
      headers: { accept: COMMIT_MEDIA_TYPE },
      bytesMax: COMMIT_ANSWER_BYTES_MAX,
      signal,
    });
    const commit = Buffer.concat(await Array.fromAsync(answer))
      .toString()
      .trim();
    return publicUrl(archiveUrl(github, commit, origins));
  }

  async #mirror(actor: Actor, url: URL, signal: AbortSignal): Promise<InspectedSource> {
    await this.own.blobs.sweepTemporary(); // partial files of an inspection that was killed
    const bytesMax = ARCHIVE_LIMITS.compressedBytesMax;
    const paths: string[] = [];
    const checked: { contents?: ArchiveContents } = {};
    const stored = await this.own.blobs.put(this.#download(url.href, { bytesMax, signal }), {
      maxBytes: bytesMax,
      check: async (bytes, digest) => {
        const onEntry = (path: string) => void (paths.length < PATHS_LISTED_MAX && paths.push(path));
        const isKnown =
          store.findArtifactByDigest(this.own.db.read, actor.organizationId, digest) !== undefined;
        const onOutdated = isKnown ? () => {} : undefined; // `catalog verify` warns of it
        checked.contents = await inspectArchive(bytes, { onEntry, onOutdated });
      },
    });
    const { contents } = checked;
    invariant(contents, "what is kept was checked");
    const artifactId = await this.own.db.write(
      (tx) => this.#register(tx, actor, { url, stored, contents }),
      "catalog",
    );
    const { digest: sha256, sizeBytes } = stored;
    return { sourceRef: url.href, artifactId, sha256, sizeBytes, ...contents, paths };
  }

  #register(tx: Tx, actor: Actor, { url, stored, contents }: Mirrored): string {
    const { organizationId } = actor;
    const { digest: sha256, sizeBytes } = stored;
    const known = store.findArtifactByDigest(tx, organizationId, sha256);
    if (known) return known.id;
    const id = this.own.ids.uuid();
    const createdAtMs = this.own.clock.nowMs();
    store.addArtifact(tx, { id, organizationId, sha256, sizeBytes, createdAtMs, ...contents });
    const source = `${url.origin}${url.pathname}`; // a query may hold a secret
    const after = { source, sha256, size_bytes: sizeBytes };
    this.own.audit.record(tx, { actor, action: "artifact.mirror", target: id, after });
    return id;
  }

  #download(
    url: string,
    request: { headers?: Record<string, string>; bytesMax: number; signal: AbortSignal },
  ) {
    const bounded = { ...request, timeoutMs: INSPECTION_TIMEOUT_MS };
    return this.own.outbound.download(PUBLIC_SOURCES_DESTINATION, url, bounded);
  }
}

interface Mirrored {
  url: URL;
  stored: StoredBlob;
  contents: ArchiveContents;
}

const busy = () =>
  new DomainError(
    "too_many",
    "package_source.busy",
    `${INSPECTIONS_AT_ONCE_MAX} sources are being inspected already; try again in a moment`,
    { retryAfterSeconds: BUSY_RETRY_SECONDS },
  );
