// Memberships by the ids of users and groups, for areas that decide by them (shared/user-groups.ts).
import type { Db } from "../../../platform/database/database.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import * as store from "./group-members-store.ts";

/** Members that one step reads. */
const STEP_MEMBERS = 1_000;

/** @returns the memberships of a database, as of each question */
export const userGroupsIn = (db: Db): UserGroups => ({
  of: (userId) => store.groupIdsOf(db.read, userId),
  has: (organizationId, groupId) => store.hasGroup(db.read, organizationId, groupId),
  *members(groupId) {
    const ids: string[] = [];
    for (let after: number | undefined = 0; after !== undefined; yield) {
      const slice = store.memberIds(db.read, { groupId, after, limit: STEP_MEMBERS });
      ids.push(...slice.map(({ id }) => id));
      after = slice.length < STEP_MEMBERS ? undefined : slice.at(-1)?.sequence;
    }
    return ids;
  },
});
