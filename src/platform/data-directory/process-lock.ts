// A lock file that one process holds as long as it lives. SQLite's exclusive lock is a kernel lock, which never outlives the
// process. data-directory.ts explains the purpose of each lock.
import { type Database, SQLiteError, constants as sqlite } from "bun:sqlite";
import { chmodSync, existsSync, rmSync } from "node:fs";
import { type Clock, toRfc3339 } from "../clock.ts";
import { openSqliteFile } from "../database/sqlite-file.ts";
import { asStorageError } from "../database/storage-errors.ts";
import { readOwnFile, writeWholeFile } from "../files/data-files.ts";

export interface ProcessLock {
  release(): void;
}

/** The process that holds a lock, as it recorded itself. */
export interface LockHolder {
  processId: number;
  sinceMs: number;
}

/** How long a process that takes a lock waits for another process that probes it with `isLocked`. */
const LOCK_WAIT_MS = 250;

/** @throws an error that `isBusy` recognizes if another process holds the lock; DomainError `storage.*` */
export function takeLock(file: string, clock: Clock): ProcessLock {
  const connection = openLockFile(file);
  try {
    connection.run(`PRAGMA busy_timeout=${LOCK_WAIT_MS}`);
    connection.run("BEGIN EXCLUSIVE");
    const note = `process ${process.pid}, since ${toRfc3339(clock.nowMs())}\n`;
    writeWholeFile(holderFile(file), note);
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    release: () => {
      rmSync(holderFile(file), { force: true });
      connection.close();
    },
  };
}

/** @returns whether the last holder of the lock was killed: it leaves its record */
export const endedByCrash = (file: string): boolean => existsSync(holderFile(file)) && !isLocked(file);

const HOLDER = /^process (\d{1,10}), since (\S{1,40})$/m;

/** @returns the process that holds the lock now; `unknown` if it has not recorded itself yet */
export function holderOf(file: string): LockHolder | "unknown" | undefined {
  if (!isLocked(file)) return undefined;
  const [, processId, since = ""] = HOLDER.exec(holderText(file)) ?? [];
  const sinceMs = Date.parse(since);
  return processId === undefined || Number.isNaN(sinceMs)
    ? "unknown"
    : { processId: Number(processId), sinceMs };
}

/** @returns the holder in parentheses, for messages; empty if it has not recorded itself */
export function holderInParentheses(file: string): string {
  const text = holderText(file).trim();
  return text === "" ? "" : ` (${text})`;
}

/** @returns whether a process holds the lock now */
export function isLocked(file: string): boolean {
  if (!existsSync(file)) return false;
  const connection = openLockForReading(file);
  try {
    connection.query("SELECT 1 FROM sqlite_schema").get(); // a shared lock: two processes that check do not block each other
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw asStorageError(error);
  } finally {
    connection.close();
  }
}

function openLockForReading(file: string): Database {
  try {
    return openSqliteFile(file, sqlite.SQLITE_OPEN_READONLY);
  } catch (error) {
    throw asStorageError(error);
  }
}

function openLockFile(file: string): Database {
  try {
    const connection = openSqliteFile(file, sqlite.SQLITE_OPEN_READWRITE | sqlite.SQLITE_OPEN_CREATE);
    chmodSync(file, 0o600);
    return connection;
  } catch (error) {
    throw asStorageError(error);
  }
}

/** @returns whether the error means that another process holds the lock */
export const isBusy = (error: unknown): boolean =>
  error instanceof SQLiteError && error.code === "SQLITE_BUSY";

/** Written by the holder of the lock, for people; only the lock decides. */
export const holderFile = (file: string): string => `${file}.holder`;

const holderText = (file: string): string =>
  existsSync(holderFile(file)) ? readOwnFile(holderFile(file)).text : "";
