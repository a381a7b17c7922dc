// The audit log as operators read it: pages of it, and all of it in order. Never more of it in memory than one page. Whether it
// is what was recorded is verification.ts's, writing is service.ts's.

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
  /** id of a user, or else what the log shows: an e-mail address, a login name, a token, a job; in any case */
  actor?: string | undefined;
  /** `noun.verb` */
  action?: string | undefined;
  /** id of what was changed */
  target?: string | undefined;
  /** UTC milliseconds, included */
  sinceMs?: number | undefined;
  /** UTC milliseconds, excluded */
  beforeMs?: number | undefined;
}

export interface WalkOptions {
  /** where to go on: the entries after this id; 0, the beginning, when left out */
  after?: number;
  /** stops the walk between two pages */
  signal?: AbortSignal;
}

/** All that is done with `audit_entries` but adding to them. */
export class AuditLog {
  readonly #db: Db;

  constructor(private readonly own: AuditRetentionDependencies) {
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

  /** @returns whether one of the actions was recorded of a target, which is named by its id or by a field of what it was before */
  hasRecord(organizationId: string, wanted: store.NamedTarget): boolean {
    return store.hasEntryOf(this.#db.read, organizationId, wanted);
  }

  /** @returns what the newest entry of an action says of the state after it, as JSON */
  lastAfter(organizationId: string, action: string): string | undefined {
    return this.list(organizationId, { action, perPage: 1 }).items[0]?.after ?? undefined;
  }

  /** @returns the id of the newest entry, also if it is gone */
  lastId(): number {
    return store.lastIdEver(this.#db.read);
  }

  /** @returns about how many entries follow an id: ids count entries, and retention removes the first ones */
  size(after = 0): number {
    const first = Math.max(after, store.findCheckpoint(this.#db.read)?.entryId ?? 0);
    return Math.max(0, this.lastId() - first);
  }

  /** @returns when the newest entry was made, UTC milliseconds; undefined for none */
  lastTime(): number | undefined {
    return store.lastTime(this.#db.read);
  }

  /** @returns how many entries of each action were made after an id, by whichever process, and the id of the last one */
  countsAfter(id: number): { counts: ReadonlyMap<string, number>; lastId: number } {
    const rows = store.countActionsAfter(this.#db.read, id);
    const counts = new Map(rows.map(({ action, total }) => [action, total]));
    return { counts, lastId: Math.max(id, ...rows.map(({ lastId }) => lastId)) };
  }

  /** Reads entries in the order they were recorded, page by page; entries made meanwhile are read as well. */
  async *walk({ after = 0, signal }: WalkOptions = {}): AsyncGenerator<AuditRow[]> {
    for (let last: number | undefined = after; last !== undefined; ) {
      signal?.throwIfAborted();
      const page = store.listFollowing(this.#db.read, { after: last, limit: WALK_ROWS });
      if (page.length > 0) yield page;
      last = page.length < WALK_ROWS ? undefined : page.at(-1)?.id;
      await setImmediate(); // signals and other work get their turn
    }
  }

  /** Removes the oldest entries: see retention.ts. */
  forget(actor: Actor, options: { retentionDays: number; signal: AbortSignal }): Promise<number> {
    return forgetEntries(this.own, actor, options);
  }

  /** Compares every entry with its digest and with the entry before it, as far as the first that does not fit. */
  verify(options?: VerifyOptions): Promise<Verification> {
    return verifyLog(this.#db, options);
  }
}

function actorFilter(actor: string | undefined): Pick<store.LogFilter, "actorId" | "actorLabel"> {
  if (actor === undefined) return {};
  return isOwnId(actor) ? { actorId: actor } : { actorLabel: actor };
}
