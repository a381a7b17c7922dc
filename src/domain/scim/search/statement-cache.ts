// Compiled statements by their key, in a limited number. For statements that are fixed in the source, see `statement` in
// platform/database/database.ts.

/** Keeps the most recently used statements. */
export class StatementCache<S> {
  readonly #statements = new Map<string, S>();

  /** @param max maximum number of statements */
  constructor(private readonly max: number) {}

  /** @returns the statement of that key, compiled if it is not cached */
  get(key: string, compile: () => S): S {
    const known = this.#statements.get(key);
    const statement = known ?? compile();
    this.#statements.delete(key);
    this.#statements.set(key, statement);
    const [oldest] = this.#statements.keys();
    if (this.#statements.size > this.max && oldest !== undefined) this.#statements.delete(oldest);
    return statement;
  }
}
