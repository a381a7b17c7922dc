// Provisioning by identity providers (SCIM 2.0): joins the files of the area.

import type { Db } from "../../platform/database/database.ts";
import type { OpenSnapshot } from "../../platform/database/snapshot.ts";
import type { Secret } from "../../platform/secret.ts";
import type { UserGroups } from "../shared/user-groups.ts";
import { createBulk } from "./bulk/bulk.ts";
import type { ScimDependencies } from "./dependencies.ts";
import { createDiscovery } from "./discovery/discovery.ts";
import { GroupDirectory } from "./groups/group-directory.ts";
import * as store from "./groups/group-members-store.ts";
import { GroupStreams } from "./groups/group-streams.ts";
import { ScimGroups } from "./groups/groups.ts";
import { createRoles } from "./roles/roles.ts";
import { ScimSearch } from "./search/search.ts";
import { Refusals } from "./status/refusals.ts";
import { createScimStatus } from "./status/status.ts";
import { ScimTokens, type ScimTokensDependencies } from "./tokens/tokens.ts";
import { ScimUsers } from "./users/users.ts";

export type { GroupsChanged } from "./dependencies.ts";
export { groupNamesOf } from "./groups/members-store.ts";
export type { ScimSettings } from "./model.ts";
export { hasAny as hasHadToken } from "./tokens/tokens-store.ts";
export { accountByExternalId, hasExternalId } from "./users/users-store.ts";

/** Number of members that one step reads. */
const STEP_MEMBERS = 1_000;

/** @returns the current memberships of a database */
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

export interface ScimOptions extends ScimDependencies, Pick<ScimTokensDependencies, "idempotency"> {
  openSnapshot: OpenSnapshot;
  /** the configured token */
  configuredToken: Secret | undefined;
  /** id of the organization, undefined before the first start */
  organization(): string | undefined;
}

export type Scim = ReturnType<typeof createScim>;

/** @returns the operations of the area; created once, in domain.ts */
export function createScim({ configuredToken, organization, ...dependencies }: ScimOptions) {
  const { db, settings } = dependencies;
  const { baseUrl } = settings;
  const roles = createRoles(dependencies);
  const streams = new GroupStreams(dependencies.openSnapshot);
  const groups = new ScimGroups({ ...dependencies, roles, streams });
  const users = new ScimUsers({ ...dependencies, leaveAll: (tx, userId) => groups.leaveAll(tx, userId) });
  const tokens = new ScimTokens({ ...dependencies, organization, configured: configuredToken });
  const refusals = new Refusals(dependencies);
  return {
    settings,
    users,
    groups,
    roles,
    tokens,
    refusals,
    search: new ScimSearch({ ...dependencies, streams }),
    bulk: createBulk({ users, groups, baseUrl }),
    discovery: createDiscovery(settings),
    directory: new GroupDirectory(db),
    /** See status.ts. */
    status: createScimStatus({
      db,
      tokens,
      refusals,
      countCannotSignIn: (id) => dependencies.accounts.countCannotSignIn(id),
      mappingWarnings: (id) => roles.warnings(id),
    }),
  };
}
