// Finds users for selection by part of the address, among few candidates if the index of addresses gives them.
import type { Problem } from "../../../platform/errors.ts";
import type { Steps } from "../../../platform/steps.ts";
import { FACET_USERS_MAX } from "../../shared/facet-users.ts";
import { readSearchText } from "../../shared/page.ts";
import { type PageWindow, type Place, pageInSteps, placesOf } from "../../shared/page-steps.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import { refuseInvalid } from "../errors.ts";
import { emailKey, SELECTED_USERS_MAX, USER_OPTIONS_MAX, USER_SEARCH_MAX, type User } from "../model.ts";
import { usersWith } from "../search-store.ts";
import type { UserCondition } from "../users/conditions-store.ts";
import * as lists from "./user-list-store.ts";

/** Number of users that one step reads; takes a few milliseconds if each user's workstations are needed. */
const USERS_AT_ONCE = 200;

export interface UserSearch {
  q?: string | undefined;
  selectedUserIds?: readonly string[] | undefined;
}

export interface WantedUsers {
  isAmong: UserCondition;
  q: string | undefined;
  selectedId: string | undefined;
}

export interface WantedColleagues {
  q: string | undefined;
  /** the user to leave out */
  of: string;
  limit: number;
}

/** Users to choose from. */
export class UserOptions {
  constructor(protected readonly dependencies: IdentityDependencies) {}

  /** @returns at most USER_OPTIONS_MAX users who are not removed, by folded address */
  *options(organizationId: string): Steps<User[]> {
    const wanted = { q: undefined, limit: USER_OPTIONS_MAX };
    return yield* this.#firstOf(organizationId, lists.presentUsers, wanted);
  }

  /**
   * @returns at most USER_SEARCH_MAX users: the selected ones who are not removed, then active ones whose address contains `q`,
   * both by folded address
   * @throws DomainError `identity.invalid`
   */
  *searchOptions(organizationId: string, { q, selectedUserIds = [] }: UserSearch): Steps<User[]> {
    const problems: Problem[] = [];
    const text = readSearchText(q, problems);
    if (selectedUserIds.length > SELECTED_USERS_MAX) {
      const detail = `at most ${SELECTED_USERS_MAX} users can be selected`;
      problems.push({ pointer: "/selected_user_ids", detail });
    }
    refuseInvalid(problems);
    const selection = { ids: selectedUserIds, limit: USER_SEARCH_MAX };
    const selected = lists.listSelected(this.dependencies.db.read, organizationId, selection);
    const search = { q: text && emailKey(text), except: selectedUserIds };
    const wanted = { q: search.q, limit: USER_SEARCH_MAX - selected.length };
    const others = yield* this.#firstOf(organizationId, lists.activeUsersExcept(search), wanted);
    return [...selected, ...others];
  }

  /**
   * @param wanted `q` is part of an address in any case
   * @returns active users other than that one, by folded address
   */
  *colleagues(organizationId: string, { q, of, limit }: WantedColleagues): Steps<User[]> {
    const search = { q: q === undefined ? undefined : emailKey(q), except: [of] };
    const wanted = { q: search.q, limit };
    return yield* this.#firstOf(organizationId, lists.activeUsersExcept(search), wanted);
  }

  /**
   * Finds up to FACET_USERS_MAX users among those that another area's condition selects, in any status.
   * @param wanted `q` is part of an address in any case; the user of `selectedId` comes first, even if `q` does not match
   * @returns by folded address
   */
  *commonNames(organizationId: string, { isAmong, q, selectedId }: WantedUsers): Steps<User[]> {
    const row = selectedId === undefined ? undefined : { organizationId, id: selectedId };
    const selected = row && lists.findAmong(this.dependencies.db.read, row, isAmong);
    const search = { isAmong, q: q === undefined ? undefined : emailKey(q), except: selected?.id };
    const wanted = { q: search.q, limit: FACET_USERS_MAX - (selected ? 1 : 0) };
    const others = yield* this.#firstOf(organizationId, lists.usersAmong(search), wanted);
    return [...(selected ? [selected] : []), ...others];
  }

  /** @param wanted `q` is folded, and part of every selected user's address */
  *#firstOf(
    organizationId: string,
    selection: lists.UserSelection,
    { q, limit }: { q: string | undefined; limit: number },
  ): Steps<User[]> {
    if (limit === 0) return [];
    const { read } = this.dependencies.db;
    const few = q === undefined ? undefined : yield* usersWith(read, q);
    if (few) return (yield* this.pageAmong(organizationId, few, { selection, offset: 0, limit })).items;
    const rows = lists.usersInOrder(read, organizationId, selection);
    return (yield* pageInSteps(rows, { offset: 0, limit, known: 0 })).items;
  }

  /**
   * Reads only a few users, wherever they are in the order.
   * @returns a page of the selected ones
   */
  protected *pageAmong(
    organizationId: string,
    few: readonly string[],
    { selection, ...window }: PageWindow & { selection: lists.UserSelection },
  ): Steps<{ items: User[]; total: number }> {
    const { read } = this.dependencies.db;
    const places: Place[] = [];
    for (let at = 0; at < few.length; at += USERS_AT_ONCE) {
      const ids = few.slice(at, at + USERS_AT_ONCE);
      places.push(...lists.placesAmong(read, organizationId, { ids, selection }));
      yield;
    }
    const ids = placesOf(places, { ...window, isDescending: false });
    return { items: lists.usersOf(read, organizationId, ids), total: places.length };
  }
}
