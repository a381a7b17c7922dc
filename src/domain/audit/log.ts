// Reads the audit log for operators: single pages, or all entries in order, with at most one page in memory. verification.ts
// verifies the log, and service.ts writes it.

import { setImmediate } from "node:timers/promises";
import type { Db } from "../../platform/database/database.ts";
import { DomainError, type Problem } from "../../platform/errors.ts";
import { isOwnId } from "../../platform/ids.ts";
import type { Actor } from "../shared/actor.ts";
import { offsetOf, type Page, type PageQuery, readPageQuery } from "../shared/page.ts";
import type { AuditRow } from "./chain.ts";
import * as store from "./log-store.ts";
import { type AuditRetentionDependencies, forgetEntries } from "./retention.ts";
import { type Verification, type VerifyOptions, verifyLog, WALK_ROWS } from "./verification.ts";

export interface AuditQuery extends Omit<PageQuery, "q"> {
  /** id of a user, or the label that the log shows: an e-mail address, a login name, a token, a job; in any letter case */
  actor?: string | undefined;
  /** `noun.verb` */
  action?: string | undefined;
  /** id of the changed object */
  target?: string | undefined;
  /** UTC milliseconds, included */
  sinceMs?: number | undefined;
  /** UTC milliseconds, excluded */
  beforeMs?: number | undefined;
}

export interface WalkOptions {
  /** id of the entry after which the walk starts; 0 by default */
  after?: number;
  /** stops the walk between two pages */
  signal?: AbortSignal;
}

export interface AuditLogDependencies extends AuditRetentionDependencies {
  /** @returns whether the installation has an organization, whose creation is the first entry; false if omitted */
  isInstalled?: () => boolean;
}

/** All operations on `audit_entries` except appending. */
export class AuditLog {
  readonly #db: Db;

  constructor(private readonly own: AuditLogDependencies) {
    this.#db = own.db;
  }

  /**
   * @returns one page, newest first
   * @throws DomainError `audit.invalid` with everything that is wrong
   */
  list(organizationId: string, { actor, known, sinceMs, beforeMs, ...query }: AuditQuery): Page<AuditRow> {
    const problems: Problem[] = [];
    const request = readPageQuery(query, problems);
    if (sinceMs !== undefined && beforeMs !== undefined && sinceMs >= beforeMs)
      problems.push({ pointer: "/until", detail: "until must be later than since" });
    if (problems.length > 0) {
      const message = problems.map(({ detail }) => detail).join("; ");
      throw new DomainError("invalid", "audit.invalid", message, { problems });
    }
    const { action, target } = query;
    const filter = { ...actorFilter(actor), action, target, sinceMs, beforeMs };
    const { page, perPage } = request;
    const slice = { organizationId, filter, offset: offsetOf(request), limit: perPage };
    return this.#db.readConsistently(() => ({
      page,
      perPage,
      items: store.listEntries(this.#db.read, slice),
      total: known ?? store.countEntries(this.#db.read, slice),
    }));
  }

  /** @returns whether one of the actions was recorded for a target, named by its id or by a field of `before` */
  hasRecord(organizationId: string, wanted: store.NamedTarget): boolean {
    return store.hasEntryOf(this.#db.read, organizationId, wanted);
  }

  /** @returns `after` of the newest entry of an action, as JSON */
  lastAfter(organizationId: string, action: string): string | undefined {
    return this.list(organizationId, { action, perPage: 1 }).items[0]?.after ?? undefined;
  }

  /** @returns the id of the newest entry ever recorded, even if it was removed since */
  lastId(): number {
    return store.lastIdEver(this.#db.read);
  }

  /** @returns about how many entries follow an id. Ids are consecutive, and retention removes the first entries. */
  size(after = 0): number {
    const first = Math.max(after, store.findCheckpoint(this.#db.read)?.entryId ?? 0);
    return Math.max(0, this.lastId() - first);
  }

  /** @returns the time of the newest entry, UTC milliseconds; undefined for none */
  lastTime(): number | undefined {
    return store.lastTime(this.#db.read);
  }

  /** @returns the number of entries of each action after an id, from all processes, and the id of the last one */
  countsAfter(id: number): { counts: ReadonlyMap<string, number>; lastId: number } {
    const rows = store.countActionsAfter(this.#db.read, id);
    const counts = new Map(rows.map(({ action, total }) => [action, total]));
    return { counts, lastId: Math.max(id, ...rows.map(({ lastId }) => lastId)) };
  }

  /** Reads entries page by page in the order in which they were recorded, including those recorded during the walk. */
  async *walk({ after = 0, signal }: WalkOptions = {}): AsyncGenerator<AuditRow[]> {
    for (let last: number | undefined = after; last !== undefined; ) {
      signal?.throwIfAborted();
      const page = store.listFollowing(this.#db.read, { after: last, limit: WALK_ROWS });
      if (page.length > 0) yield page;
      last = page.length < WALK_ROWS ? undefined : page.at(-1)?.id;
      await setImmediate(); // lets signals and other work run
    }
  }

  /** Removes the oldest entries (retention.ts). */
  forget(actor: Actor, options: { retentionDays: number; signal: AbortSignal }): Promise<number> {
    return forgetEntries(this.own, actor, options);
  }

  /** Compares each entry with its digest and with the entry before it, up to the first mismatch. */
  verify(options: Omit<VerifyOptions, "isInstalled"> = {}): Promise<Verification> {
    return verifyLog(this.#db, { ...options, isInstalled: this.own.isInstalled?.() ?? false });
  }
}

function actorFilter(actor: string | undefined): Pick<store.LogFilter, "actorId" | "actorLabel"> {
  if (actor === undefined) return {};
  return isOwnId(actor) ? { actorId: actor } : { actorLabel: actor };
}
