// The one directory with all data: its permissions, its paths, and the lock that allows only one server. database.ts,
// migrate.ts and sealing.ts define the content of its files.
import { accessSync, constants, mkdirSync, rmSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Clock } from "../clock.ts";
import { asStorageError, diskFull } from "../database/storage-errors.ts";
import { codeOf, DomainError, isDiskFull } from "../errors.ts";
import { permissionsText, refuseLink } from "../files/data-files.ts";
import { fileExists, refuseForeignOwner, switchToOwner } from "./owner.ts";
import {
  endedByCrash,
  holderFile,
  holderInParentheses,
  holderOf,
  isBusy,
  isLocked,
  type LockHolder,
  type ProcessLock,
  takeLock,
} from "./process-lock.ts";

export interface DataDirectory {
  path: string;
  database: string;
  keys: string;
  artifacts: string;
  /** objects of captured sessions in the local store */
  sessions: string;
  /** a damaged one stops nothing: see domain/inference/log */
  requestLogs: string;
  backups: string;
  /** repository archives that are being created */
  sources: string;
  lock: string;
  /** of the process that forwards inference on its own listener */
  forwardingLock: string;
  /** records that a database existed: see installation-marker.ts */
  marker: string;
  /** disk space for writes on a full disk: see files/disk-reserve.ts */
  reserve: string;
  /** facts about the running service: see service-state.ts */
  service: string;
  /** the term of this directory in the replica: see src/app/standby/own-term.ts */
  standby: string;
  /** how long the lease lets processes other than the service write: see src/app/standby/lease */
  lease: string;
  /** counts of sent and dropped spans, of the service and of the process that only forwards inference: see src/app/tracing */
  tracing: string;
  forwarderTracing: string;
}

const OWNER_ONLY = 0o700;

/**
 * Finds or creates the data directory, readable by its owner only. Root first becomes the owner of an existing one.
 * @throws DomainError `data_dir.*`: not a directory, owned by another user, not writable, disk full, or with a file that
 * its owner may not use
 */
export function openDataDirectory(path: string): DataDirectory {
  const directory = openExistingDirectory(path);
  assertAccessible(directory);
  return directory;
}

/** `openDataDirectory` without checking the content of the directory. @throws DomainError `data_dir.*` */
export function openExistingDirectory(path: string): DataDirectory {
  const absolute = resolve(path);
  switchToOwner(absolute);
  makeDirectory(absolute);
  refuseForeignOwner(absolute);
  refuseReadOnly(absolute);
  const places = placesIn(absolute);
  for (const file of filesIn(places)) refuseLink(file);
  return places;
}

/** Files that a symbolic link could redirect; each is also opened with O_NOFOLLOW. */
const filesIn = ({
  database,
  marker,
  lock,
  forwardingLock,
  service,
  standby,
  lease,
}: DataDirectory): string[] => [
  ...["", "-wal", "-shm", "-journal"].map((end) => `${database}${end}`),
  ...[lock, forwardingLock].flatMap((file) => [file, holderFile(file)]),
  ...[marker, service, standby, lease],
];

/** @returns the permissions of a data directory that others may use, as `0777`; undefined if only its owner may */
export function openMode({ path }: DataDirectory): string | undefined {
  const mode = statSync(path).mode & 0o777;
  return (mode & 0o077) === 0 ? undefined : `0${mode.toString(8)}`;
}

/** @returns the paths in a data directory, whether or not the files exist */
export const placesIn = (path: string): DataDirectory => ({
  path,
  database: join(path, "quartermaster.db"),
  keys: join(path, "keys"),
  artifacts: join(path, "artifacts"),
  sessions: join(path, "sessions"),
  requestLogs: join(path, "request-logs.db"),
  backups: join(path, "backups"),
  sources: join(path, "sources"),
  lock: join(path, "server.lock"),
  forwardingLock: join(path, "forwarding.lock"),
  marker: join(path, "installation.json"),
  reserve: join(path, "disk-reserve"),
  service: join(path, "run", "service.json"),
  standby: join(path, "standby.json"),
  lease: join(path, "run", "lease.json"),
  tracing: join(path, "run", "tracing.json"),
  forwarderTracing: join(path, "run", "tracing-forwarder.json"),
});

