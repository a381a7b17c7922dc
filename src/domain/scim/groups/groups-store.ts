// SQL of the rows of groups. members-store.ts has their members; the folder search has searches.
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, insertAll, updateAll } from "../../../platform/database/drizzle.ts";
import type { GroupRow } from "../model.ts";
import { scimGroups } from "../tables.ts";

export interface StoredGroup extends GroupRow {
  organizationId: string;
  displayNameKey: string;
}

/** The shown columns of a group. */
export const GROUP_ROW = {
  id: scimGroups.id,
  externalId: scimGroups.externalId,
  displayName: scimGroups.displayName,
  memberCount: scimGroups.memberCount,
  version: scimGroups.version,
  createdAtMs: scimGroups.createdAtMs,
  updatedAtMs: scimGroups.updatedAtMs,
};

const isTheGroup = () => equalAll(scimGroups, "id", "organizationId");

const selectOne = statement((connection) =>
  connection.select(GROUP_ROW).from(scimGroups).where(isTheGroup()).limit(1).prepare(),
);

/** @returns the group with an id, which is compared exactly */
export const findGroup = (
  connection: Connection,
  group: { organizationId: string; id: string },
): GroupRow | undefined => selectOne(connection).get(group);

const insertOne = statement((connection) =>
  connection.insert(scimGroups).values(insertAll(scimGroups, "sequence")).prepare(),
);

/** @throws SQLiteError for a name or an external id that another group has */
export function insertGroup(tx: Tx, group: StoredGroup): void {
  insertOne(tx).run({ ...group });
}

const { externalId, displayName, displayNameKey, memberCount, version, updatedAtMs } = scimGroups;

const updateOne = statement((connection) =>
  connection
    .update(scimGroups)
    .set(updateAll({ externalId, displayName, displayNameKey, memberCount, version, updatedAtMs }))
    .where(isTheGroup())
    .prepare(),
);

/** @throws SQLiteError for a name or an external id that another group has */
export function updateGroup(tx: Tx, group: StoredGroup): void {
  updateOne(tx).run({ ...group });
}

const deleteOne = statement((connection) => connection.delete(scimGroups).where(isTheGroup()).prepare());

/** Also deletes its memberships. */
export function deleteGroup(tx: Tx, group: { organizationId: string; id: string }): void {
  deleteOne(tx).run(group);
}
