// SQL of the rows of users and of their e-mails. members-store.ts has their groups; the folder search has searches.
import { and, eq, getTableColumns, isNotNull, ne, type SQL, sql } from "drizzle-orm";
import { type Connection, statement, type Tx } from "../../../platform/database/database.ts";
import { equalAll, insertAll, named, updateAll } from "../../../platform/database/drizzle.ts";
import type { Named, UserRow } from "../model.ts";
import { ORGANIZATION_NUMBER } from "../organization-store.ts";
import {
  scimGroupMembers,
  scimGroups,
  scimOrganizations,
  scimUserEmails,
  scimUserRevisions,
  scimUsers,
} from "../tables.ts";
import { ENTERPRISE_USER } from "../wire.ts";
import type { EmailColumns, UserColumns } from "./user-columns.ts";

/** One row, and the organization that it must belong to. */
export type UserId = { organizationId: string; id: string };

/** The shown columns of a user. */
export const USER_ROW = {
  sequence: scimUsers.sequence,
  id: scimUsers.accountId,
  version: scimUserRevisions.version,
  createdAtMs: scimUsers.createdAtMs,
  updatedAtMs: scimUserRevisions.updatedAtMs,
  doc: scimUsers.doc,
};

const isTheUser = () => and(eq(scimUsers.accountId, named("id")), equalAll(scimUsers, "organizationId"));

const selectUser = (connection: Connection, same: SQL) =>
  connection
    .select(USER_ROW)
    .from(scimUsers)
    .innerJoin(scimUserRevisions, eq(scimUserRevisions.sequence, scimUsers.sequence))
    .where(and(equalAll(scimUsers, "organizationId"), same))
    .limit(1)
    .prepare();
const selectById = statement((connection) => selectUser(connection, eq(scimUsers.accountId, named("id"))));
const selectByName = statement((connection) => selectUser(connection, equalAll(scimUsers, "userNameKey")));
const selectByExternalId = statement((connection) =>
  selectUser(connection, equalAll(scimUsers, "externalId")),
);

/** @returns the user with an id, which is compared exactly */
export const findUser = (connection: Connection, user: UserId): UserRow | undefined =>
  selectById(connection).get(user);

/** @param userNameKey folded */
export const findUserByName = (
  connection: Connection,
  organizationId: string,
  userNameKey: string,
): UserRow | undefined => selectByName(connection).get({ organizationId, userNameKey });

/** @returns the user with this id from a provider, which is compared exactly */
export const findUserByExternalId = (
  connection: Connection,
  organizationId: string,
  externalId: string,
): UserRow | undefined => selectByExternalId(connection).get({ organizationId, externalId });

const selectOther = (connection: Connection, same: SQL) =>
  connection
    .select({ id: scimUsers.accountId })
    .from(scimUsers)
    .where(and(equalAll(scimUsers, "organizationId"), same, ne(scimUsers.accountId, named("id"))))
    .limit(1)
    .prepare();
const selectOtherByName = statement((connection) =>
  selectOther(connection, equalAll(scimUsers, "userNameKey")),
);
const selectOtherByExternalId = statement((connection) =>
  selectOther(connection, equalAll(scimUsers, "externalId")),
);

/** @returns whether another user has the name */
export const isUserNameTaken = (connection: Connection, query: UserId & { userNameKey: string }): boolean =>
  selectOtherByName(connection).get(query) !== undefined;

/** @returns whether another user has the provider's id */
export const isExternalIdTaken = (connection: Connection, query: UserId & { externalId: string }): boolean =>
  selectOtherByExternalId(connection).get(query) !== undefined;

/** @returns the id of the account with this id from a provider, which is compared exactly */
export const accountByExternalId = (
  connection: Connection,
  organizationId: string,
  externalId: string,
): string | undefined => selectOtherByExternalId(connection).get({ organizationId, externalId, id: "" })?.id;

/** @returns whether the account has an id from a provider */
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
    .values(insertAll(scimUsers, "sequence"))
    .returning({ sequence: scimUsers.sequence })
    .prepare(),
);

const {
  sequence: _sequence,
  accountId: _accountId,
  organizationId: _organizationId,
  createdAtMs: _createdAtMs,
  ...CHANGING
} = getTableColumns(scimUsers);

