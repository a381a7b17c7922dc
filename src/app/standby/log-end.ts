// Reads the end of the audit log in a database file. Nothing on the disk changes. tail.ts compares two databases.
import { lastEntry } from "../../domain/audit/log-store.ts";
import { type DataDirectory, placesIn } from "../../platform/data-directory/data-directory.ts";
import { type Connection, openReadOnlyDatabase } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import { openReadable } from "../doctor/readable-database.ts";

/** The newest audit entry. */
export interface LogEnd {
  id: number;
  /** UTC milliseconds */
  atMs: number;
  digest: string;
}

/** @throws DomainError `standby.replica_empty`, `storage.*` */
export function endOfLog(file: string): LogEnd {
  const end = reading(fileAlone(file), lastEntry);
  if (end) return end;
  throw new DomainError("unverified", "standby.replica_empty", "the database has no audit entries", {
    hint: "its installation was never set up",
  });
}

/** @returns places for a database file that belongs to no data directory */
export const fileAlone = (file: string): DataDirectory => ({ ...placesIn("/"), database: file });

/** Reads a database whose service may be running, or may have been killed. */
export function reading<T>(directory: DataDirectory, ask: (connection: Connection) => T): T {
  using readable = openReadable(directory);
  const db = openReadOnlyDatabase(readable.directory.database);
  try {
    return ask(db.read);
  } finally {
    void db.close();
  }
}
