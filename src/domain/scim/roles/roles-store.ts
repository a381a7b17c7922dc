// SQL of the role mapping: the groups it names, their members, and the mapping that the stored roles follow.
import { and, asc, eq, gt, inArray, type SQL, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, named } from "../../../platform/database/drizzle.ts";
import { asList } from "../groups/members-store.ts";
import { IS_OWN_REVISION } from "../organization-store.ts";
import { scimGroupMembers, scimGroups, scimState, scimUserRevisions, scimUsers } from "../tables.ts";

/** The parts of a group that the mapping uses. */
export interface MappedGroup {
  sequence: number;
  displayName: string;
  displayNameKey: string;
  externalId: string | null;
}

const selectMapped = (is: SQL) =>
  statement((connection) =>
    connection
      .select({
        sequence: scimGroups.sequence,
        displayName: scimGroups.displayName,
        displayNameKey: scimGroups.displayNameKey,
        externalId: scimGroups.externalId,
      })
      .from(scimGroups)
      .where(and(equalAll(scimGroups, "organizationId"), is))
      .prepare(),
  );

// Uses two statements, because with both conditions in one, SQLite would read all groups.
const selectOfNames = selectMapped(inArray(scimGroups.displayNameKey, asList("keys")));
const selectOfExternalIds = selectMapped(inArray(scimGroups.externalId, asList("keys")));

/** @returns the groups with these folded names or external ids; one that matches twice is included twice */
export function groupsOf(
  connection: Connection,
  query: { organizationId: string; nameKeys: readonly string[]; externalIds: readonly string[] },
): readonly MappedGroup[] {
  const { organizationId } = query;
  return [
    ...selectOfNames(connection).all({ organizationId, keys: JSON.stringify(query.nameKeys) }),
    ...selectOfExternalIds(connection).all({ organizationId, keys: JSON.stringify(query.externalIds) }),
  ];
}

const selectInGroups = statement((connection) =>
  connection
    .selectDistinct({ id: sql<string>`value` })
    .from(sql`json_each(${named("userIds")})`)
    .crossJoin(scimUsers)
    .crossJoin(scimGroupMembers)
    .where(
      and(
        eq(scimUsers.accountId, sql`value`),
        eq(scimGroupMembers.userSequence, scimUsers.sequence),
        inArray(scimGroupMembers.groupSequence, asList("groups")),
      ),
    )
    .prepare(),
);

/** @returns the users of the list who are in at least one of the groups */
export const usersInAny = (
  connection: Connection,
  query: { userIds: readonly string[]; groups: readonly MappedGroup[] },
): readonly string[] =>
  selectInGroups(connection)
    .all({
      userIds: JSON.stringify(query.userIds),
      groups: JSON.stringify(query.groups.map(({ sequence }) => sequence)),
    })
    .map(({ id }) => id);

const selectUserIds = statement((connection) =>
  connection
    .select({ id: scimUsers.accountId })
    .from(scimUsers)
    // Stores the organization in fewer pages. The cross join keeps the order, which avoids reading and sorting all rows.
    .crossJoin(scimUserRevisions)
    .where(
      and(
        gt(scimUsers.accountId, named("after")),
        eq(scimUserRevisions.sequence, scimUsers.sequence),
        IS_OWN_REVISION,
      ),
    )
    .orderBy(asc(scimUsers.accountId))
    .limit(sql.placeholder("limit"))
    .prepare(),
);

/** @returns ids of provisioned users after the given id, in ascending order */
export const userIdSlice = (
  connection: Connection,
  query: { organizationId: string; after: string; limit: number },
): readonly string[] =>
  selectUserIds(connection)
    .all(query)
    .map(({ id }) => id);

/** @returns the digest of the mapping that the stored roles follow; undefined before the first start */
export const mappingDigest = (connection: Connection, organizationId: string): string | undefined =>
  connection
    .select({ digest: scimState.roleMappingDigest })
    .from(scimState)
    .where(eq(scimState.organizationId, organizationId))
    .limit(1)
    .get()?.digest;

export function setMappingDigest(tx: Tx, state: { organizationId: string; digest: string }): void {
  const { organizationId, digest: roleMappingDigest } = state;
  tx.insert(scimState)
    .values({ organizationId, roleMappingDigest })
    .onConflictDoUpdate({ target: scimState.organizationId, set: { roleMappingDigest } })
    .run();
}
