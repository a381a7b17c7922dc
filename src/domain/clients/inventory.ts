// The administrator's view of the inventory: lists, facets, single records. service.ts receives reports; removal.ts removes
// records.

import type { Static } from "@sinclair/typebox";
import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/errors.ts";
import { runSynchronously, type Steps } from "../../platform/steps.ts";
import type { Identity } from "../identity/service.ts";
import { type DayRangeQuery, readDayRange } from "../shared/day-range.ts";
import {
  offsetOf,
  type Page,
  type PageQuery,
  readPageQuery,
  readSearchText,
  readUuid,
  readWord,
} from "../shared/page.ts";
import { overSpans, type PageWindow, pageInSteps, RowTotals } from "../shared/page-steps.ts";
import { clientAmbiguous, clientNotFound, refuseQuery } from "./errors.ts";
import * as store from "./inventory-store.ts";
import { FACET_HARNESSES_MAX, FACET_USERS_MAX, REFERENCE_MATCHES_MAX, STALE_AFTER_DAYS } from "./limits.ts";
import {
  type Activity,
  type AdminClientStatus,
  type ClientFacets,
  HEALTHS,
  type Health,
  SORTS,
} from "./model.ts";

export interface InventoryDependencies {
  db: Db;
  clock: Clock;
  identity: Pick<Identity, "users" | "findUserById">;
  /** @returns id of the current revision; undefined before the first start */
  revisionInForce(organizationId: string): string | undefined;
}

/** One workstation of a user, with its last report. */
export interface ClientView extends Omit<store.InventoryRow, "harnesses" | "packages" | "reasons"> {
  userEmail: string;
  activity: Activity;
  harnesses: readonly unknown[];
  packages: readonly unknown[];
  reasons: readonly string[];
}

export interface ClientQuery extends PageQuery {
  userId?: string | undefined;
  harness?: string | undefined;
  health?: string | undefined;
  lastSeen?: DayRangeQuery | undefined;
  /** UTC milliseconds, exclusive; overrides the end of `lastSeen` */
  seenBeforeMs?: number | undefined;
  sort?: string | undefined;
  /** last client of the previous page; replaces the page number, so that later pages need not skip earlier rows */
  after?: Pick<ClientView, "id" | "lastSeenAtMs"> | undefined;
}

export interface ClientPage extends Page<ClientView> {
  /** null before the first revision */
  currentRevision: string | null;
}

export interface FacetQuery {
  userQ?: string | undefined;
  selectedUserId?: string | undefined;
}

/** Operations in steps are for callers who let the event loop turn. */
export class Inventory {
  readonly #totals: RowTotals;

  constructor(private readonly own: InventoryDependencies) {
    this.#totals = new RowTotals(own.db, "client_rows");
  }

  /** See `listInSteps`. */
  list(organizationId: string, query: ClientQuery): ClientPage {
    return runSynchronously(this.listInSteps(organizationId, query));
  }

