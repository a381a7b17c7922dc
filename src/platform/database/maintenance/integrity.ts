// Finds damage in a database: errors in its pages, and references to missing rows. Both checks read the whole database.
import type { Database } from "bun:sqlite";

/** Maximum number of problems of each kind to report. */
export const FAULTS_MAX = 20;

/**
 * @returns the errors of SQLite's integrity check, at most FAULTS_MAX
 * @throws an error with the code SQLITE_NOMEM
 */
export const integrityProblems = (connection: Database): string[] =>
  damagesIn(
    connection
      .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${FAULTS_MAX})`)
      .all()
      .map((row) => row.integrity_check),
  );

/** SQLITE_NOMEM and SQLITE_IOERR_NOMEM: for lack of memory the check lists intact pages as damaged. */
const NO_MEMORY = /\berror code=(?:7|3082)\b/;

/** @param found the rows of an integrity check @returns the rows that report damage @throws as `integrityProblems` */
export function damagesIn(found: readonly string[]): string[] {
  if (found.some((text) => NO_MEMORY.test(text)))
    throw Object.assign(new Error("out of memory during the integrity check"), { code: "SQLITE_NOMEM" });
  return found.filter((text) => text !== "ok");
}

/** @returns the two tables of each reference to a missing row, at most FAULTS_MAX */
export const foreignKeyViolations = (connection: Database): string[] =>
  connection
    .query<{ table: string; parent: string }, []>(
      `SELECT "table", parent FROM pragma_foreign_key_check LIMIT ${FAULTS_MAX}`,
    )
    .all()
    .map(({ table, parent }) => `from ${table} to ${parent}`);
