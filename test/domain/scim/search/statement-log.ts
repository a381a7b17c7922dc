// Records every statement that runs on any connection of this process: its text and the rows that it returns.
import { Database, type Statement } from "bun:sqlite";

export interface RunStatement {
  sql: string;
  rows: number;
}

export interface StatementLog extends Disposable {
  /** @returns the statements since the last call */
  take(): RunStatement[];
}

/** Statements whose presence depends on when a turn of the event loop ends. */
const ABOUT_NO_ROWS = /^(?:BEGIN|COMMIT|ROLLBACK|PRAGMA)\b/;
const RUNNING = ["all", "get", "run", "values"] as const;

/** Statements compiled before the start are not recorded, so start it before the database is opened. */
export function listenToStatements(): StatementLog {
  const { prepare } = Database.prototype;
  let heard: RunStatement[] = [];
  const listening = (sql: string, compiled: Statement): Statement => {
    for (const way of RUNNING) {
      const run = compiled[way].bind(compiled);
      Object.defineProperty(compiled, way, {
        value: (...bound: Parameters<typeof run>) => {
          const result: unknown = run(...bound);
          if (!ABOUT_NO_ROWS.test(sql))
            heard.push({ sql, rows: Array.isArray(result) && way !== "get" ? result.length : 1 });
          return result;
        },
      });
    }
    return compiled;
  };
  const replace = (value: unknown) =>
    Object.defineProperty(Database.prototype, "prepare", { value, configurable: true, writable: true });
  replace(function (this: Database, sql: string) {
    return listening(sql, prepare.call(this, sql));
  });
  return {
    take: () => heard.splice(0),
    [Symbol.dispose]() {
      replace(prepare);
      heard = [];
    },
  };
}
