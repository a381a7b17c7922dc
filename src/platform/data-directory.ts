// The one directory that holds everything: who may use it, where things are in it, and that only one server uses it.
import { Database } from "bun:sqlite";
import { accessSync, chmodSync, constants, existsSync, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DomainError } from "../domain/errors.ts";
import type { Clock } from "./clock.ts";
import { toRfc3339 } from "./clock.ts";

export interface DataDirectory {
  path: string;
  database: string;
  keys: string;
  artifacts: string;
  backups: string;
  lock: string;
}

const OWNER_ONLY = 0o700;

/**
 * Finds or makes the data directory, readable by its owner only.
 * @throws DomainError `data_dir.*`: not a directory, owned by somebody else, not writable, disk full
 */
export function openDataDirectory(path: string): DataDirectory {
  const absolute = resolve(path);
  makeDirectory(absolute);
  refuseForeignOwner(absolute);
  refuseReadOnly(absolute);
  return {
    path: absolute,
    database: join(absolute, "quartermaster.db"),
    keys: join(absolute, "keys"),
    artifacts: join(absolute, "artifacts"),
    backups: join(absolute, "backups"),
    lock: join(absolute, "server.lock"),
  };
}

function makeDirectory(path: string): void {
  try {
    if (!existsSync(path)) {
      mkdirSync(path, { recursive: true, mode: OWNER_ONLY });
      chmodSync(path, OWNER_ONLY);
    }
    if (!statSync(path).isDirectory()) throw notADirectory(path);
  } catch (error) {
    throw asDirectoryError(error, path);
  }
}

const notADirectory = (path: string): DomainError =>
  new DomainError("invalid", "data_dir.not_a_directory", `the data directory ${path} is a file`, {
    hint: "name a directory with --data-dir",
  });

function asDirectoryError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOSPC") {
    return new DomainError("unavailable", "storage.full", `the disk that holds ${path} is full`, {
      cause: error,
    });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new DomainError(
      "forbidden",
      "data_dir.not_writable",
      `the data directory ${path} cannot be made or opened`,
      {
        hint: "run as the owner of that directory, or name another with --data-dir",
        cause: error,
      },
    );
  }
  if (code === "ENOTDIR" || code === "EEXIST") return notADirectory(path);
  return error;
}

function refuseForeignOwner(path: string): void {
  const owner = statSync(path).uid;
  const self = process.geteuid?.() ?? owner;
  if (owner === self) return;
  throw new DomainError(
    "forbidden",
    "data_dir.foreign_owner",
    `the data directory ${path} belongs to user id ${owner}, and this runs as ${self}`,
    { hint: `run as that user, for example: sudo -u '#${owner}' quartermaster …` },
  );
}

function refuseReadOnly(path: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new DomainError(
      "forbidden",
      "data_dir.not_writable",
      `the data directory ${path} is not writable`,
      {
        hint: "check its permissions and that its file system is not mounted read-only",
        cause: error,
      },
    );
  }
}

/** Held by the one server of a data directory; the operating system lets go of it when the process dies. */
export interface ServerLock {
  release(): void;
}

/**
 * Takes the right to be the server of this directory, or says who has it.
 * @throws DomainError `data_dir.in_use`
 */
export function lockForServer(directory: DataDirectory, clock: Clock): ServerLock {
  const connection = new Database(directory.lock, { create: true, strict: true });
  chmodSync(directory.lock, 0o600);
  try {
    // A reserved SQLite lock is a kernel lock: it cannot outlive us, and others may still read who holds it.
    connection.run("CREATE TABLE IF NOT EXISTS holder (pid INTEGER, since TEXT)");
    connection.run("DELETE FROM holder");
    connection.query("INSERT INTO holder VALUES (?, ?)").run(process.pid, toRfc3339(clock.nowMs()));
    connection.run("BEGIN IMMEDIATE");
    return { release: () => connection.close() };
  } catch (error) {
    const holder = holderOf(connection);
    connection.close();
    throw new DomainError("conflict", "data_dir.in_use", inUse(directory, holder), {
      hint: "stop that server first, or name another directory with --data-dir",
      cause: error,
    });
  }
}

/** @returns whether a server runs on this directory now */
export function isServerRunning(directory: DataDirectory): boolean {
  if (!existsSync(directory.lock)) return false;
  const connection = new Database(directory.lock, { strict: true });
  try {
    connection.run("BEGIN IMMEDIATE");
    connection.run("ROLLBACK");
    return false;
  } catch {
    return true; // somebody holds the lock
  } finally {
    connection.close();
  }
}

interface Holder {
  pid: number;
  since: string;
}

function holderOf(connection: Database): Holder | undefined {
  try {
    return connection.query<Holder, []>("SELECT pid, since FROM holder LIMIT 1").get() ?? undefined;
  } catch {
    return undefined; // the lock file is unreadable: the message does without the name of the holder
  }
}

const inUse = (directory: DataDirectory, holder: Holder | undefined): string =>
  holder
    ? `the data directory ${directory.path} is in use by another server (process ${holder.pid}, since ${holder.since})`
    : `the data directory ${directory.path} is in use by another server`;
