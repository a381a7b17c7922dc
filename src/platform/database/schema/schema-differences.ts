// Compares the tables, indexes, triggers and views of a database with those of the migrations. A foreign object, such as a
// trigger on the audit log, can change or hide rows without a trace.
import { Database } from "bun:sqlite";
import { migrations } from "../../../../migrations/index.ts";
import { FAULTS_MAX } from "../maintenance/integrity.ts";
import { JOURNAL } from "./schema.ts";

/** Tables that replication software adds: those of Litestream. */
const REPLICATION_TABLES: readonly RegExp[] = [/^_litestream_\w{1,40}$/];
/** Tables of SQLite itself, for AUTOINCREMENT and ANALYZE. */
const SQLITE_TABLES: readonly RegExp[] = [/^sqlite_sequence$/, /^sqlite_stat[14]$/];

interface SchemaObject {
  type: string;
  name: string;
  sql: string | null;
}

/**
 * @param schema number of the last migration that the database has
 * @returns the differences in words, at most FAULTS_MAX; empty for a database with the schema of the migrations
 */
export function schemaDifferences(connection: Database, schema: number): string[] {
  const wanted = new Map(objectsOf(schema).map((object) => [keyOf(object), object]));
  const found = objectsIn(connection);
  const keys = new Set(found.map(keyOf));
  const all = [
    ...found
      .filter((object) => !wanted.has(keyOf(object)) && !isAllowed(object))
      .map((object) => `the ${keyOf(object)} is foreign`),
    ...found
      .filter((object) => (wanted.get(keyOf(object)) ?? object).sql !== object.sql)
      .map((object) => `the ${keyOf(object)} was changed`),
    ...[...wanted.keys()].filter((key) => !keys.has(key)).map((key) => `the ${key} is missing`),
  ];
  return all.slice(0, FAULTS_MAX);
}

const keyOf = ({ type, name }: SchemaObject): string => `${type} ${name}`;

const isAllowed = ({ type, name, sql }: SchemaObject): boolean =>
  type === "table" &&
  (sql ?? "").startsWith("CREATE TABLE") && // not a virtual table, which would run its own code
  [...REPLICATION_TABLES, ...SQLITE_TABLES].some((pattern) => pattern.test(name));

/** Leaves out the indexes that SQLite makes for the constraints of a table, which are part of its text. */
const objectsIn = (connection: Database): SchemaObject[] =>
  connection
    .query<SchemaObject, []>(
      "SELECT type, name, sql FROM sqlite_schema WHERE NOT (type = 'index' AND sql IS NULL) ORDER BY type, name",
    )
    .all();

/** By schema number; cached, because running all migrations takes 40 ms. */
const made = new Map<number, readonly SchemaObject[]>();

const objectsOf = (schema: number): readonly SchemaObject[] =>
  made.getOrInsertComputed(schema, () => {
    using database = new Database(":memory:");
    database.run(JOURNAL);
    for (const { id, sql } of migrations) if (id <= schema) database.run(sql);
    return objectsIn(database);
  });
