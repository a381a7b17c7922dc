// Statements of drizzle that run many times. drizzle looks up the decoder of a column for every value, and the encoder of every
// parameter. That takes longer than a lookup by key and leaves kilobytes of garbage. Here they are looked up once per statement.
import type { Changes, Database, SQLQueryBindings, Statement } from "bun:sqlite";
import { Column, is, NoopLogger, noopDecoder, Param, Placeholder, SQL } from "drizzle-orm";
import { PreparedQuery, SQLiteBunSession } from "drizzle-orm/bun-sqlite";
import type { PreparedQueryConfig, SelectedFieldsOrdered, SQLiteSyncDialect } from "drizzle-orm/sqlite-core";

type Session = SQLiteBunSession<Record<string, never>, Record<string, never>>;
type Config = Omit<PreparedQueryConfig, "run">;

type Prepared = Statement<unknown, SQLQueryBindings[]>;

/** Prepared statements by connection. They must be collectable, because some callers prepare one for a single list. */
const kept = new WeakMap<Database, Set<WeakRef<Prepared>>>();
const collected = new FinalizationRegistry<() => void>((forget) => forget());

/** Closes a connection and its statements: SQLite keeps the file and its log open while statements exist. */
export function closeWithStatements(connection: Database): void {
  for (const prepared of kept.get(connection) ?? []) prepared.deref()?.finalize();
  kept.delete(connection);
  connection.close();
}

/** Leaves two kinds of statements to drizzle: those that return anything but plain columns, and those that run once. */
export class QuickSession extends SQLiteBunSession<Record<string, never>, Record<string, never>> {
  readonly #kept: Set<WeakRef<Prepared>>;

  constructor(
    private readonly connection: Database,
    dialect: SQLiteSyncDialect,
  ) {
    super(connection, dialect, undefined);
    this.#kept = kept.get(connection) ?? new Set();
    kept.set(connection, this.#kept);
  }

  override prepareQuery<T extends Config>(...given: Given): PreparedQuery<T> {
    const [query, fields, method, isArray, mapper] = given;
    const { sql, params } = query;
    const statement: Prepared = this.connection.prepare(sql);
    this.#keep(statement);
    if (!fields && !mapper) return new QuickChange<T>(given, statement, params.map(writerOf));
    const members = mapper ? undefined : membersOf(fields);
    const parameters = parametersOf(params);
    if (!members || !parameters)
      return new PreparedQuery<T>(statement, query, new NoopLogger(), fields, method, isArray, mapper);
    return new QuickQuery<T>(given, statement, { members, parameters });
  }

  #keep(statement: Prepared): void {
    const reference = new WeakRef(statement);
    this.#kept.add(reference);
    collected.register(statement, () => this.#kept.delete(reference));
  }

  override prepareOneTimeQuery(...given: Parameters<Session["prepareOneTimeQuery"]>) {
    const [query, fields, method, isArray, mapper] = given;
    return new OneTimeQuery([query, fields, method, isArray, mapper], this.connection.prepare(query.sql));
  }
}

type Given = Parameters<Session["prepareQuery"]>;

/** Finalizes its statement after its single run instead of at a later garbage collection. */
class OneTimeQuery<T extends Config> extends PreparedQuery<T> {
  constructor(
    [query, fields, method, isArray, mapper]: Given,
    private readonly statement: Prepared,
  ) {
    super(statement, query, new NoopLogger(), fields, method, isArray, mapper);
  }

  override run(values?: Record<string, unknown>): Changes {
    using _ = this.statement;
    return super.run(values);
  }

  override all(values?: Record<string, unknown>): T["all"] {
    using _ = this.statement;
    return super.all(values);
  }

  override get(values?: Record<string, unknown>): T["get"] {
    using _ = this.statement;
    return super.get(values);
  }

  override values(values?: Record<string, unknown>): T["values"] {
    using _ = this.statement;
    return super.values(values);
  }
}

/** @returns the value of one parameter */
type Writer = (values: Values) => SQLQueryBindings;

/** A statement that returns no rows. */
class QuickChange<T extends Config> extends PreparedQuery<T> {
  constructor(
    [query, fields, method, isArray]: Given,
    private readonly statement: Prepared,
    private readonly writers: readonly Writer[],
  ) {
    super(statement, query, new NoopLogger(), fields, method, isArray);
  }

