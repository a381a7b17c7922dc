// Reads users: pages, one user, counts. user-options.ts finds users for selection; users.ts creates and changes them.
import type { Problem } from "../../../platform/errors.ts";
import { runSynchronously, type Steps } from "../../../platform/steps.ts";
import type { UserSet } from "../../shared/ordered-rows-store.ts";
import { offsetOf, type Page, type PageQuery, readPageQuery } from "../../shared/page.ts";
import { type OrderedRows, overSpans, pageInSteps, RowTotals } from "../../shared/page-steps.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import { refuseInvalid, userNotFound } from "../errors.ts";
import { emailKey, PROVISIONING_SOURCES, ROLES, readChoice, USER_STATUSES, type User } from "../model.ts";
import { usersWith } from "../search-store.ts";
import * as store from "../store.ts";
import {
  addressOrder,
  hasAddressLike,
  idsWithAddress,
  type UserCondition,
} from "../users/conditions-store.ts";
import { usersWithAddresses } from "./addresses-store.ts";
import * as lists from "./user-list-store.ts";
import { UserOptions } from "./user-options.ts";

export interface UserQuery extends PageQuery {
  role?: string | undefined;
  status?: string | undefined;
  provisioningSource?: string | undefined;
  /** only users without a workstation */
  hasWorkstation?: false | undefined;
  /** conditions of other areas; all must hold */
  sets?: readonly UserSet[] | undefined;
  /** problems of filters that other areas read; reported with all others */
  problems?: readonly Problem[] | undefined;
  /** the last user of the previous page; unlike a page number, it does not require scanning the earlier pages */
  after?: Pick<User, "id" | "email"> | undefined;
}

/** Number of addresses that one step looks up. */
const STEP_ADDRESSES = 500;

/** Users for administrators and commands. Operations in steps let the event loop turn. */
export class UserDirectory extends UserOptions {
  readonly #totals: RowTotals;
  #counts: { organizationId: string; revision: string; counts: readonly lists.UserCount[] } | undefined;

  constructor(dependencies: IdentityDependencies) {
    super(dependencies);
    this.#totals = new RowTotals(dependencies.db, "user_rows");
  }

  /** See `listInSteps`. */
  list(organizationId: string, query: UserQuery): Page<User> {
    return runSynchronously(this.listInSteps(organizationId, query));
  }

  /**
   * @returns users of the organization, including removed ones, by folded address; `q` searches address and subject
   * @throws DomainError `identity.invalid`
   */
  *listInSteps(
    organizationId: string,
    { after, problems: found = [], ...query }: UserQuery,
  ): Steps<Page<User>> {
    const problems = [...found];
    const request = readPageQuery(query, problems);
    const { hasWorkstation, sets } = query;
    const others = { hasWorkstation, sets, q: request.q && emailKey(request.q) };
    const filter = { ...readUserFilter(query, problems), ...others };
    refuseInvalid(problems);
    const { page, perPage } = request;
    const window = {
      after: after && { first: emailKey(after.email), second: after.id },
      offset: after ? 0 : offsetOf(request),
      limit: perPage,
    };
    const selection = lists.usersLike(filter);
    const few = yield* this.#candidates(filter);
    if (few)
      return { page, perPage, ...(yield* this.pageAmong(organizationId, few, { ...window, selection })) };
    const rows = lists.usersInOrder(this.dependencies.db.read, organizationId, selection);
    const known = query.known ?? (yield* this.#knownTotal(organizationId, filter, rows));
    return { page, perPage, ...(yield* pageInSteps(rows, { ...window, known })) };
  }

  /** @returns ids of a few candidates that include all matching users; undefined if every user must be read */
  *#candidates({ q, sets }: lists.UserFilter): Steps<readonly string[] | undefined> {
    const ofSet = sets?.find(({ ids }) => ids)?.ids;
    return ofSet || q === undefined ? ofSet : yield* usersWith(this.dependencies.db.read, q);
  }

