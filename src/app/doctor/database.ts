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

/** @throws DomainError `schema.newer`, `schema.altered`, `storage.*` */
export function checkSchema(check: Check, file: string): Finding {
  const [found, program] = [schemaIn(file, { untouched: true }), programSchema()];
  if (found === program) return check.ok(`${found}, as this program has it`);
  return check.warning(
    `the database has schema ${found}, and this program has ${program}`,
    "start the service, or run `quartermaster migrate up`; a copy is made first",
  );
}

/** An unexpected trigger or view may change rows or hide them. */
export const checkObjects = (check: Check, file: string): Finding => {
  const schema = schemaIn(file, { untouched: true });
  return inFile(file, (connection) => {
    const differences = schemaDifferences(connection, schema);
    return differences.length === 0
      ? check.ok("tables, indexes and triggers are those that the migrations make")
      : check.failed(
          differences.join("; "),
          "find out who made or changed them; restore the last backup from before: quartermaster backup restore FILE",
        );
  });
};

export const checkIntegrity = (check: Check, file: string): Finding =>
  inFile(file, (connection) => {
    const problems = integrityProblems(connection);
    return problems.length === 0
      ? check.ok("SQLite finds every page as it should be")
      : check.failed(`SQLite finds ${amountOf(problems)} wrong, first: ${problems[0]}`, RESTORE);
  });

/** Reports rows whose foreign key refers to a missing row. */
export const checkForeignKeys = (check: Check, file: string): Finding =>
  inFile(file, (connection) => {
    const broken = foreignKeyViolations(connection);
    if (broken.length === 0) return check.ok("every row that a row refers to is there");
    const detail = `references to rows that are not there: ${amountOf(broken)}, first ${broken[0]}`;
    return check.failed(detail, RESTORE);
  });

/** Replication copies the log within seconds, so a longer lag than this means that it has stopped. */
export const REPLICATION_LAG_MS = 5 * MINUTE_MS;

/** Runs only if the settings say that other software replicates the log. */
export function checkReplication(check: Check, { lastProgressMs, lastWriteMs }: Replication): Finding {
  const remedy = "see that it runs, and its log; an example: quartermaster help backups";
  if (lastProgressMs === undefined)
    return check.warning("database.replicated is set, and Litestream has copied nothing here", remedy);
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