  override run(values: Values = {}): Changes {
    return this.statement.run(...this.writers.map((write) => write(values)));
  }
}

/** A member of the row, in the order of the columns. */
interface Member {
  readonly name: string;
  /** undefined for a value that needs no conversion */
  readonly read: ((value: unknown) => unknown) | undefined;
}

/** A named parameter, or a constant. */
type Parameter = { readonly name: string } | { readonly value: SQLQueryBindings };

type Values = Readonly<Record<string, SQLQueryBindings>>;

class QuickQuery<T extends Config> extends PreparedQuery<T> {
  constructor(
    [query, fields, method, isArray]: Given,
    private readonly statement: Prepared,
    private readonly plan: { members: readonly Member[]; parameters: readonly Parameter[] },
  ) {
    super(statement, query, new NoopLogger(), fields, method, isArray);
  }

  override get(values?: Values): T["get"];
  override get(values: Values = {}): unknown {
    const [row] = this.statement.values(...this.#bind(values));
    return row && this.#read(row);
  }

  override all(values?: Values): T["all"];
  override all(values: Values = {}): unknown {
    return this.statement.values(...this.#bind(values)).map((row) => this.#read(row));
  }

  #bind(values: Values): SQLQueryBindings[] {
    const bound: SQLQueryBindings[] = [];
    for (const parameter of this.plan.parameters) {
      const value = "name" in parameter ? values[parameter.name] : parameter.value;
      if (value === undefined) throw new Error(`a value is missing for ${JSON.stringify(parameter)}`);
      bound.push(value);
    }
    return bound;
  }

  #read(row: readonly unknown[]): Record<string, unknown> {
    const { members } = this.plan;
    const result: Record<string, unknown> = {};
    for (let at = 0; at < members.length; at += 1) {
      const member = members[at];
      const value = row[at];
      if (member) result[member.name] = member.read && value !== null ? member.read(value) : value;
    }
    return result;
  }
}

/** @returns undefined unless each field is a column, or SQL whose value is used as it is, at the top level of the row */
function membersOf(fields: SelectedFieldsOrdered | undefined): Member[] | undefined {
  const members = fields?.flatMap(({ path: [name, ...deeper], field }): Member[] => {
    if (name === undefined || deeper.length > 0) return [];
    if (is(field, SQL) && "decoder" in field && field.decoder === noopDecoder)
      return [{ name, read: undefined }];
    if (!is(field, Column)) return [];
    const isStored = field.mapFromDriverValue === Column.prototype.mapFromDriverValue;
    return [{ name, read: isStored ? undefined : (value) => field.mapFromDriverValue(value) }];
  });
  return members?.length === fields?.length ? members : undefined;
}

/** @returns undefined if drizzle must convert a parameter each time */
function parametersOf(params: readonly unknown[]): Parameter[] | undefined {
  const parameters = params.flatMap((param): Parameter[] => {
    if (is(param, Placeholder)) return [{ name: param.name }];
    return isBinding(param) ? [{ value: param }] : [];
  });
  return parameters.length === params.length ? parameters : undefined;
}

function writerOf(param: unknown): Writer {
  if (is(param, Placeholder)) return (values) => valueIn(values, param.name);
  if (!is(param, Param) || !is(param.value, Placeholder)) return () => bindingOf(param);
  const { encoder } = param;
  const { name } = param.value;
  if (encoder.mapToDriverValue === Column.prototype.mapToDriverValue)
    return (values) => valueIn(values, name);
  return (values) => bindingOf(encoder.mapToDriverValue(valueIn(values, name)));
}

function valueIn(values: Values, name: string): SQLQueryBindings {
  const value = values[name];
  if (value !== undefined) return value;
  if (name in values) return null;
  throw new Error(`a value is missing for ${name}`);
}

function bindingOf(value: unknown): SQLQueryBindings {
  if (isBinding(value) || value instanceof Uint8Array) return value;
  throw new Error(`not a database value: ${typeof value}`);
}

const isBinding = (value: unknown): value is SQLQueryBindings =>
  value === null || ["string", "number", "bigint", "boolean"].includes(typeof value);
