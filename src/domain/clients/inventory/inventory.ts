// The administrator's view of the inventory: lists (lists.ts), facets, single records and counts. service.ts receives reports;
// removal.ts removes records.
import type { Problem } from "../../../platform/errors.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import { type FacetQuery, readFacetQuery } from "../../shared/facet-users.ts";
import { USER_CANDIDATES_MAX, type UserSet } from "../../shared/ordered-rows-store.ts";
import { byBytes, overSpans } from "../../shared/page-steps.ts";
import { clientAmbiguous, clientNotFound, refuseQuery } from "../errors.ts";
import { FACET_HARNESSES_MAX, REFERENCE_MATCHES_MAX } from "../limits.ts";
import { HEALTHS, type Health } from "../model.ts";
import { type HarnessVersions, harnessVersionsIn } from "./harness-versions.ts";
import * as store from "./inventory-store.ts";
import { readCountKinds, unseenSince } from "./list-query.ts";
import { ClientLists, type ClientView } from "./lists.ts";
import { figuresOfUsers, hasNoneSince, ownersSeenBefore, type UserFigures } from "./user-figures-store.ts";

export type { ClientFilterQuery, ClientQuery } from "./list-query.ts";
export type { ClientPage, ClientSummary, ClientView } from "./lists.ts";

/** The requested counts. */
export interface ClientCounted {
  health: Readonly<Record<Health, number>> | undefined;
  versions: HarnessVersions | undefined;
}

export interface ClientFacets {
  users: { id: string; email: string }[];
  harnesses: string[];
}

export class Inventory extends ClientLists {
  /**
   * @returns up to FACET_USERS_MAX users who have reported, the selected one first, and up to FACET_HARNESSES_MAX harnesses
   * @throws DomainError `client.invalid`
   */
  *facets(organizationId: string, query: FacetQuery): Steps<ClientFacets> {
    const problems: Problem[] = [];
    const wanted = { isAmong: store.hasReported, ...readFacetQuery(query, problems) };
    refuseQuery(problems);
    const users = yield* this.dependencies.identity.users.commonNames(organizationId, wanted);
    return {
      users: users.map(({ id, email }) => ({ id, email })),
      harnesses: yield* this.#harnessNames(organizationId),
    };
  }

