// SQL of searches without an index: matches are collected slice by slice in a temporary table, which then sorts and pages them,
// the types together. scans.ts runs the slices.
import { asc, count, desc, type SQL, sql } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../../platform/database/database.ts";
import type { Filter } from "../filter/model.ts";
import { sortKeySql } from "../filter/order-store.ts";
import { shapeOf } from "../filter/shape.ts";
import { whereOf } from "../filter/where-store.ts";
import { ORGANIZATION } from "../organization-store.ts";
import type { AttributePath } from "../schema/attribute-path.ts";
import { scimGroups, scimUserRevisions, scimUsers } from "../tables.ts";
import { RESOURCE_TYPES, type ResourceTypeName } from "../wire.ts";

export interface Collected {
  type: ResourceTypeName;
  organizationId: string;
  filter: Filter;
  /** undefined without an order, or if the type has no such attribute */
  key: AttributePath | undefined;
}

/** Sequences above `after`, up to `upTo`. */
export interface Slice {
  after: number;
  upTo: number;
}

const TABLES = { User: scimUsers, Group: scimGroups } as const;

/** SQLite omits the revisions if nothing refers to them. */
const SOURCES: Readonly<Record<ResourceTypeName, SQL>> = {
  User: sql`${scimUsers} LEFT JOIN ${scimUserRevisions} ON ${scimUserRevisions.sequence} = ${scimUsers.sequence}`,
  Group: sql`${scimGroups}`,
};

const found = sqliteTable("found", {
  type: text("type", { enum: RESOURCE_TYPES }).notNull(),
  sequence: integer("sequence").notNull(),
  key: text("key"),
});

/** Creates the table; the connection must be exclusive. The key keeps the type of its values. */
export function openFound(connection: Connection): void {
  connection.run(sql`PRAGMA temp_store = MEMORY`);
  connection.run(sql`CREATE TEMP TABLE found (type TEXT NOT NULL, sequence INTEGER NOT NULL, key)`);
}

/** @returns the last sequence of the organization, 0 if it has none */
export function lastSequence(
  connection: Connection,
  { type, organizationId }: Pick<Collected, "type" | "organizationId">,
): number {
  const table = TABLES[type];
  const last = sql<number | null>`max(${table.sequence})`;
  const isOwn = sql`${table.organizationId} = ${organizationId}`;
  return connection.select({ last }).from(table).where(isOwn).get()?.last ?? 0;
}

/** @returns a function that adds the matches of a slice */
export function prepareCollection(
  connection: Connection,
  { type, organizationId, filter, key }: Collected,
): (slice: Slice) => void {
  const { sequence, organizationId: organization } = TABLES[type];
  const { numbers, values } = shapeOf(filter);
  const keySql: SQL = key ? sortKeySql(key) : sql`NULL`;
  const insert = connection
    .insert(found)
    .select(
      sql`SELECT ${sql.placeholder("type")}, ${sequence}, ${keySql} FROM ${SOURCES[type]}
        WHERE ${organization} = ${ORGANIZATION} AND ${sequence} > ${sql.placeholder("after")}
        AND ${sequence} <= ${sql.placeholder("upTo")} AND ${whereOf(filter, numbers)}`,
    )
    .prepare();
  return (slice) => {
    insert.run({ ...values, ...slice, organizationId, type });
  };
}

export interface Found {
  type: ResourceTypeName;
  sequence: number;
}

/** @returns the number of matches, and those on the page: by key, then users before groups, then by creation */
export function foundPage(
  connection: Connection,
  { isDescending, offset, limit }: { isDescending: boolean; offset: number; limit: number },
): { total: number; found: Found[] } {
  const total = connection.select({ total: count() }).from(found).get()?.total ?? 0;
  const direction = isDescending ? sql`DESC NULLS FIRST` : sql`ASC NULLS LAST`;
  const rows = connection
    .select({ type: found.type, sequence: found.sequence })
    .from(found)
    .orderBy(sql`${found.key} ${direction}`, desc(found.type), asc(found.sequence))
    .limit(limit)
    .offset(offset)
    .all();
  return { total, found: rows };
}
