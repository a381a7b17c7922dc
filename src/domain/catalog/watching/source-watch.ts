// Checks whether the branches and tags of packages in the policy point to newer commits. It downloads nothing and changes no
// policy. A moved tag is recorded, because it is a sign of tampering.
import { HOUR_MS } from "../../../platform/clock.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Actor } from "../../shared/actor.ts";
import type { Connection } from "../connections/connection.ts";
import { isCommit } from "../connections/coordinates.ts";
import type { Resolved } from "../connections/resolve.ts";
import { failingReason } from "../mirroring/connection-states.ts";
import { isAllowed } from "../mirroring/mirror-request.ts";
import type { Mirrors, MirrorsDependencies } from "../mirroring/mirrors.ts";
import type { ManagedPackage } from "../model.ts";
import { originOf, type PackageOrigin } from "./origins.ts";
import * as store from "./watch-store.ts";

/** A package of the policy that was mirrored from a connection. */
export interface TrackedPackage extends PackageOrigin {
  packageId: string;
  version: string;
}

/** A package whose branch or tag points to a commit other than the one of its archive. */
export interface OutdatedPackage extends TrackedPackage {
  /** the commit that the ref points to now */
  latestCommit: string;
  checkedAtMs: number;
}

export interface SourceCheckResult {
  /** number of refs that were looked up */
  looked: number;
  /** tags that moved to another commit */
  movedTags: { connectionId: string; repository: string; tag: string }[];
}

export interface SourceWatchDependencies
  extends Pick<MirrorsDependencies, "db" | "clock" | "audit" | "connections"> {
  mirrors: Pick<Mirrors, "resolve" | "states">;
  /** @returns the packages of the current policy */
  packagesInForce(organizationId: string): readonly ManagedPackage[];
}

interface DueRef {
  connection: Connection;
  tracked: TrackedPackage;
  /** 0 before the first lookup */
  checkedAtMs: number;
}

export class SourceWatch {
  constructor(private readonly dependencies: SourceWatchDependencies) {}

  /** @returns the packages of the policy that were mirrored from a connection */
  origins(organizationId: string): TrackedPackage[] {
    const { db, packagesInForce } = this.dependencies;
    return packagesInForce(organizationId).flatMap((managed) => {
      const origin = originOf(db.read, organizationId, managed);
      return origin ? [{ ...origin, packageId: managed.id, version: managed.version }] : [];
    });
  }

  /** @returns the packages that follow a branch or a tag */
  tracked(organizationId: string): TrackedPackage[] {
    return this.origins(organizationId).filter(({ ref }) => !isCommit(ref));
  }

  /** @returns the origin of each mirrored package of the policy, by its id, in the form of an export */
  managedSources(organizationId: string) {
    const origins = this.origins(organizationId);
    return Object.fromEntries(origins.map((origin) => [origin.packageId, managedSourceOf(origin)]));
  }

  /** @returns the packages that had a newer commit at the last lookup */
  behind(organizationId: string): OutdatedPackage[] {
    return this.tracked(organizationId).flatMap((tracked) => {
      const seen = store.findWatch(this.dependencies.db.read, { ...tracked, organizationId });
      if (!seen || seen.commit === null || seen.commit === tracked.commit) return [];
      return [{ ...tracked, latestCommit: seen.commit, checkedAtMs: seen.checkedAtMs }];
    });
  }

  /** @returns whether to check the refs of a connection */
  isWanted(): boolean {
    return this.dependencies.connections.list().some(({ watchEveryHours }) => watchEveryHours !== undefined);
  }

  /**
   * Looks up every ref that is due. After a connection fails, its other refs wait for the next run, so that a hanging host does
   * not use up the time of others.
   */
  async check(actor: Actor, signal: AbortSignal): Promise<SourceCheckResult> {
    const result: SourceCheckResult = { looked: 0, movedTags: [] };
    const failing = new Set<string>();
    for (const { connection, tracked } of this.#due(actor.organizationId)) {
      signal.throwIfAborted();
      if (failing.has(connection.id)) continue;
      result.looked += 1;
      const found = await this.#lookUp(actor, connection, tracked);
      const { connectionId, repository, ref: tag } = tracked;
      if (found === "moved") result.movedTags.push({ connectionId, repository, tag });
      if (found === "failing") failing.add(connectionId);
    }
    return result;
  }

