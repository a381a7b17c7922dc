// Reads the audit log for operators: single pages, or all entries in order, with at most one page in memory. verification.ts
// verifies the log, and service.ts writes it.

import { setImmediate } from "node:timers/promises";
import type { Db } from "../../platform/database/database.ts";
import { DomainError, type Problem } from "../../platform/errors.ts";
import { isOwnId } from "../../platform/ids.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import type { Actor } from "../shared/actor.ts";
import {
  type KeyedPage,
  keyedPage,
  offsetOf,
  type Page,
  type PageQuery,
  readPageQuery,
  refuseProblems,
} from "../shared/page.ts";
import type { AuditRow } from "./chain.ts";
import * as store from "./log-store.ts";
import { type EntryInChain, type NamedEntry, nameInSummaries } from "./reading/entry-document.ts";
import { type AuditRetentionDependencies, type ForgetOptions, forgetEntries } from "./retention.ts";
import { type Verification, type VerifyOptions, verifyLog, WALK_ROWS } from "./verification.ts";

interface AuditFilter {
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

export interface AuditQuery extends Omit<PageQuery, "q">, AuditFilter {}

export interface KeyedAuditQuery extends AuditFilter {
  /** position of the last entry of the previous page */
  after?: store.EntryPlace | undefined;
  /** number of entries per page */
  limit: number;
}

export interface WalkOptions {
  /** id of the entry after which to start; default: 0 */
  after?: number;
  /** stops between two pages */
  signal?: AbortSignal;
}

export interface PastVerification {
  /** UTC milliseconds */
  atMs: number;
  verification: Verification;
}

export interface VerificationState {
  last: PastVerification | undefined;
  isRunning: boolean;
}

export interface AuditLogDependencies extends AuditRetentionDependencies {
  /** @returns whether the installation has an organization, whose creation is the first entry; default: false */
  isInstalled?: () => boolean;
  /** @returns the email address of the user with that id, to name the target of an entry; undefined if there is no such user */
  addressOf?: (userId: string) => string | undefined;
}

/** All operations on `audit_entries` except appending. */
export class AuditLog {
  readonly #db: Db;
  #verifying: Promise<Verification> | undefined;
  #verified: PastVerification | undefined;

  constructor(private readonly dependencies: AuditLogDependencies) {
    this.#db = dependencies.db;
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
    refuseProblems("audit.invalid", problems);
    const { action, target } = query;
    const filter = filterOf({ actor, action, target, sinceMs, beforeMs });
    const { page, perPage } = request;
    const slice = { organizationId, filter, offset: offsetOf(request), limit: perPage };
    return this.#db.readConsistently(() => ({
      page,
      perPage,
      items: store.listEntries(this.#db.read, slice),
      total: known ?? store.countEntries(this.#db.read, slice),
    }));
  }

  /** @returns one page after a position, newest first, with the names of targets where known */
  listByKey(organizationId: string, { after, limit, ...wanted }: KeyedAuditQuery): KeyedPage<NamedEntry> {
    const slice = { organizationId, filter: filterOf(wanted), after, offset: 0, limit: limit + 1 };
    const rows = store.listEntries(this.#db.read, slice);
    const page = keyedPage(rows, limit, cursorOf);
    return { ...page, items: page.items.map((entry) => this.named(entry)) };
  }

  /**
   * @param id as received
   * @returns the entry with its neighbors in the chain
   * @throws DomainError `audit.not_found`
   */
  find(organizationId: string, id: string): EntryInChain {
    const place = ENTRY_ID.test(id) ? Number(id) : 0;
    return this.#db.readConsistently(() => {
      const around = store.listAround(this.#db.read, { organizationId, id: place });
      const entry = around.find((candidate) => candidate.id === place);
      if (entry === undefined) throw entryNotFound(id);
      const previous = around.find((candidate) => candidate.id < place) ?? null;
      const next = around.find((candidate) => candidate.id > place) ?? null;
      return { entry: this.named(entry), previous, next };
    });
  }

  /** @returns the entry with the name of its target: from the change itself, or the address of the user with that id */
  named(entry: AuditRow): NamedEntry {
    const { target } = entry;
    const address = () => (isOwnId(target) ? this.dependencies.addressOf?.(target) : undefined);
    return { ...entry, targetName: nameInSummaries(entry) ?? address() ?? null };
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

  /** @returns the first entry after an id; undefined if none follows */
  entryAfter(id: number): AuditRow | undefined {
    return store.listFollowing(this.#db.read, { after: id, limit: 1 })[0];
  }

  /** @returns the newest entry; undefined for none */
  lastEntry(): store.EntryEnd | undefined {
    return store.lastEntry(this.#db.read);
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

  /** Reads entries page by page in recording order, including entries that are recorded during the read. */
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
  forget(actor: Actor, options: ForgetOptions): Promise<number> {
    return forgetEntries(this.dependencies, actor, options);
  }

  /** Compares each entry with its digest and with the entry before it, up to the first mismatch. */
  verify(options: Omit<VerifyOptions, "isInstalled"> = {}): Promise<Verification> {
    return verifyLog(this.#db, { ...options, isInstalled: this.dependencies.isInstalled?.() ?? false });
  }

  /** Like `verify`, but shared: callers that arrive during a verification wait for its outcome. */
  verifyTogether(): Promise<Verification> {
    this.#verifying ??= this.#verifyAndKeep().finally(() => {
      this.#verifying = undefined;
    });
    return this.#verifying;
  }

  /** @returns the last outcome of `verifyTogether` in this process, and whether one runs now */
  get verificationState(): VerificationState {
    return { last: this.#verified, isRunning: this.#verifying !== undefined };
  }

  async #verifyAndKeep(): Promise<Verification> {
    const verification = await this.verify();
    this.#verified = { atMs: this.dependencies.clock.nowMs(), verification };
    return verification;
  }
}

const ENTRY_ID = /^\d{1,15}$/;

const cursorOf = ({ atMs, id }: store.EntryPlace): string => `${atMs}-${id}`;

const filterOf = ({ actor, action, target, sinceMs, beforeMs }: AuditFilter): store.LogFilter => ({
  ...actorFilter(actor),
  action,
  target,
  sinceMs,
  beforeMs,
});

/** @param id as received; only a number can have been the id of an entry */
const entryNotFound = (id: string): DomainError =>
  new DomainError("not_found", "audit.not_found", `the audit log has no entry ${quoted(id)}`, {
    hint: ENTRY_ID.test(id)
      ? "retention may have removed it; look in an earlier export or in a backup"
      : "the id of an entry is a number; see `quartermaster audit list`",
  });

function actorFilter(actor: string | undefined): Pick<store.LogFilter, "actorId" | "actorLabel"> {
  if (actor === undefined) return {};
  return isOwnId(actor) ? { actorId: actor } : { actorLabel: actor };
}
