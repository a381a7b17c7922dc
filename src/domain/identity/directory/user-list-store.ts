// SQL of lists of users, by folded address. user-directory.ts reads them in steps.
import { and, count, eq, inArray, ne, notInArray, or, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../../platform/database/database.ts";
import {
  boundsOf,
  isAmong,
  isInSpan,
  NAMED,
  type OrderedList,
  orderedRows,
  orderOf,
  placesOf,
  type UserSet,
} from "../../shared/ordered-rows-store.ts";
import { JOINED_STEP_ROWS, type OrderedRows, type Place, type Span } from "../../shared/page-steps.ts";
import type { ProvisioningSource, Role, User, UserStatus } from "../model.ts";
import { contains } from "../search-store.ts";
import { isRow, type RowId, shown } from "../store.ts";
import { users } from "../tables.ts";
import type { UserCondition } from "../users/conditions-store.ts";

const { emailKey } = users;

export interface UserFilter {
  q?: string | undefined;
  role?: Role | undefined;
  status?: UserStatus | undefined;
  provisioningSource?: ProvisioningSource | undefined;
  hasWorkstation?: false | undefined;
  /** conditions of other areas; all must hold */
  sets?: readonly UserSet[] | undefined;
}

/** The order of every list of users. */
const BY_ADDRESS = { table: users, columns: [emailKey, users.id] } as const;

/** The selection of users in a list. */
export interface UserSelection extends Pick<OrderedList<User>, "matching" | "stepRows"> {
  /** the condition of a partial index; undefined for the index of all users */
  within?: SQL | undefined;
}

/** @returns the selection of a filter */
export const usersLike = (filter: UserFilter): UserSelection => ({
  within: withinOf(filter),
  matching: conditionsOf(filter),
  stepRows: filter.sets?.length ? JOINED_STEP_ROWS : undefined,
});

/** The number of users of one source with one status. */
export interface UserCount extends Pick<User, "provisioningSource" | "status"> {
  total: number;
}

/** @returns the positions of all users by folded address, and a function that counts the users of a span */
export function userCounts(connection: Connection, organizationId: string) {
  const { provisioningSource, status } = users;
  const within = eq(users.organizationId, organizationId);
  const counted = connection
    .select({ provisioningSource, status, total: count() })
    .from(users)
    .where(and(within, isInSpan(BY_ADDRESS, NAMED)))
    .groupBy(provisioningSource, status)
    .prepare();
  return {
    placeAhead: placesOf(connection, { order: BY_ADDRESS, within }),
    countIn: (span: Span): UserCount[] => counted.all({ ...boundsOf(BY_ADDRESS, span) }),
  };
}

/** @returns whether a single set decides which users match */
export const isSetOnly = ({ sets = [], ...others }: UserFilter): boolean =>
  sets.length === 1 && Object.values(others).every((value) => value === undefined);

/** @returns the positions of the selected users among these ids, unordered */
export const placesAmong = (
  connection: Connection,
  organizationId: string,
  { ids, selection: { within, matching } }: { ids: readonly string[]; selection: UserSelection },
): Place[] =>
  connection
    .select({ first: emailKey, second: users.id })
    .from(users)
    .where(and(isAmong(users.id, ids), isInAnyOrder(organizationId), within, matching))
    .limit(ids.length)
    .all();

/** @returns these users by folded address, then id */
export const usersOf = (connection: Connection, organizationId: string, ids: readonly string[]): User[] =>
  connection
    .select(shown)
    .from(users)
    .where(and(isAmong(users.id, ids), isInAnyOrder(organizationId)))
    .orderBy(...orderOf(BY_ADDRESS))
    .limit(ids.length)
    .all();

/** The plus keeps SQLite from reading every user of the organization. */
const isInAnyOrder = (organizationId: string): SQL => sql`+${users.organizationId} = ${organizationId}`;

/** @returns the ids of at most `limit` users without a workstation */
export const idsWithoutWorkstation = (
  connection: Connection,
  organizationId: string,
  limit: number,
): string[] =>
  connection
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.organizationId, organizationId), hasNoWorkstation))
    .limit(limit)
    .all()
    .map(({ id }) => id);

/** Literal text, because SQLite uses a partial index only if it can see that the condition fits. */
const hasNoWorkstation = sql`${users.workstations} = 0`;

/** @returns the condition of an index; undefined for the index of all users */
const withinOf = ({ hasWorkstation }: UserFilter): SQL | undefined =>
  hasWorkstation === false ? hasNoWorkstation : undefined;

/** Users who are not removed. */
export const presentUsers: UserSelection = { matching: ne(users.status, "removed") };

const conditionsOf = ({ q, role, status, provisioningSource, sets = [] }: UserFilter): SQL | undefined =>
  and(
    q === undefined ? undefined : or(contains(emailKey, q), contains(users.subject, q)),
    role && eq(users.role, role),
    status && eq(users.status, status),
    provisioningSource && eq(users.provisioningSource, provisioningSource),
    ...sets.map(({ holds }) => holds(users.id)),
  );

/** Selected users who are not removed. */
export const listSelected = (
  connection: Connection,
  organizationId: string,
  { ids, limit }: { ids: readonly string[]; limit: number },
): User[] =>
  connection
    .select(shown)
    .from(users)
    .where(
      and(eq(users.organizationId, organizationId), ne(users.status, "removed"), inArray(users.id, [...ids])),
    )
    .orderBy(...orderOf(BY_ADDRESS))
    .limit(limit)
    .all();

/** @returns active users whose address contains the text, except the given ones */
export const activeUsersExcept = ({
  q,
  except,
}: {
  q: string | undefined;
  except: readonly string[];
}): UserSelection => ({
  matching: and(
    eq(users.status, "active"),
    notInArray(users.id, [...except]),
    q === undefined ? undefined : contains(emailKey, q),
  ),
});

export interface AmongUsers {
  /** condition that selects the users */
  isAmong: UserCondition;
  /** folded */
  q: string | undefined;
  /** left out */
  except: string | undefined;
}

/** @returns the selected users whose address contains the text, in any status */
export const usersAmong = ({ isAmong, q, except }: AmongUsers): UserSelection => ({
  matching: and(
    q === undefined ? undefined : contains(emailKey, q),
    except === undefined ? undefined : ne(users.id, except),
    isAmong(users.id),
  ),
});

/** @returns the user if the condition selects them, in any status */
export const findAmong = (connection: Connection, row: RowId, isAmong: UserCondition): User | undefined =>
  connection
    .select(shown)
    .from(users)
    .where(and(isRow(row), isAmong(users.id)))
    .limit(1)
    .get();

/** @returns the selected users by folded address, then id */
export const usersInOrder = (
  connection: Connection,
  organizationId: string,
  { within, matching, stepRows }: UserSelection,
): OrderedRows<User> => {
  const list: OrderedList<User> = {
    order: BY_ADDRESS,
    within: sql`${and(eq(users.organizationId, organizationId), within)}`,
    matching,
    stepRows,
    read: (where, { limit, offset }) =>
      connection
        .select(shown)
        .from(users)
        .where(where)
        .orderBy(...orderOf(BY_ADDRESS))
        .limit(limit)
        .offset(offset)
        .all(),
  };
  return orderedRows(connection, list);
};
