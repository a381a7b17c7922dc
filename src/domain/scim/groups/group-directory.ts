// Provisioned groups for administrators and commands: pages of groups, one group, its members. groups.ts serves identity providers.
import type { Db } from "../../../platform/database/database.ts";
import { DomainError, type Problem } from "../../../platform/errors.ts";
import { quoted } from "../../../platform/text/problem-list.ts";
import { USER_CANDIDATES_MAX, type UserSet } from "../../shared/ordered-rows-store.ts";
import { offsetOf, type Page, type PageQuery, type PageRequest, readPageQuery } from "../../shared/page.ts";
import type { GroupRow } from "../model.ts";
import { foldCase } from "../schema/values.ts";
import * as store from "./group-directory-store.ts";

export type { MemberView } from "./group-directory-store.ts";

export interface GroupQuery extends PageQuery {
  /** the last group of the previous page, instead of a page number */
  after?: Pick<GroupRow, "displayName"> | undefined;
}

export class GroupDirectory {
  constructor(private readonly db: Db) {}

  /**
   * @returns groups by folded name; `q` searches the name and the external id
   * @throws DomainError `scim_group.invalid`
   */
  list(organizationId: string, { after, ...query }: GroupQuery): Page<GroupRow> {
    const request = readRequest(query);
    const { page, perPage, q } = request;
    const search = q === undefined ? undefined : { text: q, key: foldCase(q) };
    const place = after && foldCase(after.displayName);
    const slice = {
      search,
      after: place,
      offset: after ? 0 : offsetOf(request),
      limit: perPage,
      known: query.known,
    };
    return { page, perPage, ...store.listGroups(this.db.read, organizationId, slice) };
  }

  /**
   * @param reference id, name in any case, or external id; searched in this order
   * @throws DomainError `scim_group.not_found`
   */
  show(organizationId: string, reference: string): GroupRow {
    const key = foldCase(reference.trim());
    const group = store.findGroup(this.db.read, organizationId, { reference, key });
    if (!group) throw groupNotFound(reference);
    return group;
  }

  /** @returns the name of the group; undefined if there is none or its provider removed it */
  nameOf(organizationId: string, id: string): string | undefined {
    const found = store.findGroup(this.db.read, organizationId, { reference: id, key: foldCase(id) });
    return found?.id === id ? found.displayName : undefined;
  }

  /** @returns the groups of a user by folded name */
  groupsOf(userId: string): Pick<GroupRow, "id" | "displayName">[] {
    return store.listGroupsOf(this.db.read, userId);
  }

  /** @param groupId from `show` @returns its members, for a list of users */
  membersAsSet(groupId: string): UserSet {
    const { read } = this.db;
    const total = store.countMembers(read, groupId);
    const ids =
      total <= USER_CANDIDATES_MAX ? store.listMemberIds(read, { groupId, limit: total }) : undefined;
    return { holds: store.hasMember(read, groupId), ids, total };
  }

  /**
   * @param groupId from `show`
   * @returns members in the order in which the users were created, as for the identity provider
   * @throws DomainError `scim_group.invalid`
   */
  members(groupId: string, query: Pick<PageQuery, "page" | "perPage">): Page<store.MemberView> {
    const request = readRequest(query);
    const { page, perPage } = request;
    const slice = { offset: offsetOf(request), limit: perPage };
    return { page, perPage, ...store.listMembers(this.db.read, groupId, slice) };
  }
}

function readRequest(query: PageQuery): PageRequest {
  const problems: Problem[] = [];
  const request = readPageQuery(query, problems);
  if (problems.length === 0) return request;
  const message = problems.map(({ detail }) => detail).join("; ");
  throw new DomainError("invalid", "scim_group.invalid", message, { problems });
}

const groupNotFound = (reference: string): DomainError =>
  new DomainError("not_found", "scim_group.not_found", `no group ${quoted(reference)}`, {
    hint: "see `quartermaster groups list`",
    missing: { kind: "group", name: reference },
  });
