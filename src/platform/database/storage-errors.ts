// Translates SQLite errors: a violated constraint into the names of its columns, a failure of the machine into a DomainError
// with a next step.
import { SQLiteError } from "bun:sqlite";
import { DomainError } from "../errors.ts";

/** @returns the columns of the violated constraint (`users.email_key`); undefined for any other error */
export function uniqueViolation(error: unknown): string | undefined {
  const failure = sqliteErrorIn(error);
  if (failure?.code !== "SQLITE_CONSTRAINT_UNIQUE") return undefined;
  return failure.message.replace("UNIQUE constraint failed: ", "");
}

/** @returns the error of SQLite; drizzle wraps the errors of raw `sql` statements only */
export function sqliteErrorIn(error: unknown): SQLiteError | undefined {
  if (error instanceof SQLiteError) return error;
  return error instanceof Error && error.cause instanceof SQLiteError ? error.cause : undefined;
}

const DISK_FULL = {
  reason: "storage.full",
  message: "the disk is full, nothing was changed",
  hint: "free some space on the file system of the data directory, for example from old backups; see: df -h",
};

/** @param cause the error of the system; undefined for a write that is not attempted */
export const diskFull = (cause?: unknown) =>
  new DomainError("unavailable", DISK_FULL.reason, DISK_FULL.message, { hint: DISK_FULL.hint, cause });

/** @returns whether a write failed because the disk is full */
export const isDiskFull = (error: unknown): boolean =>
  error instanceof DomainError && error.reason === DISK_FULL.reason;

export const RESTORE =
  "keep a copy of the data directory, then restore the last good backup: quartermaster backup restore FILE";
const REACHABLE =
  "its owner must be able to read and write the data directory; quartermaster doctor shows what is wrong";

const STORAGE_ERRORS: Record<string, { reason: string; message: string; hint?: string }> = {
  SQLITE_FULL: DISK_FULL,
  SQLITE_IOERR_SHMSIZE: DISK_FULL, // the first process to open a database needs space for its -shm file
  SQLITE_BUSY: {
    reason: "storage.busy",
    message: "another process holds the database; try again",
    hint: "a backup tool or a SQLite shell may hold it: `fuser -v quartermaster.db` in the data directory names the process",
  },
  SQLITE_READONLY: {
    reason: "storage.not_permitted",
    message: "the database file is read-only",
    hint: REACHABLE,
  },
  SQLITE_CANTOPEN_SYMLINK: {
    reason: "storage.link",
    message: "the database file is a symbolic link",
    hint: "find out who created the link, replace it with the file itself, and run chmod 700 on the data directory",
  },
  SQLITE_CANTOPEN: {
    reason: "storage.failed",
    message: "the database file cannot be opened",
    hint: REACHABLE,
  },
  SQLITE_NOTADB: { reason: "storage.damaged", message: "the database file is not a database", hint: RESTORE },
  SQLITE_CORRUPT: { reason: "storage.damaged", message: "the database file is damaged", hint: RESTORE },
  SQLITE_IOERR: {
    reason: "storage.failed",
    message: "the disk reported an error",
    hint: "see the kernel log: journalctl -k",
  },
};

/** @returns a failure of the machine as a DomainError; any other error unchanged */
export function asStorageError(error: unknown): unknown {
  const code = sqliteErrorIn(error)?.code;
  const name = Object.keys(STORAGE_ERRORS).find((known) => code?.startsWith(known));
  const known = name === undefined ? undefined : STORAGE_ERRORS[name];
  if (!known) return error;
  const { reason, message, hint } = known;
  return new DomainError("unavailable", reason, message, { cause: error, ...(hint && { hint }) });
}
