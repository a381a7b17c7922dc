// Reads and writes files that an operator names, either whole and bounded or as a stream. Errors explain what is wrong with the file.
import { closeSync, constants, createReadStream, fstatSync, openSync } from "node:fs";
import { type FileHandle, lstat, open, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { codeOf, DomainError, isDiskFull } from "../errors.ts";

/** A regular file, ready for reading. */
export interface OpenedFile {
  sizeBytes: number;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Opens a regular file for reading once.
 * @throws DomainError `file.missing`, `file.not_permitted`, `file.not_regular`
 */
export async function openFile(path: string): Promise<OpenedFile> {
  return { sizeBytes: await sizeOfFile(path), bytes: readPieces(path) };
}

/**
 * Opens a regular file for a synchronous reader. A named pipe is refused, because waiting for it would block the process and
 * all its signal handlers.
 * @returns the descriptor, which the caller closes
 * @throws DomainError `file.missing`, `file.not_permitted`, `file.not_regular`
 */
export function openRegularFile(path: string): number {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (fstatSync(file).isFile()) return file;
    closeSync(file);
  } catch (error) {
    throw asFileError(error, path);
  }
  throw notRegular(path);
}

/**
 * Reads a file piece by piece. The first piece opens it. A node stream would open it right away, and without a reader it would
 * stay open or fail unobserved.
 * @param range a part of the file, in bytes
 */
export async function* readPieces(
  path: string,
  range?: { offset: number; length: number },
): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path, range && { start: range.offset, end: range.offset + range.length - 1 });
}

/**
 * @param bytesMax a larger file is refused before it is read
 * @throws DomainError `file.too_large`, and those of openFile
 */
export async function readFile(path: string, bytesMax: number): Promise<Uint8Array> {
  const sizeBytes = await sizeOfFile(path);
  if (sizeBytes > bytesMax) {
    throw new DomainError(
      "invalid",
      "file.too_large",
      `${path} has ${sizeBytes} bytes; at most ${bytesMax} are read`,
    );
  }
  await using file = await open(path, "r");
  return await file.readFile();
}

/** whole, or as parts to write in order */
export type FileText = string | AsyncIterable<string | Uint8Array>;

/**
 * Writes a file atomically: even after a power failure it is either the old one or the complete new one.
 * @throws DomainError `file.symbolic_link` for a link, whose creator would choose the target; `file.not_regular` for a folder
 * or a device; `file.missing` if the folder does not exist; `file.no_new_files`, `file.not_permitted`, `storage.full`
 */
export async function replaceFile(
  path: string,
  text: FileText,
  { mode = 0o644 }: { mode?: number } = {},
): Promise<void> {
  try {
    await refuseOther(path);
    const partial = `${path}.${process.pid}.partial`;
    try {
      await using file = await open(partial, "wx", mode);
      await writeDurably(file, text);
      await rename(partial, path);
    } finally {
      await rm(partial, { force: true });
    }
    await using folder = await open(dirname(path), "r");
    await folder.sync();
  } catch (error) {
    throw isMissing(error) ? await folderFault(dirname(path), error) : asFileError(error, path);
  }
}

/** Only a regular file may be replaced. */
async function refuseOther(path: string): Promise<void> {
  try {
    const found = await lstat(path);
    if (found.isSymbolicLink()) throw symbolicLink(path);
    if (!found.isFile()) throw notRegular(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
  }
}

async function writeDurably(file: FileHandle, text: FileText): Promise<void> {
  await file.writeFile(text);
  await file.sync();
}

async function sizeOfFile(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) {
      await using file = await open(path, "r"); // permissions are checked only here
      return (await file.stat()).size;
    }
  } catch (error) {
    throw asFileError(error, path);
  }
  throw notRegular(path);
}

const notRegular = (path: string): DomainError =>
  new DomainError("invalid", "file.not_regular", `${path} is not a regular file`);

const symbolicLink = (path: string): DomainError =>
  new DomainError("invalid", "file.symbolic_link", `${path} is a symbolic link`, {
    hint: "name the target of the link, or remove the link",
  });

const isMissing = (error: unknown): boolean => ["ENOENT", "ENOTDIR"].includes(String(codeOf(error)));

/** A missing folder may be an unmounted disk; creating it would fill the wrong disk. */
export const folderMissing = (folder: string, cause?: unknown): DomainError =>
  new DomainError("not_found", "file.missing", `there is no folder ${folder}`, {
    hint: "mount its disk, create the folder, or name a file elsewhere",
    cause,
  });

/** A folder such as /proc exists but reports every new file as missing. */
async function folderFault(folder: string, cause: unknown): Promise<DomainError> {
  const isThere = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isThere) return folderMissing(folder, cause);
  return new DomainError("invalid", "file.no_new_files", `no file can be created in ${folder}`, {
    hint: "name a file in another folder",
    cause,
  });
}

/** @returns the file system's error for `path` as a DomainError with a next step; any other error unchanged */
export function asFileError(error: unknown, path: string): unknown {
  const code = codeOf(error);
  if (isMissing(error)) {
    return new DomainError("not_found", "file.missing", `there is no file ${path}`, {
      hint: "check the path",
      cause: error,
    });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    return new DomainError("forbidden", "file.not_permitted", `${path} may not be used by this user`, {
      hint: "a command acts as the owner of the data directory, even when root starts it; name a file that this owner can use",
      cause: error,
    });
  }
  if (code === "ELOOP" || code === "ENAMETOOLONG") {
    const what = code === "ELOOP" ? "symbolic links that lead in a circle" : "a name that is too long";
    return new DomainError("invalid", "file.bad_path", `${path} has ${what}`, {
      hint: "check the path",
      cause: error,
    });
  }
  if (isDiskFull(error)) {
    return new DomainError("unavailable", "storage.full", `there is no room left for ${path}`, {
      cause: error,
    });
  }
  return error;
}
