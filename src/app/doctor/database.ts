// Checks the database file over a read-only connection: its schema, and with --deep SQLite's own integrity checks. Needs no keys
// and no settings.
import type { Database } from "bun:sqlite";
import { MINUTE_MS, toRfc3339 } from "../../platform/clock.ts";
import { openConnection } from "../../platform/database/connection.ts";
import {
  FAULTS_MAX,
  foreignKeyViolations,
  integrityProblems,
} from "../../platform/database/maintenance/integrity.ts";
import type { Replication } from "../../platform/database/maintenance/replication.ts";
import { programSchema, schemaIn } from "../../platform/database/schema/schema.ts";
import { schemaDifferences } from "../../platform/database/schema/schema-differences.ts";
import { asStorageError, RESTORE } from "../../platform/database/storage-errors.ts";
import type { Check, Finding } from "./finding.ts";

/**
 * @param remedy instructions for upgrading an older schema
 * @throws DomainError `schema.newer`, `schema.altered`, `storage.*`
 */
export function checkSchema(check: Check, file: string, remedy: string): Finding {
  const [found, program] = [schemaIn(file, { untouched: true }), programSchema()];
  if (found === program) return check.ok(`${found}, the schema of this program`);
  return check.warning(
    `the database has schema ${found}, but this program has ${program}`,
    `${remedy}; this copies the database first`,
  );
}

/** An unexpected trigger or view may change rows or hide them. */
export const checkObjects = (check: Check, file: string): Finding => {
  const schema = schemaIn(file, { untouched: true });
  return inFile(file, (connection) => {
    const differences = schemaDifferences(connection, schema);
    return differences.length === 0
      ? check.ok("tables, indexes and triggers match the migrations")
      : check.failed(
          differences.join("; "),
          "find out who created or changed them; restore the last backup made before the change: quartermaster backup restore FILE",
        );
  });
};

export const checkIntegrity = (check: Check, file: string): Finding =>
  inFile(file, (connection) => {
    const problems = integrityProblems(connection);
    return problems.length === 0
      ? check.ok("the integrity check of SQLite passes")
      : check.failed(
          `problems found by the integrity check of SQLite: ${amountOf(problems)}, first ${problems[0]}`,
          RESTORE,
        );
  });

/** Reports rows whose foreign key refers to a missing row. */
export const checkForeignKeys = (check: Check, file: string): Finding =>
  inFile(file, (connection) => {
    const broken = foreignKeyViolations(connection);
    if (broken.length === 0) return check.ok("all references between rows are valid");
    const detail = `references to missing rows: ${amountOf(broken)}, first ${broken[0]}`;
    return check.failed(detail, RESTORE);
  });

/** Replication copies the log within seconds, so a longer lag than this means that it has stopped. */
export const REPLICATION_LAG_MS = 5 * MINUTE_MS;

/** Runs only if the settings say that other software replicates the log. */
export function checkReplication(check: Check, { lastProgressMs, lastWriteMs }: Replication): Finding {
  const remedy = "check that Litestream runs, and read its log; for an example: quartermaster help backups";
  if (lastProgressMs === undefined)
    return check.warning("database.replicated is set, but Litestream has not copied anything", remedy);
  const detail = `Litestream last made progress at ${toRfc3339(lastProgressMs)}`;
  if (lastWriteMs === undefined || lastWriteMs - lastProgressMs <= REPLICATION_LAG_MS)
    return check.ok(detail);
  return check.failed(`${detail}, and the log was written at ${toRfc3339(lastWriteMs)}`, remedy);
}

const amountOf = ({ length }: readonly unknown[]): string =>
  length >= FAULTS_MAX ? `${FAULTS_MAX} or more` : String(length);

function inFile<T>(file: string, work: (connection: Database) => T): T {
  const connection = openConnection(file, { readonly: true, untouched: true });
  try {
    return work(connection);
  } catch (error) {
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}
