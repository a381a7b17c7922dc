// Package sources that an administrator names. Each is fetched once by the outbound client for public hosts, checked as every
// client would check it, and stored as an artifact, so that no workstation depends on the host. platform/outbound/outbound.ts
// decides which hosts are public; the governance area publishes packages.
import { MINUTE_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import { publicUrl } from "../../../platform/outbound/public-hosts.ts";
import type { Actor } from "../../shared/actor.ts";
import { ARCHIVE_LIMITS } from "../archive/archive.ts";
import type { Connection } from "../connections/connection.ts";
import type { ConnectionState } from "../mirroring/connection-states.ts";
import type { MirroredSource } from "../mirroring/mirrored-source.ts";
import { Mirrors, type MirrorsDependencies } from "../mirroring/mirrors.ts";
import {
  archiveUrl,
  COMMIT_MEDIA_TYPE,
  commitUrl,
  GITHUB,
  type GithubOrigins,
  readGithubSource,
} from "./github-source.ts";
import { type KeptArchive, KeptArchives, type KeptArchivesDependencies } from "./kept-archives.ts";
import { type OperatorConnection, operatorConnections } from "./operator-connections.ts";
import { readSourceRequest, type SourceRequest } from "./source-request.ts";

export type { SourceRequest } from "./source-request.ts";

/** Name of the destination for all public hosts, which exists only if the setting allows them. */
export const PUBLIC_SOURCES_DESTINATION = "package-sources";
/** Time limit for all requests of one inspection together. */
export const INSPECTION_TIMEOUT_MS = MINUTE_MS;
/** Uploads included. */
export const INSPECTIONS_AT_ONCE_MAX = 4;
/** Maximum characters of the name of an uploaded file. */
export const UPLOAD_NAME_CHARACTERS_MAX = 255;
export const COMMIT_RESPONSE_BYTES_MAX = 1_024;
const BUSY_RETRY_SECONDS = 10;

export interface InspectedSource extends KeptArchive {
  /** URL of the archive, or the name of the uploaded file */
  sourceRef: string;
  /** commit of a repository */
  commit?: string;
  /** mirrored source of a repository connection */
  repository?: MirroredSource["repository"];
}

export interface UploadedArchive {
  /** the uploader's name for the file */
  name: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** A repository connection as administrators see it, without URL and credential. */
export interface PackageSourceConnection
  extends Pick<Connection, "id" | "name" | "provider" | "namespaces">,
    Pick<ConnectionState, "status"> {}

export interface PackageSourcesDependencies extends KeptArchivesDependencies, MirrorsDependencies {
  outbound: Pick<Outbound, "download" | "list" | "fetch" | "connectionSettings">;
  github?: GithubOrigins;
}

export class PackageSources {
  /** all stored archives */
  readonly archives: KeptArchives;
  /** commits of the company's repositories */
  readonly mirrors: Mirrors;
  #running = 0;

  constructor(private readonly dependencies: PackageSourcesDependencies) {
    this.archives = new KeptArchives(dependencies);
    this.mirrors = new Mirrors(dependencies);
  }

  /** @returns the connections of the organization, in the order of the configuration */
  connections(organizationId: string): readonly PackageSourceConnection[] {
    return this.dependencies.connections
      .list()
      .filter(({ namespaces }) => namespaces.length > 0)
      .map(({ id, name, provider, namespaces }) => {
        const { status } = this.mirrors.states.of(organizationId, id);
        return { id, name, provider, namespaces, status };
      });
  }

  /** @returns all connections with their hosts, including disabled ones; for the operator only */
  operatorView(organizationId: string): OperatorConnection[] {
    return operatorConnections(this.dependencies.connections, this.mirrors.states, organizationId);
  }

  /**
   * Fetches a source, checks it, and stores it as an artifact; equal bytes become the same artifact. The signal does not end
   * the mirroring of a repository, because another caller may wait for it too.
   * @throws DomainError `package_source.*`, `outbound.*`, `source.*`, `archive.*`, `artifact.*`
   */
  async inspect(
    actor: Actor,
    request: SourceRequest,
    options: { signal?: AbortSignal } = {},
  ): Promise<InspectedSource> {
    if (request.connection_id !== undefined)
      return await this.mirrors.inspect(actor, request, (work) => this.#alone(work));
    const source = readSourceRequest(request);
    this.#refuseClosed();
    return await this.#alone(async () => {
      const timeout = AbortSignal.timeout(INSPECTION_TIMEOUT_MS);
      const signal = options.signal ? AbortSignal.any([options.signal, timeout]) : timeout;
      const { url, commit } = await this.#locate(source, signal);
      const bytes = this.#download(url.href, { bytesMax: ARCHIVE_LIMITS.compressedBytesMax, signal });
      const named = `${url.origin}${url.pathname}`; // a query may hold a secret
      const kept = await this.archives.keep(actor, bytes, { action: "artifact.mirror", source: named });
      return { sourceRef: url.href, ...(commit !== undefined && { commit }), ...kept };
    });
  }

  /**
   * Checks an uploaded archive and stores it as an artifact; needs no network.
   * @throws DomainError `package_source.bad_name`, `package_source.busy`, `archive.*`, `artifact.*`; errors of the bytes
   */
  async upload(actor: Actor, { name, bytes }: UploadedArchive): Promise<InspectedSource> {
    const sourceRef = readUploadName(name);
    return await this.#alone(async () => ({
      sourceRef,
      ...(await this.archives.keep(actor, bytes, { action: "artifact.upload", source: sourceRef })),
    }));
  }

  /** @throws DomainError `package_source.busy` */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#running >= INSPECTIONS_AT_ONCE_MAX) throw busy();
    this.#running += 1;
    try {
      return await work();
    } finally {
      this.#running -= 1;
    }
  }

  /** @returns whether archives on public hosts may be fetched */
  isPublic(): boolean {
    return this.dependencies.outbound.list().some(({ name }) => name === PUBLIC_SOURCES_DESTINATION);
  }

  #refuseClosed(): void {
    if (this.isPublic()) return;
    throw new DomainError("forbidden", "package_source.closed", "public package sources are turned off", {
      hint: "the operator turns them on with the setting package_sources.public, or seeds the catalog from local archives",
    });
  }

  /** A ref may move; the URL that this returns always refers to the same commit. */
  async #locate(source: string, signal: AbortSignal): Promise<{ url: URL; commit?: string }> {
    const github = readGithubSource(source);
    if (!github) return { url: publicUrl(source) };
    const { github: origins = GITHUB } = this.dependencies;
    const response = this.#download(commitUrl(github, origins), {
      headers: { accept: COMMIT_MEDIA_TYPE },
      bytesMax: COMMIT_RESPONSE_BYTES_MAX,
      signal,
    });
    const commit = Buffer.concat(await Array.fromAsync(response))
      .toString()
      .trim();
    return { url: publicUrl(archiveUrl(github, commit, origins)), commit };
  }

  #download(
    url: string,
    request: { headers?: Record<string, string>; bytesMax: number; signal: AbortSignal },
  ) {
    const bounded = { ...request, timeoutMs: INSPECTION_TIMEOUT_MS };
    return this.dependencies.outbound.download(PUBLIC_SOURCES_DESTINATION, url, bounded);
  }
}

/** Uses the last part of the path, which is all that browsers send. */
function readUploadName(name: string): string {
  const own = name.trim().split(/[\\/]/).at(-1) ?? "";
  const isSound = own !== "" && own.length <= UPLOAD_NAME_CHARACTERS_MAX && !/[\p{Cc}:]/u.test(own);
  if (isSound) return own;
  throw new DomainError(
    "invalid",
    "package_source.bad_name",
    `an uploaded file needs a name of at most ${UPLOAD_NAME_CHARACTERS_MAX} characters, without colons and control characters`,
  );
}

const busy = () =>
  new DomainError(
    "too_many",
    "package_source.busy",
    `${INSPECTIONS_AT_ONCE_MAX} sources are already being inspected; try again in a moment`,
    { retryAfterSeconds: BUSY_RETRY_SECONDS },
  );