const updateRow = statement((connection) =>
  connection.update(scimUsers).set(updateAll(CHANGING)).where(isTheUser()).prepare(),
);

const numberOrganization = statement((connection) =>
  connection
    .insert(scimOrganizations)
    .values(insertAll(scimOrganizations, "number"))
    .onConflictDoNothing()
    .prepare(),
);

const insertRevision = statement((connection) =>
  connection
    .insert(scimUserRevisions)
    .values({ ...insertAll(scimUserRevisions), organizationNumber: ORGANIZATION_NUMBER })
    .prepare(),
);

const updateRevision = statement((connection) =>
  connection
    .update(scimUserRevisions)
    .set(updateAll({ version: scimUserRevisions.version, updatedAtMs: scimUserRevisions.updatedAtMs }))
    .where(equalAll(scimUserRevisions, "sequence"))
    .prepare(),
);

/** @returns the sequence of the new user */
export function insertUser(
  tx: Tx,
  user: UserId & Omit<UserRow, "doc" | "sequence">,
  columns: UserColumns,
): number {
  const inserted = insertRow(tx).get({ ...user, accountId: user.id, ...columns });
  numberOrganization(tx).run({ ...user });
  insertRevision(tx).run({ ...user, ...inserted });
  return inserted.sequence;
}

export function updateUser(tx: Tx, user: UserId & Omit<UserRow, "doc">, columns: UserColumns): void {
  updateRow(tx).run({ ...user, ...columns });
  updateRevision(tx).run({ ...user });
}

const deleteRow = statement((connection) => connection.delete(scimUsers).where(isTheUser()).prepare());

/** Also deletes its revision and its e-mails. */
export function deleteUser(tx: Tx, user: UserId): void {
  deleteRow(tx).run({ ...user });
}

const deleteEmails = statement((connection) =>
  connection.delete(scimUserEmails).where(equalAll(scimUserEmails, "userId")).prepare(),
);
const insertEmail = statement((connection) =>
  connection.insert(scimUserEmails).values(insertAll(scimUserEmails)).prepare(),
);

/** Replaces the user's e-mails. */
export function replaceEmails(tx: Tx, user: UserId, emails: readonly EmailColumns[]): void {
  const { id: userId, organizationId } = user;
  deleteEmails(tx).run({ userId });
  for (const [position, email] of emails.entries())
    insertEmail(tx).run({ userId, organizationId, position, ...email });
}

const GROUP = { id: scimGroups.id, display: scimGroups.displayName };
const IN_ORDER = [scimGroups.displayName, scimGroups.id];
const isOfMembership = eq(scimGroups.sequence, scimGroupMembers.groupSequence);

const selectGroups = statement((connection) =>
  connection
    .select(GROUP)
    .from(scimGroupMembers)
    .crossJoin(scimGroups)
    .where(and(eq(scimGroupMembers.userSequence, named("sequence")), isOfMembership))
    .orderBy(...IN_ORDER)
    .prepare(),
);

/** In this order, because otherwise SQLite would read every membership. */
const selectGroupsOfSome = statement((connection) =>
  connection
    .select({ at: sql<number>`key`, ...GROUP })
    .from(sql`json_each(${named("sequences")})`)
    .crossJoin(scimGroupMembers)
    .crossJoin(scimGroups)
    .where(and(eq(scimGroupMembers.userSequence, sql`value`), isOfMembership))
    .orderBy(sql`key`, ...IN_ORDER)
    .prepare(),
);

/** @returns the groups of each of these users, ordered by name */
export function groupsOfUsers(
  connection: Connection,
  sequences: readonly number[],
): readonly (readonly Named[])[] {
  const [sequence] = sequences;
  if (sequences.length === 1) return [selectGroups(connection).all({ sequence })];
  const groups: Named[][] = sequences.map(() => []);
  const rows = selectGroupsOfSome(connection).all({ sequences: JSON.stringify(sequences) });
  for (const row of rows) groups[row.at]?.push(row);
  return groups;
}

/** A shown part of another resource. */
export type NamedOfUser = Named & { userId: string };

const MANAGER_PATH = sql.raw(`'$."${ENTERPRISE_USER}".manager.value'`);

/** In this order, because otherwise SQLite would read every user of the organization. */
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