  /**
   * @returns clients ordered by last report; `q` searches host name, instance id and the user's email address
   * @throws DomainError `client.invalid`
   */
  *listInSteps(organizationId: string, query: ClientQuery): Steps<ClientPage> {
    const problems: Problem[] = [];
    const request = readPageQuery(query, problems);
    const filter = this.#readFilter({ ...query, q: request.q }, problems);
    const sort = readWord(query.sort, { name: "sort", words: SORTS, problems }) ?? SORTS[0];
    refuseQuery(problems);
    const { page, perPage } = request;
    const currentRevision = this.#inForce(organizationId);
    const { after, known } = query;
    const wanted = { filter, sort, inForce: currentRevision };
    const place = after && { first: after.lastSeenAtMs, second: after.id };
    const window = { after: place, offset: after ? 0 : offsetOf(request), limit: perPage, known };
    const { items, total } = yield* this.#read(organizationId, wanted, window);
    return { page, perPage, total, items: items.map((row) => this.#viewOf(row)), currentRevision };
  }

  *#read(
    organizationId: string,
    wanted: store.WantedReports,
    window: PageWindow,
  ): Steps<{ items: store.InventoryRow[]; total: number }> {
    const { read } = this.own.db;
    if (wanted.filter.userId !== undefined && !window.after)
      return store.listReportsOf(read, organizationId, { ...wanted, ...window });
    const rows = store.reportsLike(read, organizationId, wanted);
    const isWhole = Object.values(wanted.filter).every((value) => value === undefined);
    const known = window.known ?? (isWhole ? yield* this.#totals.of(organizationId, rows) : undefined);
    return yield* pageInSteps(rows, { ...window, known });
  }

  /**
   * @returns up to FACET_USERS_MAX users who have reported, the selected one first, and up to FACET_HARNESSES_MAX harnesses
   * @throws DomainError `client.invalid`
   */
  *facets(organizationId: string, { userQ, selectedUserId: selectedId }: FacetQuery): Steps<ClientFacets> {
    const searching: Problem[] = [];
    const q = readSearchText(userQ, searching);
    const problems = searching.map(({ detail }) => ({ pointer: "/user_q", detail: `user_${detail}` }));
    const id = readUuid(selectedId, "selected_user_id", problems);
    refuseQuery(problems);
    const wanted = { isAmong: store.hasReported, q, selectedId: id, limit: FACET_USERS_MAX };
    const users = yield* this.own.identity.users.among(organizationId, wanted);
    return {
      users: users.map(({ id, email }) => ({ id, email })),
      harnesses: yield* this.#harnessNames(organizationId),
    };
  }

  *#harnessNames(organizationId: string): Steps<string[]> {
    const { read } = this.own.db;
    const listsIn = store.harnessLists(read, organizationId);
    const lists = new Set<string>();
    yield* overSpans({ placeAhead: store.reportPlaces(read, organizationId) }, (span) => {
      for (const list of listsIn(span)) lists.add(list);
      return true;
    });
    const names = new Set([...lists].flatMap((list): string[] => JSON.parse(list)));
    return [...names].sort(byBytes).slice(0, FACET_HARNESSES_MAX);
  }

  /** @returns the workstation that last reported with each grant; grants that never reported are absent */
  reporters(wanted: { organizationId: string; userId: string; grantIds: readonly string[] }) {
    const rows = store.listReporters(this.own.db.read, wanted).toReversed();
    return new Map(rows.map((row) => [row.grantId, row]));
  }

  /**
   * @param reference id, instance id, or host name (case-insensitive)
   * @throws DomainError `client.not_found`, `client.ambiguous`
   */
  find(organizationId: string, reference: string): ClientView {
    const { read } = this.own.db;
    const inForce = this.#inForce(organizationId);
    const known = store.findReport(read, { organizationId, id: reference.toLowerCase() }, inForce);
    if (known) return this.#viewOf(known);
    const limit = REFERENCE_MATCHES_MAX;
    const named = store.findNamed(read, { organizationId, name: reference }, { inForce, limit });
    const [row, ...others] = named;
    if (!row) throw clientNotFound(reference);
    if (others.length > 0) throw clientAmbiguous(named.map(({ id }) => id));
    return this.#viewOf(row);
  }

  /** @returns the user's other clients whose logins were approved from the same browser sign-in */
  companions(client: ClientView): { id: string; hostname: string | null }[] {
    return store.listCompanions(this.own.db.read, client);
  }

  /** @returns the number of clients; it is counted again only after one was added or removed */
  total(organizationId: string): number {
    const wanted = { filter: {}, sort: SORTS[0], inForce: null };
    const rows = store.reportsLike(this.own.db.read, organizationId, wanted);
    return runSynchronously(this.#totals.of(organizationId, rows));
  }

  /** See `countsInSteps`. */
  counts(organizationId: string): Readonly<Record<Health, number>> {
    return runSynchronously(this.countsInSteps(organizationId));
  }

  /** @returns the number of clients per health */
  *countsInSteps(organizationId: string): Steps<Readonly<Record<Health, number>>> {
    const { read } = this.own.db;
    const countIn = store.healthCounter(read, { organizationId, inForce: this.#inForce(organizationId) });
    const counts: Record<Health, number> = { current: 0, outdated: 0, attention: 0 };
    yield* overSpans({ placeAhead: store.reportPlaces(read, organizationId) }, (span) => {
      const counted = countIn(span);
      for (const health of HEALTHS) counts[health] += counted[health];
      return true;
    });
    return counts;
  }

  #inForce(organizationId: string): string | null {
    return this.own.revisionInForce(organizationId) ?? null;
  }

  #readFilter(query: ClientQuery, problems: Problem[]): store.InventoryFilter {
    const { q, harness, lastSeen = {}, seenBeforeMs } = query;
    const userId = readUuid(query.userId, "user_id", problems);
    const days = readDayRange(lastSeen, { name: "last_seen", problems });
    return {
      q: q === undefined ? undefined : { text: q, hasAddress: this.own.identity.users.hasAddressLike(q) },
      userId,
      harness,
      health: readWord(query.health, { name: "health", words: HEALTHS, problems }),
      seenFromMs: days.fromMs,
      seenBeforeMs: seenBeforeMs ?? days.beforeMs,
    };
  }

  #viewOf({ harnesses, packages, reasons, ...row }: store.InventoryRow): ClientView {
    const { identity, db, clock } = this.own;
    const isStale = clock.nowMs() - row.lastSeenAtMs >= STALE_AFTER_DAYS * DAY_MS;
    return {
      ...row,
      userEmail: identity.findUserById(db.read, row.userId)?.email ?? "",
      activity: isStale ? "stale" : "recent",
      harnesses: JSON.parse(harnesses),
      packages: JSON.parse(packages),
      reasons: JSON.parse(reasons),
    };
  }
}

/** @returns the record as both the API and the commands show it */
export const toAdminClientStatus = (client: ClientView): Static<typeof AdminClientStatus> => ({
  id: client.id,
  user_email: client.userEmail,
  instance_id: client.instanceId,
  hostname: client.hostname,
  client_version: client.clientVersion,
  platform: client.platform,
  architecture: client.architecture,
  config_revision: client.configRevision,
  applied: client.applied,
  files_ok: client.filesOk,
  harnesses: [...client.harnesses],
  packages: [...client.packages],
  error: client.error,
  status: client.health,
  status_reasons: [...client.reasons],
  first_seen_at: toRfc3339(client.firstSeenAtMs),
  last_seen_at: toRfc3339(client.lastSeenAtMs),
  activity_status: client.activity,
});

/** The order of SQLite, which differs from the one of JavaScript for characters outside the basic plane. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));
