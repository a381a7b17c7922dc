// SQL of the rows of users and of their e-mails. members-store.ts has their groups; the folder search has searches.
import { and, eq, isNotNull, ne, type SQL, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { locationOf } from "../messages/messages.ts";
import type { Named, UserRow } from "../model.ts";
import { scimGroupMembers, scimGroups, scimUserEmails, scimUserRevisions, scimUsers } from "../tables.ts";
import { ENTERPRISE_USER } from "../wire.ts";
import type { EmailColumns, UserColumns } from "./user-columns.ts";

/** One row and the organization it must belong to. */
export type UserId = { organizationId: string; id: string };

const ROW = {
  sequence: scimUsers.sequence,
  id: scimUsers.accountId,
  version: scimUserRevisions.version,
  createdAtMs: scimUsers.createdAtMs,
  updatedAtMs: scimUserRevisions.updatedAtMs,
  doc: scimUsers.doc,
};

const named = sql.placeholder;
const isTheUser = () =>
  and(eq(scimUsers.accountId, named("id")), eq(scimUsers.organizationId, named("organizationId")));

const selectOne = statement((connection) =>
  connection
    .select(ROW)
    .from(scimUsers)
    .innerJoin(scimUserRevisions, eq(scimUserRevisions.sequence, scimUsers.sequence))
    .where(isTheUser())
    .limit(1)
    .prepare(),
);

/** @returns the user with an id, which is compared exactly */
export const findUser = (connection: Connection, user: UserId): UserRow | undefined =>
  selectOne(connection).get(user);

const selectOther = (connection: Connection, same: SQL) =>
  connection
    .select({ id: scimUsers.accountId })
    .from(scimUsers)
    .where(
      and(eq(scimUsers.organizationId, named("organizationId")), same, ne(scimUsers.accountId, named("id"))),
    )
    .limit(1)
    .prepare();
const selectByUserName = statement((connection) =>
  selectOther(connection, eq(scimUsers.userNameKey, named("userNameKey"))),
);
const selectByExternalId = statement((connection) =>
  selectOther(connection, sql`${scimUsers.externalId} = ${named("externalId")}`),
);

/** @returns whether another user has the name */
export const isUserNameTaken = (connection: Connection, asked: UserId & { userNameKey: string }): boolean =>
  selectByUserName(connection).get(asked) !== undefined;

/** @returns whether another user has the provider's id */
export const isExternalIdTaken = (connection: Connection, asked: UserId & { externalId: string }): boolean =>
  selectByExternalId(connection).get(asked) !== undefined;

/** @returns the id of the account to which a provider gave this id; compared exactly */
export const accountByExternalId = (
  connection: Connection,
  organizationId: string,
  externalId: string,
): string | undefined => selectByExternalId(connection).get({ organizationId, externalId, id: "" })?.id;

/** @returns whether a provider gave the account an id */
export const hasExternalId = (connection: Connection, organizationId: string, accountId: string): boolean =>
  connection
    .select({ id: scimUsers.accountId })
    .from(scimUsers)
    .where(
      and(
        eq(scimUsers.organizationId, organizationId),
        eq(scimUsers.accountId, accountId),
        isNotNull(scimUsers.externalId),
      ),
    )
    .get() !== undefined;

const insertRow = statement((connection) =>
  connection
    .insert(scimUsers)
    .values({
      accountId: named("id"),
      organizationId: named("organizationId"),
      externalId: named("externalId"),
      userName: named("userName"),
      userNameKey: named("userNameKey"),
      displayNameKey: named("displayNameKey"),
      familyNameKey: named("familyNameKey"),
      givenNameKey: named("givenNameKey"),
      active: named("active"),
      display: named("display"),
      label: named("label"),
      createdAtMs: named("createdAtMs"),
      doc: named("doc"),
      docKey: named("docKey"),
    })
    .returning({ sequence: scimUsers.sequence })
    .prepare(),
);

const updateRow = statement((connection) =>
  connection
    .update(scimUsers)
    .set({
      externalId: sql`${named("externalId")}`,
      userName: sql`${named("userName")}`,
      userNameKey: sql`${named("userNameKey")}`,
      displayNameKey: sql`${named("displayNameKey")}`,
      familyNameKey: sql`${named("familyNameKey")}`,
      givenNameKey: sql`${named("givenNameKey")}`,
      active: sql`${named("active")}`,
      display: sql`${named("display")}`,
      label: sql`${named("label")}`,
      doc: sql`${named("doc")}`,
      docKey: sql`${named("docKey")}`,
    })
    .where(isTheUser())
    .prepare(),
);

const insertRevision = statement((connection) =>
  connection
    .insert(scimUserRevisions)
    .values({
      sequence: named("sequence"),
      organizationId: named("organizationId"),
      version: named("version"),
      updatedAtMs: named("updatedAtMs"),
    })
    .prepare(),
);

const updateRevision = statement((connection) =>
  connection
    .update(scimUserRevisions)
    .set({ version: sql`${named("version")}`, updatedAtMs: sql`${named("updatedAtMs")}` })
    .where(eq(scimUserRevisions.sequence, named("sequence")))
    .prepare(),
);

/** @returns the sequence of the new user */
export function insertUser(
  tx: Tx,
  user: UserId & Omit<UserRow, "doc" | "sequence">,
  columns: UserColumns,
): number {
  const inserted = insertRow(tx).get({ ...user, ...columns });
  insertRevision(tx).run({ ...user, ...inserted });
  return inserted.sequence;
}

export function updateUser(tx: Tx, user: UserId & Omit<UserRow, "doc">, columns: UserColumns): void {
  updateRow(tx).run({ ...user, ...columns });
  updateRevision(tx).run({ ...user });
}

const deleteRow = statement((connection) => connection.delete(scimUsers).where(isTheUser()).prepare());

/** Deletes its revision and its e-mails as well. */
export function deleteUser(tx: Tx, user: UserId): void {
  deleteRow(tx).run({ ...user });
}

const deleteEmails = statement((connection) =>
  connection
    .delete(scimUserEmails)
    .where(eq(scimUserEmails.userId, named("id")))
    .prepare(),
);
const insertEmail = statement((connection) =>
  connection
    .insert(scimUserEmails)
    .values({
      userId: named("id"),
      position: named("position"),
      organizationId: named("organizationId"),
      valueKey: named("valueKey"),
      typeKey: named("typeKey"),
      isPrimary: named("isPrimary"),
    })
    .prepare(),
);

/** Replaces the user's e-mails. */
export function replaceEmails(tx: Tx, user: UserId, emails: readonly EmailColumns[]): void {
  deleteEmails(tx).run({ id: user.id });
  for (const [position, email] of emails.entries()) insertEmail(tx).run({ ...user, ...email, position });
}

const groupOfUser = sql`json_object('value', ${scimGroups.id}, '$ref', ${named("groupsUrl")} || ${scimGroups.id},
  'display', ${scimGroups.displayName}, 'type', 'direct')`;
/** In this order: SQLite would read every membership. */
const groupsOfUser = sql<string>`(
  SELECT json_group_array(${groupOfUser} ORDER BY ${scimGroups.displayName}, ${scimGroups.id})
  FROM ${scimGroupMembers} CROSS JOIN ${scimGroups}
  WHERE ${scimGroupMembers.userSequence} = value AND ${scimGroups.sequence} = ${scimGroupMembers.groupSequence})`;

const selectGroups = statement((connection) =>
  connection
    .select({ groups: groupsOfUser })
    .from(sql`json_each(${named("sequences")})`)
    .orderBy(sql`key`)
    .prepare(),
);

/** @returns for each of these users the JSON list of the user's groups, in the order of their names */
export const shownGroups = (
  connection: Connection,
  { sequences, baseUrl }: { sequences: readonly number[]; baseUrl: string },
): readonly string[] =>
  selectGroups(connection)
    .all({ sequences: JSON.stringify(sequences), groupsUrl: locationOf("Group", "", baseUrl) })
    .map(({ groups }) => groups);

/** A shown part of another resource. */
export type NamedOfUser = Named & { userId: string };

const MANAGER_PATH = sql.raw(`'$."${ENTERPRISE_USER}".manager.value'`);

/** In this order: SQLite would read every user of the organization. */
const selectManagers = statement((connection) =>
  connection
    .select({
      userId: sql<string>`value`,
      id: sql<string>`manager.account_id`,
      display: sql<string | null>`manager.display`,
    })
    .from(sql`json_each(${named("ids")})`)
    .crossJoin(sql`scim_users AS managed`)
    .crossJoin(sql`scim_users AS manager`)
    .where(
      sql`managed.account_id = value AND manager.organization_id = managed.organization_id
        AND manager.account_id = json_extract(managed.doc, ${MANAGER_PATH})`,
    )
    .prepare(),
);

/** @returns the managers of several users in one query, if they are users of the same organization */
export const managersOfUsers = (connection: Connection, ids: readonly string[]): readonly NamedOfUser[] =>
  selectManagers(connection).all({ ids: JSON.stringify(ids) });
