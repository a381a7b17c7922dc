// Compiled statements by what they depend on, as many as are worth keeping. For statements that are known when the
// program is written, see `statement` in platform/database/database.ts.

/** Keeps the statements used last. */
export class StatementCache<S> {
  readonly #statements = new Map<string, S>();

  /** @param max statements kept at most */
  constructor(private readonly max: number) {}

  /** @returns the statement of that key, compiled where it is not known or was dropped */
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
