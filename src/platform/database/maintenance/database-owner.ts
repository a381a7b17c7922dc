// Reads the organization of a database without the domain. Works with any schema, even one that this program cannot use.
import type { Database } from "bun:sqlite";
import { DomainError } from "../../errors.ts";
import { fileSizeOf } from "../../files/disk.ts";
import { openConnection } from "../connection.ts";
import { asStorageError, sqliteErrorIn } from "../storage-errors.ts";

/** @returns the id of the organization; undefined if the database was never set up or belongs to another program */
export function organizationIn(connection: Database): string | undefined {
  try {
    return connection
      .query<{ id: string }, []>("SELECT id FROM organizations ORDER BY created_at_ms, id LIMIT 1")
      .get()?.id;
  } catch (error) {
    if (sqliteErrorIn(error)?.code === "SQLITE_ERROR") return undefined; // no such table, or one with other columns
    throw error;
  }
}

/**
 * @returns whether an installation was set up in the file. A database that cannot be read counts as one: it is damaged, and
 *   opening it reports that
 */
export function holdsInstallation(file: string): boolean {
  if (fileSizeOf(file) === 0) return false;
  try {
    const connection = openConnection(file, { readonly: true });
    try {
      return organizationIn(connection) !== undefined;
    } finally {
      connection.close();
    }
  } catch (error) {
    if (asStorageError(error) instanceof DomainError) return true;
    throw error;
  }
}
