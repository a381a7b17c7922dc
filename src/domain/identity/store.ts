// SQL of organizations and users. The services have the rules; invitation-store.ts has the invitations.
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  inArray,
  ne,
  notInArray,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import { type Connection, statement, type Tx } from "../../platform/database/database.ts";
import { named } from "../../platform/database/drizzle.ts";
import { moveRevision } from "../../platform/database/moved-topics.ts";
import { likePattern, type PageSlice } from "../shared/page.ts";
import type { Organization, ProvisioningSource, Role, SignInUser, User, UserStatus } from "./model.ts";
import { organizations, users } from "./tables.ts";

/** The id of a row and of the organization it must belong to. */
export interface RowId {
  organizationId: string;
  id: string;
}

export interface UserFilter {
  q?: string | undefined;
  role?: Role | undefined;
  status?: UserStatus | undefined;
  provisioningSource?: ProvisioningSource | undefined;
}

/** The columns that a service may change; the id never changes. */
export interface UserChanges {
  email?: string;
  emailKey?: string;
  role?: Role;
  status?: UserStatus;
  subject?: string;
  passwordHash?: string | null;
  provisioningSource?: ProvisioningSource;
  protected?: boolean;
}

const { passwordHash, emailKey, ...shown } = getTableColumns(users);

const selectUserById = statement((connection) =>
  connection
    .select(shown)
    .from(users)
    .where(eq(users.id, named("id")))
    .limit(1)
    .prepare(),
);

const selectUserByEmailKey = statement((connection) =>
  connection
    .select({ ...shown, passwordHash })
    .from(users)
    .where(and(eq(users.organizationId, named("organizationId")), eq(emailKey, named("emailKey"))))
    .orderBy(asc(eq(users.status, "removed")), desc(users.updatedAtMs), desc(users.id))
    .limit(1)
    .prepare(),
);

export const findUserById = (connection: Connection, id: string): User | undefined =>
  selectUserById(connection).get({ id });

/**
 * @param key the folded address
 * @returns its user; if it is not in use, the user with this address who was removed last
 */
export const findUserByEmail = (
  connection: Connection,
  key: { organizationId: string; emailKey: string },
): SignInUser | undefined => selectUserByEmailKey(connection).get(key);

export const findUser = (connection: Connection, row: RowId): User | undefined =>
  connection.select(shown).from(users).where(isRow(row)).limit(1).get();

/** Number of users who lose their protection in one start; the next start handles the others. */
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

export function insertOrganization(tx: Tx, organization: typeof organizations.$inferInsert): void {
  tx.insert(organizations).values(organization).run();
}

export const insertUser = (tx: Tx, user: typeof users.$inferInsert): User =>
  tx.insert(users).values(user).returning(shown).get();

/** @returns the user after the change; undefined if there is no such row */
export function updateUser(
  tx: Tx,
  row: RowId,
  changes: UserChanges & { updatedAtMs: number },
): User | undefined {
  moveRevision(tx, "access");
  return tx.update(users).set(changes).where(isRow(row)).returning(shown).get();
}

/** @returns the ids of users whose role changed; one statement, because a group may be large */
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
  if (changed.length > 0) moveRevision(tx, "access");
  return changed.map(({ id }) => id);
}

/** @returns the number of active administrators other than this user */
export function countOtherAdministrators(connection: Connection, { organizationId, id }: RowId): number {
  const others = and(
    eq(users.organizationId, organizationId),
    ne(users.id, id),
    eq(users.role, "admin"),
    eq(users.status, "active"),
  );
  return connection.select({ total: count() }).from(users).where(others).get()?.total ?? 0;
}

export interface UserSlice extends PageSlice {
  filter: UserFilter;
  /** the user after which the page begins */
  after?: { emailKey: string; id: string } | undefined;
}

/** Ordered by folded address, then id. */
export function listUsers(
  connection: Connection,
  organizationId: string,
  { filter, after, offset, limit, known }: UserSlice,
): { items: User[]; total: number } {
  const matching = and(
    eq(users.organizationId, organizationId),
    filter.q === undefined ? undefined : or(contains(emailKey, filter.q), contains(users.subject, filter.q)),
    filter.role && eq(users.role, filter.role),
    filter.status && eq(users.status, filter.status),
    filter.provisioningSource && eq(users.provisioningSource, filter.provisioningSource),
  );
  const total = known ?? connection.select({ total: count() }).from(users).where(matching).get()?.total ?? 0;
  const isBehind = after && sql`(${emailKey}, ${users.id}) > (${after.emailKey}, ${after.id})`;
  const items = inOrder(connection, and(matching, isBehind)).limit(limit).offset(offset).all();
  return { items, total };
}

export const listPresent = (connection: Connection, organizationId: string, limit: number): User[] =>
  inOrder(connection, isPresent(organizationId)).limit(limit).all();

export const listSelected = (
  connection: Connection,
  organizationId: string,
  { ids, limit }: { ids: readonly string[]; limit: number },
): User[] =>
  inOrder(connection, and(isPresent(organizationId), inArray(users.id, [...ids])))
    .limit(limit)
    .all();

/** Active users whose address contains the text, except the given ones. */
export const listActiveExcept = (
  connection: Connection,
  organizationId: string,
  { q, except, limit }: { q: string | undefined; except: readonly string[]; limit: number },
): User[] =>
  inOrder(
    connection,
    and(
      eq(users.organizationId, organizationId),
      eq(users.status, "active"),
      notInArray(users.id, [...except]),
      q === undefined ? undefined : contains(emailKey, q),
    ),
  )
    .limit(limit)
    .all();

/** A query for user ids that other areas can embed in their statements. */
export type UserIdQuery = SQLWrapper;

/**
 * @param text folded
 * @returns a query for all users whose address contains it, in any status
 */
export const idsByAddress = (connection: Connection, organizationId: string, text: string): UserIdQuery =>
  connection
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.organizationId, organizationId), contains(emailKey, text)));

export interface AmongUsers {
  ids: UserIdQuery;
  /** folded */
  q: string | undefined;
  /** listed first, even if it does not contain `q` */
  selectedId: string | undefined;
  limit: number;
}

/** @returns the users that the query selects, in any status, by folded address */
export const listAmong = (
  connection: Connection,
  organizationId: string,
  { ids, q, selectedId, limit }: AmongUsers,
): { id: string; email: string }[] => {
  const isSelected = eq(users.id, selectedId ?? "");
  const fits = q === undefined ? undefined : or(isSelected, contains(emailKey, q));
  return connection
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(and(eq(users.organizationId, organizationId), inArray(users.id, ids), fits))
    .orderBy(desc(isSelected), asc(emailKey), asc(users.id))
    .limit(limit)
    .all();
};

/** Matches the text literally. Folded columns need folded text; ASCII case is ignored in any case. */
export const contains = (column: SQLiteColumn, text: string): SQL =>
  sql`${column} LIKE ${likePattern(text)} ESCAPE '\\'`;

const inOrder = (connection: Connection, matching: SQL | undefined) =>
  connection.select(shown).from(users).where(matching).orderBy(asc(emailKey), asc(users.id));

const isRow = ({ organizationId, id }: RowId) =>
  and(eq(users.organizationId, organizationId), eq(users.id, id));

const isPresent = (organizationId: string) =>
  and(eq(users.organizationId, organizationId), ne(users.status, "removed"));
