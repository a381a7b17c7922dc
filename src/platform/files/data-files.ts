// Files that this program creates in its data directory. Writes are atomic and durable. Reads follow no symbolic link, because anyone
// who can write into the directory could otherwise redirect its owner to any file. operator-files.ts is for files that an operator names.
import {
  closeSync,
  constants,
  createReadStream,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { DomainError } from "../errors.ts";

/** Size of the pieces to copy. */
const COPIED_BYTES = 1024 * 1024;
/** Opening a named pipe in place of a file must not block. */
const READ_OWN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Opens a regular file for a synchronous reader, which closes it.
 * @throws DomainError `data_dir.link` for a symbolic link, `data_dir.not_regular` for a folder, a pipe or a device; the
 *   system's error for any other failure
 */
export function openOwnFile(path: string): number {
  const file = refusingLink(path, () => openSync(path, READ_OWN));
  if (fstatSync(file).isFile()) return file;
  closeSync(file);
  throw notRegular(path);
}

/** @returns the text of the file and its mode @throws as `openOwnFile` */
export function readOwnFile(path: string): { text: string; mode: number } {
  const file = openOwnFile(path);
  try {
    return { text: readFileSync(file, "utf8"), mode: fstatSync(file).mode };
  } finally {
    closeSync(file);
  }
}

/** Reads a file piece by piece. It is opened when the first piece is requested. @throws as `openOwnFile` */
export async function* readOwnPieces(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path, READ_OWN).catch((error: unknown) => {
    throw asLinkError(error, path);
  });
  yield* createReadStream(path, { fd: file }); // closes the file
}

/** Copies to a new file that only this user can read. @throws as `openOwnFile`; an error if `to` exists */
export function copyOwnFile(from: string, to: string): void {
  const source = openOwnFile(from);
  try {
    const target = openSync(to, "wx", 0o600);
    try {
      const piece = Buffer.alloc(COPIED_BYTES);
      for (let read = readSync(source, piece); read > 0; read = readSync(source, piece))
        for (let offset = 0; offset < read; ) offset += writeSync(target, piece, offset, read - offset);
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** @returns who may use a file, as `mode 0640, of user id 1000` */
export const permissionsText = ({ mode, uid }: { mode: number; uid: number }): string =>
  `mode 0${(mode & 0o777).toString(8).padStart(3, "0")}, of user id ${uid}`;

/** @throws DomainError `data_dir.link` for a symbolic link; other problems are left to the reader of the file */
export function refuseLink(path: string): void {
  if (isLink(path)) throw linked(path);
}

function isLink(path: string): boolean {
  try {
    return lstatSync(path).isSymbolicLink();
  } catch {
    return false;
  }
}

/**
 * @throws DomainError `data_dir.not_regular` for a folder, a pipe or a device; other problems are left to the reader of the file
 */
export function refuseIrregular(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found && !found.isFile() && !found.isSymbolicLink()) throw notRegular(path);
}

/**
 * With SQLITE_OPEN_NOFOLLOW, SQLite refuses a link anywhere in the path. The data directory itself may be a link, as with
 * systemd's DynamicUser=.
 * @returns the path with every link resolved, except if the file itself is a link
 */
export function withoutFolderLinks(path: string): string {
  try {
    return join(realpathSync(dirname(path)), basename(path));
  } catch {
    return path; // the caller that opens it reports the problem
  }
}

/** Flushes a file's bytes, or the names in a directory, so that they survive a power failure. */
export function flushToDisk(path: string): void {
  const descriptor = openSync(path, "r");
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

/** Writes one of our files completely or not at all, even if the power fails; one writer at a time. */
export function writeWholeFile(path: string, text: string): void {
  replaceFile(path, text, { flush: true });
  flushToDisk(dirname(path));
}

/** Writes a file in `run/`, which a power failure makes obsolete: completely or not at all, without a flush; one writer at a time. */
export function writeRunFile(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  replaceFile(path, text, { flush: false });
}

function replaceFile(path: string, text: string, { flush }: { flush: boolean }): void {
  const partial = `${path}.partial`;
  rmSync(partial, { force: true }); // a killed writer left it, or it is a foreign link, which must not be followed
  writeFileSync(partial, text, { mode: 0o600, flush, flag: "wx" });
  renameSync(partial, path);
}

function refusingLink<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw asLinkError(error, path);
  }
}

const asLinkError = (error: unknown, path: string): unknown =>
  Object(error).code === "ELOOP" ? linked(path) : error;

const linked = (path: string): DomainError =>
  new DomainError("forbidden", "data_dir.link", `${path} is a symbolic link`, {
    hint: "find out who created the link, replace it with the file itself, and run chmod 700 on the data directory",
  });

const notRegular = (path: string): DomainError =>
  new DomainError("forbidden", "data_dir.not_regular", `${path} is not a regular file`, {
    hint: "find out who created it, replace it with the file itself, and run chmod 700 on the data directory",
  });