function makeDirectory(path: string): void {
  try {
    if (!fileExists(path)) mkdirSync(path, { recursive: true, mode: OWNER_ONLY });
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
  const code = codeOf(error);
  if (isDiskFull(error)) return diskFull(error);
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new DomainError(
      "forbidden",
      "data_dir.not_writable",
      `the data directory ${path} cannot be created or opened`,
      {
        hint: "run as the owner of that directory, or name another with --data-dir",
        cause: error,
      },
    );
  }
  if (code === "ENOTDIR" || code === "EEXIST") return notADirectory(path);
  return error;
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

/**
 * Without this check, SQLite only reports that it cannot open a file.
 * @throws DomainError `data_dir.not_permitted`, which names the first file or folder that this user may not use
 */
export function assertAccessible(directory: DataDirectory): void {
  const { path, database, keys, artifacts, sessions, backups, lock, service } = directory;
  const folders = [keys, artifacts, sessions, backups, dirname(service)];
  const files = [database, `${database}-wal`, `${database}-shm`, lock];
  const wrong =
    folders.find(isClosed(constants.R_OK | constants.W_OK | constants.X_OK)) ??
    files.find(isClosed(constants.R_OK | constants.W_OK));
  if (wrong === undefined) return;
  const { uid: owner } = statSync(path);
  throw new DomainError(
    "forbidden",
    "data_dir.not_permitted",
    `${wrong} (${permissionsText(statSync(wrong))}) cannot be used by the owner of the data directory, user id ${owner}`,
    { hint: permissionRemedy(path, owner) },
  );
}

/** @returns the command that gives everything in a data directory to its owner only */
export const permissionRemedy = (path: string, owner: number): string =>
  `as root: chown -R ${owner} '${path}' && chmod -R u+rwX,go= '${path}'`;

/** The reader of a missing file reports it. */
const isClosed =
  (access: number) =>
  (path: string): boolean => {
    try {
      accessSync(path, access);
      return false;
    } catch (error) {
      return Object(error).code !== "ENOENT";
    }
  };

/**
 * Acquires the lock that allows one server per directory, or reports its holder.
 * @throws DomainError `data_dir.in_use`; `storage.*`, `data_dir.*` if the lock file cannot be written
 */
export function lockForServer(directory: DataDirectory, clock: Clock): ProcessLock {
  return lockFor(directory.lock, { directory, clock, inUse });
}

/**
 * Acquires the lock that allows one process (the server, or a second process beside it) to forward inference on its own
 * listener, or reports its holder.
 * @throws DomainError `data_dir.forwarding`; `storage.*`, `data_dir.*` if the lock file cannot be written
 */
export function lockForForwarding(directory: DataDirectory, clock: Clock): ProcessLock {
  return lockFor(directory.forwardingLock, { directory, clock, inUse: alreadyForwarding });
}

interface Locking {
  directory: DataDirectory;
  clock: Clock;
  /** @returns the error that names the holder */
  inUse(directory: DataDirectory, cause: unknown): DomainError;
}

function lockFor(file: string, { directory, clock, inUse: taken }: Locking): ProcessLock {
  try {
    return takeLock(file, clock);
  } catch (error) {
    throw isBusy(error) ? taken(directory, error) : asDirectoryError(asStorageError(error), directory.path);
  }
}

/** @returns the server that runs on this directory now; `unknown` if it has not recorded itself yet */
export const findServer = ({ lock }: DataDirectory): LockHolder | "unknown" | undefined => holderOf(lock);

/** The same for the process that holds `lockForForwarding`. */
export const findForwarder = ({ forwardingLock }: DataDirectory): LockHolder | "unknown" | undefined =>
  holderOf(forwardingLock);

/** @returns whether a server runs on this directory now */
export const isServerRunning = ({ lock }: DataDirectory): boolean => isLocked(lock);

/** @returns whether the last server was killed, or the last process that forwarded inference, and has not started again */
export const hasCrashed = ({ lock, forwardingLock }: DataDirectory): boolean =>
  endedByCrash(lock) || endedByCrash(forwardingLock);

/** Removes the record of a killed process that may never start again, so that only one start follows its crash. */
export const forgetKilledForwarder = ({ forwardingLock }: DataDirectory): void => {
  if (endedByCrash(forwardingLock)) rmSync(holderFile(forwardingLock), { force: true });
};

const inUse = ({ path, lock }: DataDirectory, cause: unknown): DomainError =>
  new DomainError(
    "conflict",
    "data_dir.in_use",
    `the data directory ${path} is in use by another server${holderInParentheses(lock)}`,
    { hint: "stop that server first, or name another directory with --data-dir", cause },
  );

const alreadyForwarding = ({ path, forwardingLock }: DataDirectory, cause: unknown): DomainError =>
  new DomainError(
    "conflict",
    "data_dir.forwarding",
    `another process forwards the inference of the data directory ${path}${holderInParentheses(forwardingLock)}`,
    {
      hint: "run one `quartermaster serve --only proxy`, and beside it `quartermaster serve --only control`",
      cause,
    },
  );
