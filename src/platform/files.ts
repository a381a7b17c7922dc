// Reads the files an operator names: whole and bounded, or as a stream, with an error that says what is the matter.
import { createReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { DomainError } from "../domain/errors.ts";

/** A regular file that is about to be read. */
export interface OpenedFile {
  sizeBytes: number;
  bytes: AsyncIterable<Uint8Array>;
}

/**
 * Opens a regular file for one reading.
 * @throws DomainError `file.missing`, `file.not_permitted`, `file.not_regular`
 */
export async function openFile(path: string): Promise<OpenedFile> {
  return { sizeBytes: await sizeOfFile(path), bytes: createReadStream(path) };
}

/**
 * @param bytesMax a larger file is refused before it is read
 * @throws DomainError `file.too_large` beside those of openFile
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

async function sizeOfFile(path: string): Promise<number> {
  try {
    const found = await stat(path);
    if (found.isFile()) {
      await using file = await open(path, "r"); // whether we may read it shows only now
      return (await file.stat()).size;
    }
  } catch (error) {
    throw asFileError(error, path);
  }
  throw new DomainError("invalid", "file.not_regular", `${path} is not a regular file`);
}

function asFileError(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT" || code === "ENOTDIR") {
    return new DomainError("not_found", "file.missing", `there is no file ${path}`, { cause: error });
  }
  if (code === "EACCES" || code === "EPERM") {
    return new DomainError("forbidden", "file.not_permitted", `${path} may not be read by this user`, {
      cause: error,
    });
  }
  return error;
}