  /** @returns each ref once, least recently looked up first */
  #due(organizationId: string): DueRef[] {
    const { clock, connections, db } = this.dependencies;
    const known = connections.list();
    const refs = new Map<string, DueRef>();
    for (const tracked of this.tracked(organizationId)) {
      const connection = known.find(({ id }) => id === tracked.connectionId);
      if (connection?.watchEveryHours === undefined || !isAllowed(connection, tracked)) continue;
      const key = { ...tracked, organizationId };
      const checkedAtMs = store.findWatch(db.read, key)?.checkedAtMs ?? 0;
      const isAnnounced = store.lastAnnouncementMs(db.read, key) >= checkedAtMs;
      if (!isAnnounced && clock.nowMs() < checkedAtMs + connection.watchEveryHours * HOUR_MS) continue;
      const name = JSON.stringify([connection.id, tracked.repository, tracked.ref]);
      refs.set(name, { connection, tracked, checkedAtMs });
    }
    return [...refs.values()].sort((one, other) => one.checkedAtMs - other.checkedAtMs);
  }

  /** @returns `moved` for a tag that moved since it was mirrored or looked up, `failing` if the connection fails */
  async #lookUp(
    actor: Actor,
    connection: Connection,
    tracked: TrackedPackage,
  ): Promise<"moved" | "failing" | "settled"> {
    const { organizationId } = actor;
    try {
      const found = await this.dependencies.mirrors.resolve(connection, tracked);
      await this.dependencies.mirrors.states.note(organizationId, connection.id);
      return (await this.#note(actor, tracked, found)) ? "moved" : "settled";
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      await this.dependencies.mirrors.states.note(organizationId, connection.id, error);
      await this.#noteFailure(actor, tracked, error.reason);
      return failingReason(error) !== undefined || error.kind === "too_many" ? "failing" : "settled";
    }
  }

  /** @returns whether the ref is a tag that moved */
  async #note(actor: Actor, tracked: TrackedPackage, { commit, kind }: Resolved): Promise<boolean> {
    const { audit, clock, db } = this.dependencies;
    const key = keyOf(actor, tracked);
    return await db.write((tx) => {
      const former = store.findWatch(tx, key)?.commit ?? tracked.commit;
      store.putWatch(tx, { ...key, commit, reason: null, checkedAtMs: clock.nowMs() });
      if (kind !== "tag" || former === commit) return false;
      const { connectionId, repository, ref } = tracked;
      const where = { connection: connectionId, repository, tag: ref };
      audit.record(tx, {
        actor,
        action: "source.find_moved_tag",
        target: tracked.packageId,
        before: { ...where, commit: former },
        after: { ...where, commit },
      });
      return true;
    }, "unobserved");
  }

  async #noteFailure(actor: Actor, tracked: TrackedPackage, reason: string): Promise<void> {
    const { clock, db } = this.dependencies;
    const key = keyOf(actor, tracked);
    await db.write((tx) => {
      const commit = store.findWatch(tx, key)?.commit ?? null;
      store.putWatch(tx, { ...key, commit, reason, checkedAtMs: clock.nowMs() });
    }, "unobserved");
  }
}

const managedSourceOf = ({ connectionId, repository, ref, path, commit }: PackageOrigin) => ({
  connection_id: connectionId,
  repository,
  requested_ref: ref,
  resolved_commit: commit,
  ...(path !== "" && { path }),
});

const keyOf = (
  { organizationId }: Actor,
  { connectionId, repository, ref }: TrackedPackage,
): store.WatchKey => ({ organizationId, connectionId, repository, ref });
