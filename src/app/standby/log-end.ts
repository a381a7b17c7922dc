// Reads where the audit log of a database file ends, and what it has after an entry of another one. The file belongs to no running
// installation, and nothing on the disk changes.
import { lastEntry, listFollowing } from "../../domain/audit/log-store.ts";
import { toRfc3339 } from "../../platform/clock.ts";
import { type DataDirectory, placesIn } from "../../platform/data-directory/data-directory.ts";
import { type Connection, openReadOnlyDatabase } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import { openReadable } from "../doctor/readable-database.ts";
import type { TermRecord } from "./terms.ts";

/** The newest audit entry. */
export interface LogEnd {
  id: number;
  /** UTC milliseconds */
  atMs: number;
  digest: string;
}

/** @throws DomainError `standby.replica_empty`, `storage.*` */
export function endOfLog(file: string): LogEnd {
  const end = reading({ ...placesIn("/"), database: file }, lastEntry);
  if (end) return end;
  throw new DomainError("unverified", "standby.replica_empty", "the database has no audit entries", {
    hint: "nothing was set up where it comes from",
  });
}

/** Audit entries of this machine that the machine that took over does not have. */
export interface Tail {
  entries: number;
  /** of the first and the last of them, UTC milliseconds */
  firstAtMs: number;
  lastAtMs: number;
  lastId: number;
}

/**
 * @param restored end of the log that another machine has restored
 * @returns undefined if it has every entry; `unrelated` if the two logs do not share that entry
 * @throws DomainError `storage.*`
 */
export function tailAfter(
  directory: DataDirectory,
  restored: NonNullable<TermRecord["restored"]>,
): Tail | "unrelated" | undefined {
  return reading(directory, (connection) => {
    const [shared, first] = listFollowing(connection, { after: restored.audit_id - 1, limit: 2 });
    if (shared?.id !== restored.audit_id || shared.digest !== restored.audit_digest) return "unrelated";
    const last = lastEntry(connection);
    if (!first || !last) return undefined;
    return { entries: last.id - shared.id, firstAtMs: first.atMs, lastAtMs: last.atMs, lastId: last.id };
  });
}

/** @returns one sentence for the operator; undefined if the other machine lacks nothing */
export function tailText(tail: Tail | "unrelated" | undefined): string | undefined {
  if (tail === undefined) return undefined;
  if (tail === "unrelated") return "the databases of the two machines have nothing in common";
  const { entries, firstAtMs, lastAtMs, lastId } = tail;
  const count = entries === 1 ? "1 audit entry" : `${entries} audit entries`;
  return `this machine has ${count} that the other one lacks, up to ${lastId}, from ${toRfc3339(firstAtMs)} to ${toRfc3339(lastAtMs)}`;
}

function reading<T>(directory: DataDirectory, ask: (connection: Connection) => T): T {
  using readable = openReadable(directory);
  const db = openReadOnlyDatabase(readable.directory.database);
  try {
    return ask(db.read);
  } finally {
    void db.close();
  }
}
