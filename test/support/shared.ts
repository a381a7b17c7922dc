// A server that takes longer to make than a test to run, made once for many tests of a file and put back after each.
import { afterAll, afterEach } from "bun:test";
import { type SQL, sql } from "drizzle-orm";
import type { Db } from "../../src/platform/database/database.ts";
import type { TestServer } from "./server.ts";
import { START_MS } from "./world.ts";

/**
 * For tests that leave alone what a server keeps in memory beside its rows: budgets, counters and open streams.
 * @param serverOf the server in what `create` makes
 * @returns a function that makes it when it is first called. It has the same rows, clock and empty log for each test
 */
export function shared<T extends AsyncDisposable>(
  create: () => Promise<T>,
  serverOf: (made: T) => TestServer,
): () => Promise<T> {
  let made: Promise<{ site: T; putBack: () => Promise<void> }> | undefined;
  afterEach(async () => {
    await (await made)?.putBack();
  });
  afterAll(async () => {
    await (await made)?.site[Symbol.asyncDispose]();
    made = undefined;
  });
  const make = async () => {
    const site = await create();
    return { site, putBack: remembered(serverOf(site)) };
  };
  return async () => {
    made ??= make();
    return (await made).site;
  };
}

/** @returns the same for plain servers */
export const sharedServer = <T extends TestServer>(create: () => Promise<T>): (() => Promise<T>) =>
  shared(create, (server) => server);

/** @returns what brings the server back to how it is now */
function remembered({ world, logged, provisionerCalls }: TestServer): () => Promise<void> {
  const statements = statementsFor(world.db);
  /** @returns what every commit of another connection changes: https://www.sqlite.org/pragma.html#pragma_data_version */
  const commits = () => world.db.read.get(sql`PRAGMA data_version`);
  let before = commits();
  return async () => {
    if (!Bun.deepEquals(commits(), before))
      await world.db.write((tx) => {
        for (const statement of statements) tx.run(statement);
      });
    before = commits();
    world.clock.set(START_MS);
    logged.length = 0;
    provisionerCalls.length = 0;
  };
}

/** @returns what makes the rows of all tables those of now */
function statementsFor({ read }: Db): SQL[] {
  // Without the tables of an index of texts, which cannot be written.
  const tables = read
    .values<[string]>(
      sql`SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name <> 'sqlite_schema'`,
    )
    .flat();
  const fill = (table: string): SQL[] => {
    const name = sql.identifier(table);
    const rows = read.values(sql`SELECT * FROM ${name}`);
    return [
      sql`DELETE FROM ${name}`,
      ...rows.map(
        (row) =>
          sql`INSERT INTO ${name} VALUES (${sql.join(
            row.map((value) => sql`${value}`),
            sql`, `,
          )})`,
      ),
    ];
  };
  return [sql`PRAGMA defer_foreign_keys = ON`, ...tables.flatMap(fill)];
}
