// SQL of the rows of groups. members-store.ts has their members; the folder search has searches.
import { and, eq, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import type { GroupRow } from "../model.ts";
import { scimGroups } from "../tables.ts";

/** A group as it is stored. */
export interface StoredGroup extends GroupRow {
  organizationId: string;
  displayNameKey: string;
}

/** The columns of a group as it is shown. */
export const GROUP_ROW = {
  id: scimGroups.id,
  externalId: scimGroups.externalId,
  displayName: scimGroups.displayName,
  memberCount: scimGroups.memberCount,
  version: scimGroups.version,
  createdAtMs: scimGroups.createdAtMs,
  updatedAtMs: scimGroups.updatedAtMs,
};

const named = sql.placeholder;
const isTheGroup = () =>
  and(eq(scimGroups.id, named("id")), eq(scimGroups.organizationId, named("organizationId")));

const selectOne = statement((connection) =>
  connection.select(GROUP_ROW).from(scimGroups).where(isTheGroup()).limit(1).prepare(),
);

/** @returns the group with an id, which is compared exactly */
export const findGroup = (
  connection: Connection,
  group: { organizationId: string; id: string },
): GroupRow | undefined => selectOne(connection).get(group);

const insertOne = statement((connection) =>
  connection
    .insert(scimGroups)
    .values({
      id: named("id"),
      organizationId: named("organizationId"),
      externalId: named("externalId"),
      displayName: named("displayName"),
      displayNameKey: named("displayNameKey"),
      memberCount: named("memberCount"),
      version: named("version"),
      createdAtMs: named("createdAtMs"),
      updatedAtMs: named("updatedAtMs"),
    })
    .prepare(),
);

/** @throws SQLiteError for a name or an external id that another group has */
export function insertGroup(tx: Tx, group: StoredGroup): void {
  insertOne(tx).run({ ...group });
}

const updateOne = statement((connection) =>
  connection
    .update(scimGroups)
    .set({
      externalId: sql`${named("externalId")}`,
      displayName: sql`${named("displayName")}`,
      displayNameKey: sql`${named("displayNameKey")}`,
      memberCount: sql`${named("memberCount")}`,
      version: sql`${named("version")}`,
      updatedAtMs: sql`${named("updatedAtMs")}`,
    })
    .where(isTheGroup())
    .prepare(),
);

/** @throws SQLiteError for a name or an external id that another group has */
export function updateGroup(tx: Tx, group: StoredGroup): void {
  updateOne(tx).run({ ...group });
}

const deleteOne = statement((connection) => connection.delete(scimGroups).where(isTheGroup()).prepare());

/** Deletes its memberships as well. */
export function deleteGroup(tx: Tx, group: { organizationId: string; id: string }): void {
  deleteOne(tx).run(group);
}
