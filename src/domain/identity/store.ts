// SQL of organizations and users. The services have the rules; invitation-store.ts has the invitations.
import { and, asc, count, desc, eq, getTableColumns, inArray, ne, sql } from "drizzle-orm";
import { markTopicChanged } from "../../platform/database/changed-topics.ts";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import { equalAll, named } from "../../platform/database/drizzle.ts";
import { timedRows } from "../../platform/database/maintenance/timed-rows.ts";
import type { Organization, ProvisioningSource, Role, SignInUser, User, UserStatus } from "./model.ts";
import { organizations, users } from "./tables.ts";

/** The id of a row and the organization that it must belong to. */
export interface RowId {
  organizationId: string;
  id: string;
}

export const timedUsers = timedRows(users, users.updatedAtMs);

/** The columns that a service may change of a user who is not removed. */
export interface UserChanges {
  email?: string;
  emailKey?: string;
  role?: Role;
  status?: UserStatus;
  passwordHash?: string | null;
  provisioningSource?: ProvisioningSource;
  protected?: boolean;
}

/** The changes when a removed user returns. Id, address and history stay. */
export interface Revival {
  subject: string;
  role: Role;
  status: Exclude<UserStatus, "removed">;
  provisioningSource: ProvisioningSource;
  protected: boolean;
  passwordHash: string | null;
}

const {
  passwordHash,
  emailKey,
  workstations: _workstations,
  searchNumber: _number,
  ...columns
} = getTableColumns(users);
/** The facts about a user that others see. */
export const shown = columns;

const selectUserById = statement((connection) =>
  connection.select(shown).from(users).where(equalAll(users, "id")).limit(1).prepare(),
);

const selectUserByEmailKey = statement((connection) =>
  connection
    .select({ ...shown, passwordHash })
    .from(users)
    .where(and(equalAll(users, "organizationId"), eq(emailKey, named("emailKey"))))
    .orderBy(asc(eq(users.status, "removed")), desc(users.updatedAtMs), desc(users.id))
    .limit(1)
    .prepare(),
);

export const findUserById = (connection: Connection, id: string): User | undefined =>
  selectUserById(connection).get({ id });

/**
 * @param key the folded address
 * @returns the user with this address, or else the last removed user who had it
 */
export const findUserByEmail = (
  connection: Connection,
  key: { organizationId: string; emailKey: string },
): SignInUser | undefined => selectUserByEmailKey(connection).get(key);

export const findUser = (connection: Connection, row: RowId): User | undefined =>
  connection.select(shown).from(users).where(isRow(row)).limit(1).get();

/** Maximum number of users who lose their protection at one start; the next start handles the others. */
const PROTECTED_MAX = 100;

/** @returns protected users other than this one, at most PROTECTED_MAX */
export const listOtherProtectedUsers = (connection: Connection, { organizationId, id }: RowId): User[] =>
  connection
    .select(shown)
    .from(users)
    .where(and(eq(users.organizationId, organizationId), eq(users.protected, true), ne(users.id, id)))
    .limit(PROTECTED_MAX)
    .all();

export const renameOrganization = (tx: Tx, { id, name }: Organization): void =>
  void tx.update(organizations).set({ name }).where(eq(organizations.id, id)).run();

const oldestOrganization = statement((connection) =>
  connection
    .select({ id: organizations.id, name: organizations.name })
    .from(organizations)
    .orderBy(asc(organizations.createdAtMs))
    .limit(1)
    .prepare(),
);

export const firstOrganization = (connection: Connection): Organization | undefined =>
  oldestOrganization(connection).get();

/** @returns the ids whose user is not active or does not exist; one query for any number of ids */
export function inactiveAmong(connection: Connection, ids: readonly string[]): string[] {
  const rows = connection.all<{ id: string }>(sql`
    SELECT value AS id FROM json_each(${JSON.stringify(ids)})
    WHERE NOT EXISTS (SELECT 1 FROM ${users} WHERE ${users.id} = value AND ${users.status} = 'active')`);
  return rows.map(({ id }) => id);
}

export function insertOrganization(tx: Tx, organization: typeof organizations.$inferInsert): void {
  tx.insert(organizations).values(organization).run();
}

export function insertUser(tx: Tx, user: typeof users.$inferInsert): User {
  markTopicChanged(tx, "user_rows");
  return tx.insert(users).values(user).returning(shown).get();
}

/** @returns the user after the change; undefined if the user does not exist or is removed */
export function updateUser(
  tx: Tx,
  row: RowId,
  changes: UserChanges & { updatedAtMs: number },
): User | undefined {
  markTopicChanged(tx, "access");
  const isPresent = and(isRow(row), ne(users.status, "removed"));
  return tx.update(users).set(changes).where(isPresent).returning(shown).get();
}

/** Only `revive` of enrollment.ts may call it. @returns the user after the change; undefined if there is no such removed user */
export function reviveUser(tx: Tx, row: RowId, revival: Revival & { updatedAtMs: number }): User | undefined {
  markTopicChanged(tx, "access");
  const isRemoved = and(isRow(row), eq(users.status, "removed"));
  return tx.update(users).set(revival).where(isRemoved).returning(shown).get();
}

/** @returns the ids of users whose role changed. Uses one statement, because a group may be large */
export function setProvisionedRole(
  tx: Tx,
  { ids, role, updatedAtMs }: { ids: readonly string[]; role: Role; updatedAtMs: number },
): string[] {
  const changed = tx
    .update(users)
    .set({ role, updatedAtMs })
    .where(
      and(
        inArray(users.id, sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`),
        eq(users.provisioningSource, "scim"),
        ne(users.status, "removed"),
        eq(users.protected, false),
        ne(users.role, role),
      ),
    )
    .returning({ id: users.id })
    .all();
  if (changed.length > 0) markTopicChanged(tx, "access");
  return changed.map(({ id }) => id);
}

/** @returns the number of active administrators other than this user */
export function countOtherAdministrators(connection: Connection, { organizationId, id }: RowId): number {
  const others = and(
    eq(users.organizationId, organizationId),
    ne(users.id, id),
    sql`${users.role} = 'admin'`, // literal, so that SQLite can use the partial index of administrators
    eq(users.status, "active"),
  );
  return connection.select({ total: count() }).from(users).where(others).get()?.total ?? 0;
}

export const isRow = ({ organizationId, id }: RowId) =>
  and(eq(users.organizationId, organizationId), eq(users.id, id));
