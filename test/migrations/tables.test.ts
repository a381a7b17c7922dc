// The drizzle tables match the migrations: otherwise a difference would appear only when a statement runs.
import { expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { Column as DrizzleColumn, getTableName, is } from "drizzle-orm";
import { getTableConfig, getViewConfig, SQLiteTable, SQLiteView } from "drizzle-orm/sqlite-core";
import { openConnection } from "../../src/platform/database/connection.ts";
import { type Column, columnsOf, tablesOf } from "../support/content/schema.ts";
import { createWorld } from "../support/world.ts";

const SOURCE = join(import.meta.dir, "../../src");

/** The tables of request logs are in a separate file. */
const PLACES = ["{domain,platform}/*", "domain/inference/{models,usage}", "domain/catalog/mirroring"];

/** Tables and views. */
async function drizzleObjects(): Promise<unknown[]> {
  const files = PLACES.flatMap((place) => [...new Glob(`${place}/tables.ts`).scanSync(SOURCE)]);
  const modules: Record<string, unknown>[] = await Promise.all(
    files.map((file) => import(join(SOURCE, file))),
  );
  return modules.flatMap((module) => Object.values(module));
}

const drizzleTables = async (): Promise<SQLiteTable[]> =>
  (await drizzleObjects()).filter((value) => is(value, SQLiteTable));

function columnsOfDrizzle(table: SQLiteTable): Column[] {
  const { columns, primaryKeys } = getTableConfig(table);
  const composite = primaryKeys[0]?.columns.map(({ name }) => name) ?? [];
  return columns.map((column) => ({
    name: column.name,
    type: column.getSQLType().toUpperCase(),
    notNull: column.notNull,
    key: column.primary ? 1 : composite.indexOf(column.name) + 1,
  }));
}

/** One line for each column, without their order. A key column is never NULL, even if it is not declared so. */
const described = (columns: readonly Column[]): string[] =>
  columns
    .map(({ name, type, notNull, key }) => {
      const place = key > 0 ? ` PRIMARY KEY ${key}` : "";
      return `${name} ${type}${notNull || key > 0 ? " NOT NULL" : ""}${place}`;
    })
    .sort();

test("every drizzle table has the columns, types, nullability and primary key of the migrated schema", async () => {
  await using world = await createWorld();
  using connection = openConnection(world.file, { readonly: true });
  const names = tablesOf(connection).filter((name) => name !== "schema_migrations");
  const migrated = names.map((name) => ({ name, columns: described(columnsOf(connection, name)) }));
  const declared = (await drizzleTables())
    .map((table) => ({ name: getTableName(table), columns: described(columnsOfDrizzle(table)) }))
    .sort((a, b) => (a.name < b.name ? -1 : 1)); // as SQLite orders them
  expect(declared).toEqual(migrated);
});

/** The columns of a view have names and types only. */
const namesAndTypes = (columns: readonly Pick<Column, "name" | "type">[]): string[] =>
  columns.map(({ name, type }) => `${name} ${type}`);

test("every drizzle view has the columns and types of the migrated schema", async () => {
  await using world = await createWorld();
  using connection = openConnection(world.file, { readonly: true });
  const names = connection
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name")
    .all();
  const migrated = names.map(({ name }) => ({ name, columns: namesAndTypes(columnsOf(connection, name)) }));
  const declared = (await drizzleObjects())
    .filter((value) => is(value, SQLiteView))
    .map((view) => {
      const { name, selectedFields } = getViewConfig(view);
      const columns = Object.values(selectedFields).filter((field) => is(field, DrizzleColumn));
      const types = columns.map((column) => ({
        name: column.name,
        type: column.getSQLType().toUpperCase(),
      }));
      return { name, columns: namesAndTypes(types) };
    });
  expect(declared).toEqual(migrated);
});
