// SQL of searches: pages and counts of one type, compiled once by shape. filter/where-store.ts compiles filters; scan-store.ts
// has searches without an index.
import { count, eq, inArray, type SQL, sql } from "drizzle-orm";
import type { SQLiteSelect } from "drizzle-orm/sqlite-core";
import { LRUCache } from "lru-cache";
import type { Connection } from "../../../platform/database/database.ts";
import { named } from "../../../platform/database/drizzle.ts";
import type { Filter } from "../filter/model.ts";
import { isOfRevision, orderOf } from "../filter/order-store.ts";
import { type Shape, shapeOf } from "../filter/shape.ts";
import { isAlways } from "../filter/simplify.ts";
import { isSelective, namesRevision, whereOf } from "../filter/where-store.ts";
import { GROUP_ROW } from "../groups/groups-store.ts";
import type { GroupRow, UserRow } from "../model.ts";
import { IS_OWN_GROUP, IS_OWN_REVISION, IS_OWN_USER } from "../organization-store.ts";
import { type AttributePath, pathText } from "../schema/attribute-path.ts";
import { scimGroups, scimUserRevisions, scimUsers } from "../tables.ts";
import { USER_ROW } from "../users/users-store.ts";

/** Cached compiled statements of one type and one kind, less than 200 in total (SCIM-131). */
export const STATEMENTS_MAX = 32;

export interface RowsRequest {
  organizationId: string;
  filter: Filter;
  /** undefined for the order of creation */
  key: AttributePath | undefined;
  isDescending: boolean;
  /** whether to start at the last row, from which `offset` counts, and return rows in that order */
  isBackwards: boolean;
  offset: number;
  limit: number;
}

type Values = Readonly<Record<string, unknown>>;
interface Prepared<Row> {
  all(values: Values): Row[];
}

interface Terms {
  where: SQL | undefined;
  order: SQL[];
}

/** The differences between the two types. */
interface TypeSql<Row> {
  /** whether a row is of the organization */
  isOwn: SQL;
  sequence: SQL;
  page(connection: Connection, terms: Terms): Prepared<Row>;
  sequences(connection: Connection, terms: Terms): Prepared<{ sequence: number }>;
  count(connection: Connection, where: SQL | undefined): Prepared<{ total: number }>;
}

interface RowsSql<Row> extends TypeSql<Row> {
  ofSequences(connection: Connection): Prepared<Row & { sequence: number }>;
  /** used instead if the filter or order names the revision; its table comes first, because its index has the organization */
  byRevision?: TypeSql<Row>;
}

const TOTAL = { total: count() };
const listed = sql`(SELECT value FROM json_each(${named("sequences")}))`;

const IS_ITS_REVISION = eq(scimUserRevisions.sequence, scimUsers.sequence);

/** @returns the page of a query, compiled */
const prepared = <Query extends SQLiteSelect>(query: Query, { where, order }: Terms) =>
  query
    .where(where)
    .orderBy(...order)
    .limit(sql.placeholder("limit"))
    .offset(sql.placeholder("offset"))
    .prepare();

const USER_SQL_BY_REVISION: TypeSql<UserRow> = {
  isOwn: IS_OWN_REVISION,
  sequence: sql`${scimUserRevisions.sequence}`,
  page: (connection, terms) => {
    const query = connection.select(USER_ROW).from(scimUserRevisions).$dynamic();
    return prepared(query.innerJoin(scimUsers, IS_ITS_REVISION), terms);
  },
  // A LEFT JOIN, because SQLite then omits the users if nothing else refers to them.
  sequences: (connection, terms) => {
    const query = connection
      .select({ sequence: scimUserRevisions.sequence })
      .from(scimUserRevisions)
      .$dynamic();
    return prepared(query.leftJoin(scimUsers, IS_ITS_REVISION), terms);
  },
  count: (connection, where) =>
    connection
      .select(TOTAL)
      .from(scimUserRevisions)
      .leftJoin(scimUsers, IS_ITS_REVISION)
      .where(where)
      .prepare(),
};

const USER_SQL: RowsSql<UserRow> = {
  isOwn: IS_OWN_USER,
  sequence: sql`${scimUsers.sequence}`,
  page: (connection, terms) => {
    const query = connection.select(USER_ROW).from(scimUsers).$dynamic();
    return prepared(query.innerJoin(scimUserRevisions, IS_ITS_REVISION), terms);
  },
  sequences: (connection, terms) =>
    prepared(connection.select({ sequence: scimUsers.sequence }).from(scimUsers).$dynamic(), terms),
  count: (connection, where) => connection.select(TOTAL).from(scimUsers).where(where).prepare(),
  ofSequences: (connection) =>
    connection
      .select(USER_ROW)
      .from(scimUsers)
      .innerJoin(scimUserRevisions, IS_ITS_REVISION)
      .where(inArray(scimUsers.sequence, listed))
      .prepare(),
  byRevision: USER_SQL_BY_REVISION,
};

