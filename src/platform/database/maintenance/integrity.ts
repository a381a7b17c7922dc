// Whether a database is sound: what SQLite finds wrong in its pages, and references to rows that are not there. Both read all of
// it. What follows from a finding is for whoever asks.
import type { Database } from "bun:sqlite";

/** Faults of each kind that are told. */
export const FAULTS_MAX = 20;

/** @returns what SQLite's integrity check finds wrong, FAULTS_MAX at most */
export const integrityProblems = (connection: Database): string[] =>
  connection
    .query<{ integrity_check: string }, []>(`PRAGMA integrity_check(${FAULTS_MAX})`)
    .all()
    .map((row) => row.integrity_check)
    .filter((text) => text !== "ok");

/** @returns for each reference to a row that is not there from which table to which, FAULTS_MAX at most */
export const foreignKeyViolations = (connection: Database): string[] =>
  connection
    .query<{ table: string; parent: string }, []>(
      `SELECT "table", parent FROM pragma_foreign_key_check LIMIT ${FAULTS_MAX}`,
    )
    .all()
    .map(({ table, parent }) => `from ${table} to ${parent}`);
