// drizzle over one connection, with what SQLite needs to run compiled statements fast. Which connection, and who may
// write through it, is for database.ts.
import type { Database, Statement } from "bun:sqlite";
import {
  Column,
  type DriverValueDecoder,
  type DriverValueEncoder,
  is,
  Param,
  Placeholder,
  type Query,
} from "drizzle-orm";
import { BunSQLiteDatabase, SQLiteBunSession } from "drizzle-orm/bun-sqlite";
import {
  type PreparedQueryConfig,
  type SelectedFieldsOrdered,
  type SQLiteExecuteMethod,
  SQLitePreparedQuery,
  SQLiteSession,
  SQLiteSyncDialect,
} from "drizzle-orm/sqlite-core";

/** @returns the builders and statements of drizzle on that connection */
export function drizzleOver(connection: Database): BunSQLiteDatabase {
  const dialect = new StablePlans();
  return new BunSQLiteDatabase("sync", dialect, new CompilingSession(connection, dialect), undefined);
}

const BOUND_LIMIT = " limit +?";

/**
 * Compiled once is compiled: SQLite looks into a bare `?` when it plans a join or a LIMIT, and then compiles the statement
 * anew whenever something is bound, 2 to 10 µs for a row of 1 µs. The plus hides the value and does not change it.
 */
class StablePlans extends SQLiteSyncDialect {
  /** Constant text stays bare: SQLite takes a partial index (`WHERE status = 'pending'`) only for a value that it sees. */
  override escapeParam(_position: number, value?: unknown): string {
    return typeof value === "string" ? "?" : "+?";
  }

  override sqlToQuery(...asked: Parameters<SQLiteSyncDialect["sqlToQuery"]>) {
    const query = super.sqlToQuery(...asked);
    const limit = query.params.at(-1);
    if (!Number.isSafeInteger(limit) || !query.sql.endsWith(BOUND_LIMIT)) return query;
    return { ...query, sql: `${query.sql.slice(0, -2)}${limit}`, params: query.params.slice(0, -1) };
  }
}

type NoSchema = Record<string, never>;
type Session = SQLiteSession<"sync", void, NoSchema, NoSchema>;

/**
 * Looks at parameters and columns when a statement is prepared; drizzle's own session does so in each run, for each row.
 * What is more than flat rows of columns is left to that session: nested selections, expressions, mappers, transactions.
 */
class CompilingSession extends SQLiteSession<"sync", void, NoSchema, NoSchema> {
  readonly #connection: Database;
  readonly #plain: SQLiteBunSession<NoSchema, NoSchema>;

  constructor(connection: Database, dialect: SQLiteSyncDialect) {
    super(dialect);
    this.#connection = connection;
    this.#plain = new SQLiteBunSession(connection, dialect, undefined);
  }

  override prepareQuery(...asked: Parameters<Session["prepareQuery"]>): ReturnType<Session["prepareQuery"]> {
    const [query, fields, method, isArrayMode, mapper] = asked;
    const columns = fields && flatColumns(fields);
    if (mapper || (fields && !columns)) {
      return this.#plain.prepareQuery(query, fields, method, isArrayMode, mapper);
    }
    return new CompiledQuery({ statement: this.#connection.prepare(query.sql), query, method, columns });
  }

  override transaction: Session["transaction"] = (run, config) => this.#plain.transaction(run, config);
}

interface Compiled {
  statement: Statement<unknown>;
  query: Query;
  method: SQLiteExecuteMethod;
  /** undefined for a statement that says nothing of its columns: rows stay as the driver gives them */
  columns: readonly FlatColumn[] | undefined;
}

class CompiledQuery extends SQLitePreparedQuery<PreparedQueryConfig & { type: "sync" }> {
  readonly #statement;
  readonly #columns;
  readonly #slots;
  readonly #constants;

  constructor({ statement, query, method, columns }: Compiled) {
    super("sync", method, query);
    this.#statement = statement;
    this.#columns = columns;
    this.#slots = query.params.map(slotOf);
    this.#constants = this.#slots.every((slot) => slot.name === undefined) ? query.params : undefined;
  }

  override run(given?: Record<string, unknown>): unknown {
    return this.#statement.run(...this.#bind(given));
  }

  override values(given?: Record<string, unknown>): unknown[][] {
    return this.#statement.values(...this.#bind(given));
  }

  override all(given?: Record<string, unknown>): unknown[] {
    const columns = this.#columns;
    if (!columns) return this.#statement.all(...this.#bind(given));
    return this.values(given).map((row) => objectOf(columns, row));
  }

  override get(given?: Record<string, unknown>): unknown {
    const row = this.values(given)[0];
    return row && this.#columns ? objectOf(this.#columns, row) : row;
  }

  #bind(given: Record<string, unknown> = {}): unknown[] {
    return this.#constants ?? this.#slots.map((slot) => boundValue(slot, given));
  }
}

/** What one `?` of a statement is bound to: a placeholder's value, or always the same. */
type Slot = { name: string; encoder: Encoder | undefined } | { name: undefined; constant: unknown };
type Encoder = DriverValueEncoder<unknown, unknown>;

function slotOf(param: unknown): Slot {
  if (is(param, Placeholder)) return { name: param.name, encoder: undefined };
  if (!is(param, Param) || !is(param.value, Placeholder)) return { name: undefined, constant: param };
  const { encoder, value } = param;
  const isPlain = encoder.mapToDriverValue === Column.prototype.mapToDriverValue;
  return { name: value.name, encoder: isPlain ? undefined : encoder };
}

function boundValue(slot: Slot, given: Record<string, unknown>): unknown {
  if (slot.name === undefined) return slot.constant;
  const value = given[slot.name];
  if (value === undefined && !(slot.name in given)) {
    throw new Error(`No value for placeholder "${slot.name}" was provided`);
  }
  return slot.encoder ? slot.encoder.mapToDriverValue(value) : value;
}

interface FlatColumn {
  name: string;
  /** undefined where a value is what the driver says */
  decoder: DriverValueDecoder<unknown, unknown> | undefined;
}

/** @returns undefined when a row is more than one flat object of columns */
function flatColumns(fields: SelectedFieldsOrdered): FlatColumn[] | undefined {
  const columns: FlatColumn[] = [];
  for (const { path, field } of fields) {
    const [name, ...rest] = path;
    if (name === undefined || rest.length > 0 || !is(field, Column)) return undefined;
    const isPlain = field.mapFromDriverValue === Column.prototype.mapFromDriverValue;
    columns.push({ name, decoder: isPlain ? undefined : field });
  }
  return columns;
}

function objectOf(columns: readonly FlatColumn[], values: readonly unknown[]): Record<string, unknown> {
  const row: Record<string, unknown> = {};
  let index = 0;
  for (const { name, decoder } of columns) {
    const value = values[index++];
    row[name] = value === null || decoder === undefined ? value : decoder.mapFromDriverValue(value);
  }
  return row;
}