  *#harnessNames(organizationId: string): Steps<string[]> {
    const { read } = this.dependencies.db;
    const listsIn = store.harnessLists(read, organizationId);
    const lists = new Set<string>();
    yield* overSpans({ placeAhead: store.reportPlaces(read, organizationId) }, (span) => {
      for (const list of listsIn(span)) lists.add(list);
      return true;
    });
    const names = new Set([...lists].flatMap((list): string[] => JSON.parse(list)));
    return [...names].sort(byBytes).slice(0, FACET_HARNESSES_MAX);
  }

  /** @returns the number of workstations of each user, and when one was last seen; users without workstations are absent */
  ofUsers(organizationId: string, userIds: readonly string[]): ReadonlyMap<string, UserFigures> {
    return figuresOfUsers(this.dependencies.db.read, { organizationId, userIds });
  }

  /**
   * @param days unchecked; use the result only if `problems` stays empty
   * @returns the users without a workstation that reported within that many days
   */
  notSeenForDays(organizationId: string, days: number, problems: Problem[]): UserSet | undefined {
    const ms = unseenSince(days, { nowMs: this.dependencies.clock.nowMs(), problems });
    return ms === undefined || problems.length > 0 ? undefined : this.notSeenSince(organizationId, ms);
  }

  /** @returns the users without a workstation that reported at this time or later, UTC milliseconds */
  notSeenSince(organizationId: string, ms: number): UserSet {
    const { db, identity } = this.dependencies;
    const limit = USER_CANDIDATES_MAX + 1;
    const late = ownersSeenBefore(db.read, { organizationId, ms, limit });
    const without = late.length < limit ? identity.users.withoutWorkstation(organizationId, limit) : [];
    const ids = new Set([...late, ...without]);
    return { holds: hasNoneSince(ms), ids: late.length < limit && ids.size < limit ? [...ids] : undefined };
  }

  /** @returns the workstation that last reported with each grant; grants that never reported are absent */
  reporters(wanted: { organizationId: string; userId: string; grantIds: readonly string[] }) {
    const rows = store.listReporters(this.dependencies.db.read, wanted).toReversed();
    return new Map(rows.map((row) => [row.grantId, row]));
  }

  /**
   * @param reference id, instance id, or host name (case-insensitive)
   * @throws DomainError `client.not_found`, `client.ambiguous`
   */
  find(organizationId: string, reference: string): ClientView {
    const { read } = this.dependencies.db;
    const inForce = this.inForce(organizationId);
    const known = store.findReport(read, { organizationId, id: reference.toLowerCase() }, inForce);
    if (known) return this.viewOf(known);
    const limit = REFERENCE_MATCHES_MAX;
    const named = store.findNamed(read, { organizationId, name: reference }, { inForce, limit });
    const [row, ...others] = named;
    if (!row) throw clientNotFound(reference);
    if (others.length > 0) throw clientAmbiguous(named.map(({ id }) => id));
    return this.viewOf(row);
  }

  /**
   * @param id in any letter case
   * @throws DomainError `client.not_found`
   */
  byId(organizationId: string, id: string): ClientView {
    const row = store.findReport(
      this.dependencies.db.read,
      { organizationId, id: id.toLowerCase() },
      this.inForce(organizationId),
    );
    if (!row) throw clientNotFound(id);
    return this.viewOf(row);
  }

  /** Like `byId`, for a client of one user. @throws DomainError `client.not_found`, also for a client of another user */
  ownById(organizationId: string, { id, userId }: { id: string; userId: string }): ClientView {
    const client = this.byId(organizationId, id);
    if (client.userId !== userId) throw clientNotFound(id);
    return client;
  }

  /** @returns the user's other clients whose logins were approved from the same browser sign-in */
  companions(client: ClientView): { id: string; hostname: string | null }[] {
    return store.listCompanions(this.dependencies.db.read, client);
  }

  /** See `countsInSteps`. */
  counts(organizationId: string): Readonly<Record<Health, number>> {
    return runSynchronously(this.countsInSteps(organizationId));
  }

  /** @returns the number of clients per health */
  *countsInSteps(organizationId: string): Steps<Readonly<Record<Health, number>>> {
    const { onNewest: _, ...counts } = yield* this.fleetInSteps(organizationId);
    return counts;
  }

  /** @returns the number of clients per health, and of those that report the current revision */
  *fleetInSteps(organizationId: string): Steps<store.FleetCounts> {
    const { read } = this.dependencies.db;
    const countIn = store.clientCounter(read, { organizationId, inForce: this.inForce(organizationId) });
    const counts = { current: 0, outdated: 0, attention: 0, onNewest: 0 };
    yield* overSpans({ placeAhead: store.reportPlaces(read, organizationId) }, (span) => {
      const counted = countIn(span);
      for (const kind of [...HEALTHS, "onNewest"] as const) counts[kind] += counted[kind];
      return true;
    });
    return counts;
  }

  /**
   * @param by kinds of counts, separated by commas; undefined for all
   * @throws DomainError `client.invalid`
   */
  *countedBy(organizationId: string, by: string | undefined): Steps<ClientCounted> {
    const kinds = readCountKinds(by);
    return {
      health: kinds.has("health") ? yield* this.countsInSteps(organizationId) : undefined,
      versions: kinds.has("harness_version") ? yield* this.versionsInSteps(organizationId) : undefined,
    };
  }

  /** @returns the number of clients by installed harness and version */
  *versionsInSteps(organizationId: string): Steps<HarnessVersions> {
    const { read } = this.dependencies.db;
    const listsIn = store.versionLists(read, organizationId);
    const counts = new Map<string | null, number>();
    yield* overSpans({ placeAhead: store.reportPlaces(read, organizationId) }, (span) => {
      for (const { versions, clients } of listsIn(span))
        counts.set(versions, (counts.get(versions) ?? 0) + clients);
      return true;
    });
    return harnessVersionsIn(counts);
  }
}