const GROUP_SQL: RowsSql<GroupRow> = {
  isOwn: IS_OWN_GROUP,
  sequence: sql`${scimGroups.sequence}`,
  page: (connection, terms) => prepared(connection.select(GROUP_ROW).from(scimGroups).$dynamic(), terms),
  sequences: (connection, terms) =>
    prepared(connection.select({ sequence: scimGroups.sequence }).from(scimGroups).$dynamic(), terms),
  count: (connection, where) => connection.select(TOTAL).from(scimGroups).where(where).prepare(),
  ofSequences: (connection) =>
    connection
      .select({ ...GROUP_ROW, sequence: scimGroups.sequence })
      .from(scimGroups)
      .where(inArray(scimGroups.sequence, listed))
      .prepare(),
};

/** by the shape of the filter and the order */
type Statements<R> = LRUCache<string, Prepared<R>>;

/** @returns the statement with that key, compiled unless it is cached */
export function compiledIn<S extends object>(kept: LRUCache<string, S>, key: string, compile: () => S): S {
  const statement = kept.get(key) ?? compile();
  kept.set(key, statement);
  return statement;
}

/** The rows of one type. One object belongs to one connection, on which it compiles. */
export class SearchedRows<Row> {
  readonly #pages: Statements<Row> = new LRUCache({ max: STATEMENTS_MAX });
  readonly #deepPages: Statements<{ sequence: number }> = new LRUCache({ max: STATEMENTS_MAX });
  #ofSequences: Prepared<Row & { sequence: number }> | undefined;
  readonly #counts: Statements<{ total: number }> = new LRUCache({ max: STATEMENTS_MAX });

  constructor(
    private readonly connection: Connection,
    private readonly dependencies: RowsSql<Row>,
  ) {}

  /**
   * Skips the rows before a later page through an index, without reading their documents. The same applies to rows that must be
   * sorted first, because there may be many more than the page shows.
   */
  page(query: RowsRequest): Row[] {
    const { connection } = this;
    const isAtHand = isAlways(query.filter) || isSelective(query.filter);
    if (isAtHand && query.offset === 0)
      return this.#ordered(query, this.#pages, (own, terms) => own.page(connection, terms));
    const found = this.#ordered(query, this.#deepPages, (own, terms) => own.sequences(connection, terms));
    return this.ofSequences(found.map(({ sequence }) => sequence));
  }

  #ordered<R>(
    { filter, key, isDescending, isBackwards, organizationId, limit, offset }: RowsRequest,
    statements: Statements<R>,
    prepare: (own: TypeSql<Row>, terms: Terms) => Prepared<R>,
  ): R[] {
    const shape = shapeOf(filter);
    const kind = `${key ? pathText(key) : ""} ${isDescending} ${isBackwards}`;
    const prepared = compiledIn(statements, `${kind} ${shape.key}`, () => {
      const own = this.#sqlFor(filter, key);
      const order = orderOf(key, own.sequence, { isDescending, isBackwards });
      return prepare(own, { where: whereIn(own, filter, shape), order });
    });
    return prepared.all({ ...shape.values, organizationId, limit, offset });
  }

  count({ filter, organizationId }: Pick<RowsRequest, "filter" | "organizationId">): number {
    const shape = shapeOf(filter);
    const prepared = compiledIn(this.#counts, shape.key, () => {
      const own = this.#sqlFor(filter);
      return own.count(this.connection, whereIn(own, filter, shape));
    });
    return prepared.all({ ...shape.values, organizationId })[0]?.total ?? 0;
  }

  /** @returns the rows with these sequences, in the given order */
  ofSequences(sequences: readonly number[]): Row[] {
    this.#ofSequences ??= this.dependencies.ofSequences(this.connection);
    const rows = this.#ofSequences.all({ sequences: JSON.stringify(sequences) });
    const bySequence = new Map(rows.map((row) => [row.sequence, row]));
    return sequences.flatMap((sequence) => bySequence.get(sequence) ?? []);
  }

  #sqlFor(filter: Filter, key?: AttributePath): TypeSql<Row> {
    const { byRevision } = this.dependencies;
    return byRevision && (namesRevision(filter) || (key && isOfRevision(key)))
      ? byRevision
      : this.dependencies;
  }
}

/**
 * The plus keeps SQLite from reading the whole organization through its index, which it would always prefer. An indexed condition
 * names the organization itself (filter/where-store.ts).
 */
function whereIn({ isOwn }: { isOwn: SQL }, filter: Filter, { numbers }: Shape): SQL {
  return isAlways(filter) ? isOwn : sql`+(${isOwn}) AND ${whereOf(filter, numbers)}`;
}

/** @returns the rows of users */
export const userRows = (connection: Connection): SearchedRows<UserRow> =>
  new SearchedRows(connection, USER_SQL);

export const groupRows = (connection: Connection): SearchedRows<GroupRow> =>
  new SearchedRows(connection, GROUP_SQL);
