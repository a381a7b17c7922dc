// The users that the filters of a list offer: the query, and the limits.
import type { Problem } from "../../platform/errors.ts";
import { readSearchText, readUuid } from "./page.ts";

/** Maximum number of users in one response of the API. */
export const FACET_USERS_MAX = 10;

export interface FacetQuery {
  /** part of an address, in any case */
  userQ?: string | undefined;
  /** comes first, even if `userQ` does not match */
  selectedUserId?: string | undefined;
}

/** Reports all problems together. */
export function readFacetQuery({ userQ, selectedUserId }: FacetQuery, problems: Problem[]) {
  const searching: Problem[] = [];
  const q = readSearchText(userQ, searching);
  problems.push(...searching.map(({ detail }) => ({ pointer: "/user_q", detail: `user_${detail}` })));
  return { q, selectedId: readUuid(selectedUserId, "selected_user_id", problems) };
}
