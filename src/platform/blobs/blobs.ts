// Files addressed by the SHA-256 of their bytes: `<directory>/sha256/ab/<64 hex digits>`. A file appears under its digest only
// when all of its bytes are on the disk, so listed files are complete even after a power failure. The domain decides which
// files are needed, who may read them and what they must contain.
import { constants, existsSync, lstatSync, unlinkSync } from "node:fs";
import { access, mkdir, open, opendir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { codeOf, DomainError, isDiskFull } from "../errors.ts";
import { readOwnPieces } from "../files/data-files.ts";
import { type DiskSpace, diskSpace, isNearlyFull } from "../files/disk.ts";
import { readPieces } from "../files/operator-files.ts";
import { partialFileIn, sweepPartialFiles, undefinedIfMissing, unlinkIfThere } from "./partial-files.ts";
import { type OpenWriter, openInlineWriter } from "./piece-writer.ts";

declare const digestBrand: unique symbol;

/** SHA-256 as 64 lower-case hexadecimal digits; only `parseDigest` creates it. */
export type Digest = string & { readonly [digestBrand]: true };

interface PutOptions {
  /** the bytes must have this digest */
  expectedDigest?: Digest;
  /** the largest accepted size */
  maxBytes: number;
  /** called after each piece with the total number of bytes so far */
  onProgress?: (bytesDone: number) => void;
  /** checked between pieces: a stream that may stall must observe the same signal */
  signal?: AbortSignal;
  /** replaces a stored file, which may be damaged or not yet durable */
  replaces?: boolean;
  /** the stream never touches a piece again, so a thread may take it over */
  givesAway?: boolean;
  /** reads the whole file before it is stored; if it throws, nothing is stored */
  check?: (bytes: AsyncIterable<Uint8Array>, digest: Digest) => Promise<void>;
}

interface StoredBlob {
  digest: Digest;
  sizeBytes: number;
  /** false if the same bytes were already stored */
  isNew: boolean;
}

/** `full`: files can be read, and the next one may not fit. `unusable`: the folder is missing, or this user may not use it. */
export type StoreState = "usable" | "full" | "unusable";

export interface Blobs {
  /**
   * Stores the bytes of a local file or of a stream durably, or leaves nothing behind.
   * @throws DomainError `artifact.digest_mismatch`, `artifact.too_large`, `artifact.unreadable` (source file),
   *   `artifact.disk_full`; the signal's reason; errors of the stream or of `check`
   */
  put(source: string | AsyncIterable<Uint8Array>, options: PutOptions): Promise<StoredBlob>;
  /**
   * Moves a file into the store; does not touch it if the store already has the same bytes. The caller has flushed the
   * file and computed its digest.
   * @throws DomainError `artifact.disk_full`; the system's error `EXDEV` for a file on another file system
   */
  adopt(file: string, digest: Digest): Promise<void>;
  has(digest: Digest): Promise<boolean>;
  /** @returns the path of the bytes, whether or not they are stored */
  path(digest: Digest): string;
  /** @returns the bytes; reading them throws if there is no such file */
  read(digest: Digest): AsyncIterable<Uint8Array>;
  /** @returns bytes, or undefined if there is no such file */
  size(digest: Digest): number | undefined;
  /** @returns size in bytes and time of writing in UTC milliseconds; undefined if there is no such file */
  stat(digest: Digest): Promise<{ sizeBytes: number; modifiedAtMs: number } | undefined>;
  /** Reads the stored bytes again and compares them with their name. */
  verify(digest: Digest, options?: { signal?: AbortSignal }): Promise<"intact" | "damaged" | "missing">;
  /** @returns false if there was no such file */
  remove(digest: Digest): Promise<boolean>;
  /** Like `remove`, but synchronous, for a transaction that must delete before it commits. A power failure may undo it. */
  removeNow(digest: Digest): boolean;
  /** @returns whether files can be read and stored here, as far as this can be checked without storing one */
  state(): Promise<StoreState>;
  /** @returns the size and free space of the file system */
  space(): DiskSpace;
  /** Every stored digest, unordered. Each step lists one of 256 folders. */
  list(): AsyncGenerator<Digest>;
  /** Removes partial files of killed processes. @returns the number of files removed */
  sweepTemporary(): Promise<number>;
}

const DIGEST = /^[0-9a-f]{64}$/;

/** Files up to this size are written in the calling thread, because waking another thread takes about as long. */
export const INLINE_BYTES_MAX = 1024 ** 2;

/** @throws DomainError `artifact.digest_invalid` unless `text` is 64 lower-case hexadecimal digits */
export function parseDigest(text: string): Digest {
  if (isDigest(text)) return text;
  throw new DomainError(
    "invalid",
    "artifact.digest_invalid",
    "a digest is the SHA-256 of the bytes as 64 lower-case hexadecimal digits",
  );
}

const isDigest = (text: string): text is Digest => DIGEST.test(text);

/**
 * Opens the store in `directory`; creates it with mode 0700 if it does not exist.
 * @param writeElsewhere writes large files in a thread
 */
export async function openBlobs(directory: string, writeElsewhere = openInlineWriter): Promise<Blobs> {
  const root = join(directory, "sha256");
  await mkdir(root, { recursive: true, mode: 0o700 });
  const path = (digest: Digest) => join(root, digest.slice(0, 2), digest);
  const size = (digest: Digest) => statOrMissing(path(digest))?.size;
  return {
    path,
    read: (digest) => readOwnPieces(path(digest)),
    size,
    stat: async (digest) => {
      const found = statOrMissing(path(digest));
      return found && { sizeBytes: found.size, modifiedAtMs: Math.floor(found.mtimeMs) };
    },
    has: async (digest) => size(digest) !== undefined,
    put: (source, options) => put({ directory, path, writeElsewhere }, source, options),
    async adopt(file, digest) {
      if (statOrMissing(path(digest))) return;
      await moveDurably(file, path(digest)).catch((error: unknown) => throwStoreError(error, directory));
    },
    verify: (digest, options = {}) => verify(path(digest), digest, options.signal),
    remove: (digest) => remove(path(digest)),
    removeNow: (digest) => unlinkNow(path(digest)),
    state: () => stateOf(root),
    space: () => diskSpace(root),
    list: () => list(root),
    sweepTemporary: () => sweepPartialFiles(directory),
  };
}

interface Place {
  directory: string;
  path(digest: Digest): string;
  writeElsewhere: OpenWriter;
}

async function put(
  { directory, path, writeElsewhere }: Place,
  source: string | AsyncIterable<Uint8Array>,
  options: PutOptions,
): Promise<StoredBlob> {
  const isForThread = options.givesAway === true && options.maxBytes > INLINE_BYTES_MAX;
  const temporary = partialFileIn(directory);
  try {
    const written = await writeTemporary(temporary, source, {
      ...options,
      openWriter: isForThread ? writeElsewhere : openInlineWriter,
    });
    refuseMismatch(written.digest, options.expectedDigest);
    await options.check?.(readOwnPieces(temporary), written.digest);
    options.signal?.throwIfAborted();
    const target = path(written.digest);
    const isNew = statOrMissing(target) === undefined;
    if (isNew || options.replaces) await moveDurably(temporary, target);
    return { ...written, isNew };
  } catch (error) {
    throwStoreError(error, directory);
  } finally {
    await removePartial(temporary);
  }
}

/** After a rename there is nothing to remove, so no thread of the runtime needs to wake up. */
async function removePartial(file: string): Promise<void> {
  if (existsSync(file)) await rm(file, { force: true });
}

function throwStoreError(error: unknown, directory: string): never {
  if (!isDiskFull(error)) throw error;
  throw new DomainError("unavailable", "artifact.disk_full", `no room left in ${directory}`, {
    hint: "free some space on that file system, then try again",
    cause: error,
  });
}

async function writeTemporary(
  temporary: string,
  source: string | AsyncIterable<Uint8Array>,
  { maxBytes, onProgress, signal, openWriter }: PutOptions & { openWriter: OpenWriter },
): Promise<{ digest: Digest; sizeBytes: number }> {
  await using file = await open(temporary, "wx", 0o600);
  await using writer = openWriter(file);
  let sizeBytes = 0;
  for await (const chunk of typeof source === "string" ? readFile(source) : source) {
    signal?.throwIfAborted();
    sizeBytes += chunk.byteLength;
    if (sizeBytes > maxBytes) throw tooLarge(maxBytes);
    await writer.write(chunk);
    onProgress?.(sizeBytes);
  }
  const digest = parseDigest(await writer.digest());
  await file.sync();
  return { digest, sizeBytes };
}

async function* readFile(path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* readPieces(path);
  } catch (error) {
    throw new DomainError("invalid", "artifact.unreadable", `cannot read ${path} (${codeOf(error)})`, {
      hint: "name a regular file that this user may read",
      cause: error,
    });
  }
}