  *#knownTotal(
    organizationId: string,
    filter: lists.UserFilter,
    rows: OrderedRows<User>,
  ): Steps<number | undefined> {
    if (lists.isSetOnly(filter)) return filter.sets?.[0]?.total;
    if (!rows.isComplete || filter.hasWorkstation !== undefined) return undefined;
    return yield* this.#totals.of(organizationId, rows);
  }

  /** @returns the ids of at most `limit` users without a workstation */
  withoutWorkstation(organizationId: string, limit: number): string[] {
    return lists.idsWithoutWorkstation(this.dependencies.db.read, organizationId, limit);
  }

  /** @throws DomainError `user.not_found` */
  show(organizationId: string, id: string): User {
    const user = store.findUser(this.dependencies.db.read, { organizationId, id });
    if (!user) throw userNotFound(id);
    return user;
  }

  /** @returns the address of the user in any status; undefined if there is none, including after an erasure */
  addressOf(organizationId: string, id: string): string | undefined {
    return store.findUser(this.dependencies.db.read, { organizationId, id })?.email;
  }

  /**
   * @param reference an id or an address, in any case
   * @returns the user in any status
   * @throws DomainError `user.not_found`
   */
  find(organizationId: string, reference: string): User {
    const user = reference.includes("@")
      ? this.findByAddress(organizationId, reference)
      : store.findUser(this.dependencies.db.read, { organizationId, id: reference.toLowerCase() });
    if (!user) throw userNotFound(reference);
    return user;
  }

  /** @returns the user with this address, in any case and any status; undefined if it never belonged to a user */
  findByAddress(organizationId: string, email: string): User | undefined {
    const { read } = this.dependencies.db;
    const user = store.findUserByEmail(read, { organizationId, emailKey: emailKey(email) });
    return user && this.show(organizationId, user.id);
  }

  /**
   * @param addresses in any case, each once
   * @returns the user with each address, in any status; undefined if it never belonged to a user
   */
  *withAddresses(organizationId: string, addresses: readonly string[]): Steps<(User | undefined)[]> {
    const found: (User | undefined)[] = [];
    for (let at = 0; at < addresses.length; at += STEP_ADDRESSES) {
      const keys = addresses.slice(at, at + STEP_ADDRESSES).map(emailKey);
      const rows = usersWithAddresses(this.dependencies.db.read, organizationId, keys);
      const byKey = new Map(rows.toReversed().map(({ emailKey: key, ...user }) => [key, user]));
      found.push(...keys.map((key) => byKey.get(key)));
      yield;
    }
    return found;
  }

  /** @returns the number of active users */
  *activeTotal(organizationId: string): Steps<number> {
    const counts = yield* this.countsInSteps(organizationId);
    return counts.reduce((sum, { status, total }) => sum + (status === "active" ? total : 0), 0);
  }

  /** @returns the number of users by source and status, which is counted again only after a user or a user's access changed */
  *countsInSteps(organizationId: string): Steps<readonly lists.UserCount[]> {
    const { db } = this.dependencies;
    const revision = `${db.revision("user_rows")} ${db.revision("access")}`;
    if (this.#counts?.revision === revision && this.#counts.organizationId === organizationId)
      return this.#counts.counts;
    const { placeAhead, countIn } = lists.userCounts(db.read, organizationId);
    const counts = new Map<string, lists.UserCount>();
    yield* overSpans({ placeAhead }, (span) => {
      for (const { total, ...kind } of countIn(span)) {
        const key = `${kind.provisioningSource} ${kind.status}`;
        counts.set(key, { ...kind, total: total + (counts.get(key)?.total ?? 0) });
      }
      return true;
    });
    this.#counts = { organizationId, revision, counts: [...counts.values()] };
    return this.#counts.counts;
  }

  /** @returns a condition for the users whose address contains the text in any case, for statements of other areas */
  hasAddressLike(text: string): UserCondition {
    return hasAddressLike(emailKey(text));
  }

  /**
   * @param wanted `q` is part of an address, in any case
   * @returns ids of users in any status
   */
  *idsWithAddressLike(organizationId: string, { q, limit }: { q: string; limit: number }): Steps<string[]> {
    return yield* idsWithAddress(this.dependencies.db.read, organizationId, { text: emailKey(q), limit });
  }

  /** The order of another area's rows by the address of their user. */
  readonly byAddress = addressOrder;
}

const readUserFilter = (query: UserQuery, problems: Problem[]): lists.UserFilter => ({
  role: readChoice(query.role, { allowed: ROLES, pointer: "/role", problems }),
  status: readChoice(query.status, { allowed: USER_STATUSES, pointer: "/status", problems }),
  provisioningSource: readChoice(query.provisioningSource, {
    allowed: PROVISIONING_SOURCES,
    pointer: "/provisioning_source",
    problems,
  }),
});
