// Mirrors commits of the company's repositories: finds the commit of a ref, creates one reproducible archive of it, and stores
// the archive with its origin as an artifact. Inspecting publishes nothing. package-sources.ts limits concurrent inspections.
import type { Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { TemporaryFolders } from "../../../platform/files/temporary-folders.ts";
import type { Outbound } from "../../../platform/outbound/outbound.ts";
import type { Actor } from "../../shared/actor.ts";
import type { Connection, Connections } from "../connections/connection.ts";
import type { Coordinates } from "../connections/coordinates.ts";
import { outcomeOf, type SourceOutcome } from "../connections/errors.ts";
import type { CloneAccess } from "../connections/git/clones.ts";
import { AppTokens } from "../connections/hosts/app-tokens.ts";
import { HOSTS } from "../connections/hosts/hosts.ts";
import { HostRequests, INSPECTION_MS_MAX } from "../connections/hosts/requests.ts";
import { type Resolved, resolveRef, sourceRefOf } from "../connections/resolve.ts";
import { type ConnectionFinding, verifyConnection } from "../connections/verify-connection.ts";
import type { KeptArchivesDependencies } from "../sources/kept-archives.ts";
import type { SourceRequest } from "../sources/source-request.ts";
import { ConnectionStates } from "./connection-states.ts";
import { fetchHostArchive } from "./fetch-archive.ts";
import {
  connectionDisabled,
  connectionWith,
  findConnection,
  isAllowed,
  namespaceRefused,
  readCoordinates,
} from "./mirror-request.ts";
import { type MirroredSource, mirroredSourceOf } from "./mirrored-source.ts";
import { mirrorFileIn, type RunRepack } from "./repack.ts";
import { StoredMirrors } from "./stored-mirrors.ts";
import { Turns } from "./turns.ts";

/** One inspection of a repository, for metrics. */
export interface SourceInspection {
  provider: Connection["provider"];
  outcome: SourceOutcome;
  durationMs: number;
  /** bytes received from the host; 0 if nothing was downloaded */
  hostBytes: number;
}

export interface MirrorsDependencies extends KeptArchivesDependencies, Pick<CloneAccess, "findGit"> {
  outbound: Pick<Outbound, "fetch" | "connectionSettings">;
  connections: Connections;
  folders: TemporaryFolders;
  repack: RunRepack;
  /** counts an inspection of a user against the user's budget */
  spendInspection(tx: Tx, actor: Actor): void;
  observeSource?: ((inspection: SourceInspection) => void) | undefined;
  /** default: INSPECTION_MS_MAX */
  inspectionMsMax?: number;
}

interface Wanted {
  actor: Actor;
  connection: Connection;
  coordinates: Coordinates;
  signal: AbortSignal;
}

export class Mirrors {
  readonly tokens: AppTokens;
  readonly states: ConnectionStates;
  readonly #kept: StoredMirrors;
  readonly #turns = new Turns<MirroredSource>();

  constructor(private readonly dependencies: MirrorsDependencies) {
    this.tokens = new AppTokens(dependencies);
    this.#kept = new StoredMirrors(dependencies);
    this.states = new ConnectionStates(dependencies);
  }

  /**
   * Finds the commit of a ref, and mirrors it unless its archive is already stored.
   * @param alone limits concurrent inspections
   * @throws DomainError `package_source.*`, `source.*`, `archive.*`, `artifact.*`, `access.too_many_attempts`
   */
  async inspect(
    actor: Actor,
    request: SourceRequest,
    alone: <T>(work: () => Promise<T>) => Promise<T>,
  ): Promise<MirroredSource> {
    const { connection, coordinates } = await this.#admit(actor, request);
    const { repository, path, ref } = coordinates;
    const names = {
      work: JSON.stringify([connection.id, repository, path, ref]),
      place: `${connection.id} ${repository.toLowerCase()}`,
    };
    return await this.#turns.take(names, () =>
      alone(() => this.#observed({ actor, connection, coordinates, signal: this.#deadline() })),
    );
  }

  /**
   * Finds the commit of a ref without downloading anything.
   * @returns the commit, its `source_ref`, and whether its archive is stored
   * @throws DomainError as `inspect`
   */
  async preview(
    actor: Actor,
    request: SourceRequest,
  ): Promise<Resolved & { sourceRef: string; isKnown: boolean }> {
    const { connection, coordinates } = await this.#admit(actor, request);
    const found = await this.resolve(connection, coordinates);
    const known = this.#kept.find({ actor, connection, coordinates, found });
    const { scheme } = HOSTS[connection.provider];
    const sourceRef = sourceRefOf(scheme, connection, coordinates);
    return { ...found, sourceRef, isKnown: known !== undefined && (await this.#kept.hasBytes(known)) };
  }

  /** @returns the commit of a ref @throws DomainError `source.*` */
  resolve(connection: Connection, coordinates: Coordinates, signal = this.#deadline()): Promise<Resolved> {
    return resolveRef(
      HOSTS[connection.provider],
      this.#requests(connection, coordinates, signal),
      coordinates,
    );
  }

  /** @returns the connections that need the git program, if the machine lacks a suitable one */
  async withoutGit(): Promise<string[]> {
    const needing = this.dependencies.connections.list().filter(({ clone }) => clone);
    const [first] = needing;
    if (!first) return [];
    try {
      await this.#requests(first, { repository: "" }, this.#deadline()).clones.version();
      return [];
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      return needing.map(({ id }) => id);
    }
  }

  /** Removes folders of killed processes. */
  async sweepTemporary(): Promise<void> {
    if (this.dependencies.connections.list().length > 0) await this.dependencies.folders.sweep();
  }

  /** @returns the connections whose hosts report when the credential expires */
  credentialEnds(): { id: string; seconds: number }[] {
    return this.dependencies.connections.list().flatMap(({ id }) => {
      const seconds = this.tokens.expiresInSeconds(id);
      return seconds === undefined ? [] : [{ id, seconds }];
    });
  }

  /**
   * Checks the host before anyone mirrors from it.
   * @param wanted what to read there, if anything
   * @returns the findings, in the order of the checks
   * @throws DomainError `package_source.unknown_connection`, `package_source.disabled_connection`
   */
  async verify(
    actor: Actor,
    id: string,
    wanted: Pick<Coordinates, "repository" | "ref"> | undefined,
  ): Promise<ConnectionFinding[]> {
    const { audit, clock, connections, db } = this.dependencies;
    this.#refuseDisabled(actor, id);
    const connection = connectionWith(connections.list(), id);
    const requests = this.#requests(connection, { repository: wanted?.repository ?? "" }, this.#deadline());
    const { findings, outcome } = await verifyConnection({ connection, requests, clock, wanted });
    if (outcome) await this.states.note(actor.organizationId, id, outcome.error);
    const failures = findings.filter(({ result }) => result === "failed").map(({ check }) => check);
    await db.write(
      (tx) => audit.record(tx, { actor, action: "source.verify", target: id, after: { failed: failures } }),
      "unobserved",
    );
    return findings;
  }

  /** Only an operator sees the problems, because they name files. @throws DomainError `package_source.disabled_connection` */
  #refuseDisabled({ kind }: Actor, id: string): void {
    const disabled = this.dependencies.connections.broken().find((broken) => broken.id === id);
    if (disabled) throw connectionDisabled(id, kind === "operator" ? disabled.problems : []);
  }

  /** Checks everything that needs no network. */
  async #admit(actor: Actor, request: SourceRequest) {
    const coordinates = readCoordinates(request);
    const { connections, audit, db } = this.dependencies;
    this.#refuseDisabled(actor, request.connection_id ?? "");
    const connection = findConnection(connections.list(), request.connection_id ?? "", coordinates);
    const { repository, ref } = coordinates;
    if (!isAllowed(connection, coordinates)) {
      const after = { repository, ref };
      await db.write(
        (tx) => audit.record(tx, { actor, action: "source.refuse_namespace", target: connection.id, after }),
        "unobserved",
      );
      throw namespaceRefused();
    }
    await db.write((tx) => this.dependencies.spendInspection(tx, actor), "unobserved");
    return { connection, coordinates };
  }

  #deadline(): AbortSignal {
    return AbortSignal.timeout(this.dependencies.inspectionMsMax ?? INSPECTION_MS_MAX);
  }

  #requests(
    connection: Connection,
    { repository }: Pick<Coordinates, "repository">,
    signal: AbortSignal,
  ): HostRequests {
    return new HostRequests({ ...this.dependencies, tokens: this.tokens }, connection, {
      repository,
      signal,
    });
  }

  async #observed(wanted: Wanted): Promise<MirroredSource> {
    const beganMs = performance.now();
    const { provider } = wanted.connection;
    const count = (outcome: SourceOutcome, hostBytes: number) =>
      this.dependencies.observeSource?.({
        provider,
        outcome,
        hostBytes,
        durationMs: performance.now() - beganMs,
      });
    const { organizationId } = wanted.actor;
    try {
      const { source, hostBytes, isKnown } = await this.#mirror(wanted);
      count(isKnown ? "known" : "mirrored", hostBytes);
      await this.states.note(organizationId, wanted.connection.id);
      return source;
    } catch (error) {
      count(outcomeOf(error), 0);
      await this.states.note(organizationId, wanted.connection.id, error);
      throw error;
    }
  }

  async #mirror(wanted: Wanted) {
    const { actor, connection, coordinates, signal } = wanted;
    const found = await this.resolve(connection, coordinates, signal);
    const named = { actor, connection, coordinates, found };
    const known = this.#kept.find(named);
    if (known && (await this.#kept.hasBytes(known))) {
      await this.#kept.noteInspection(named, known);
      return {
        source: mirroredSourceOf(known, { connection, coordinates, found }),
        hostBytes: 0,
        isKnown: true,
      };
    }
    await this.dependencies.folders.sweep();
    await using folder = await this.dependencies.folders.create();
    const requests = this.#requests(connection, coordinates, signal);
    const host = await fetchHostArchive(requests, { ...wanted, folder: folder.path, commit: found.commit });
    const task = { path: coordinates.path, commit: found.commit, skipLinks: connection.skipLinks };
    const repacked = await this.dependencies.repack(
      { folder: folder.path, ...task, compression: host.compression },
      { signal },
    );
    const archive = { ...repacked, file: mirrorFileIn(folder.path), hostSha256: host.sha256 };
    const { committedAtMs = host.committedAtMs } = found;
    const dated = { ...named, found: { ...found, committedAtMs } };
    const mirrored = await this.#kept.keep(dated, archive, known?.artifact.sha256);
    return {
      source: mirroredSourceOf(mirrored, { connection, coordinates, found }),
      hostBytes: host.sizeBytes,
      isKnown: false,
    };
  }
}