function refuseMismatch(actual: Digest, expected: Digest | undefined): void {
  if (expected === undefined || expected === actual) return;
  throw new DomainError(
    "unverified",
    "artifact.digest_mismatch",
    `the bytes have sha256 ${actual}, but ${expected} was expected`,
    { hint: "fetch the file again; if it is meant to differ, correct the expected digest" },
  );
}

const tooLarge = (maxBytes: number) =>
  new DomainError("invalid", "artifact.too_large", `the artifact has more than ${maxBytes} bytes`);

/** A new name is durable only after its folder is flushed; a new folder needs its parent flushed too. */
async function moveDurably(from: string, to: string): Promise<void> {
  const folder = dirname(to);
  const made = existsSync(folder) ? undefined : await mkdir(folder, { recursive: true, mode: 0o700 });
  await rename(from, to);
  await syncFolder(folder);
  if (made !== undefined) await syncFolder(dirname(folder));
}

async function syncFolder(folder: string): Promise<void> {
  await using opened = await open(folder, "r");
  await opened.sync();
}

async function verify(path: string, digest: Digest, signal: AbortSignal | undefined) {
  if (!statOrMissing(path)) return "missing";
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of readOwnPieces(path)) {
    signal?.throwIfAborted();
    hasher.update(chunk);
  }
  return hasher.digest("hex") === digest ? "intact" : "damaged";
}

async function remove(path: string): Promise<boolean> {
  if (!(await unlinkIfThere(path))) return false;
  await syncFolder(dirname(path));
  return true;
}

const stateOf = (root: string): Promise<StoreState> =>
  access(root, constants.R_OK | constants.W_OK | constants.X_OK).then(
    () => (isNearlyFull(diskSpace(root)) ? "full" : "usable"),
    () => "unusable",
  );

async function* list(root: string): AsyncGenerator<Digest> {
  for await (const shard of await opendir(root)) {
    if (!shard.isDirectory()) continue;
    for await (const { name } of await opendir(join(root, shard.name))) {
      if (isDigest(name) && name.startsWith(shard.name)) yield name;
    }
  }
}

/**
 * Ignores a link or folder at the path of an artifact; storing the artifact again replaces it. Runs synchronously,
 * because a thread of the runtime would take several times as long as the response.
 */
function statOrMissing(path: string): { size: number; mtimeMs: number } | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found?.isFile() ? found : undefined;
}

function unlinkNow(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    return undefinedIfMissing(error) ?? false;
  }
}
