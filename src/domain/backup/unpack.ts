// Reads the bytes of a backup: walks its members in order, compares every digest, and copies database and files to the folders
// that the caller names. It runs in a worker, so it is synchronous. src/app/backup/restore.ts restores the files.
import { closeSync, fstatSync, fsyncSync, mkdirSync, openSync, readSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Value } from "@sinclair/typebox/value";
import { inspectDatabase } from "../../platform/database/maintenance/copy.ts";
import type { DomainError } from "../../platform/errors.ts";
import { openRegularFile } from "../../platform/files/operator-files.ts";
import { readTarHeader, TAR_BLOCK_BYTES, tarPaddingLength } from "../../platform/files/tar.ts";
import { damaged, notBackupFile } from "./errors.ts";
import { assertUsableDatabase } from "./fitness.ts";
import {
  DATABASE_NAME,
  type FileFolder,
  MANIFEST_BYTES,
  MANIFEST_NAME,
  type Manifest,
  ManifestSchema,
  memberOf,
  type PackedFiles,
  SEAL_NAME,
} from "./model.ts";
import { PIECE_BYTES, type Progress } from "./pack.ts";

export interface UnpackRequest {
  path: string;
  /** target of the database, which is checked there; it must not exist */
  database: string;
  /** folder that receives the artifacts, laid out as in a data directory; without it they are only checked */
  artifacts?: string;
  /** the same for captured sessions */
  sessions?: string;
}

/**
 * Reads a whole backup: every digest, SQLite's own check of the database, and its number of rows.
 * @throws DomainError `backup.damaged`, `backup.unreadable`, `file.*`, `storage.*`
 */
export function unpackBackup(request: UnpackRequest, progress: Progress = () => {}): Manifest {
  using reader = new Reader(request.path, progress);
  const manifest = reader.manifest();
  reader.expect(DATABASE_NAME, manifest.database, request.database);
  readFiles(reader, manifest.artifacts, { folder: "artifacts", target: request.artifacts });
  if (manifest.sessions)
    readFiles(reader, manifest.sessions, { folder: "sessions", target: request.sessions });
  reader.finish();
  checkDatabase(request, manifest);
  return manifest;
}

/**
 * Reads only the beginning and the end: the manifest, and whether the file was written completely.
 * @throws DomainError `backup.damaged`, `backup.unreadable`, `file.*`
 */
export function readManifest(path: string): Manifest & { fileBytes: number } {
  using reader = new Reader(path, () => {});
  const manifest = reader.manifest();
  reader.skipToSeal();
  reader.finish();
  return { ...manifest, fileBytes: reader.sizeBytes };
}

/** The noun for a file of each folder in messages. */
const NOUNS: Readonly<Record<FileFolder, string>> = { artifacts: "artifact", sessions: "captured session" };

function readFiles(
  reader: Reader,
  files: PackedFiles,
  { folder, target }: { folder: FileFolder; target: string | undefined },
): void {
  const noun = NOUNS[folder];
  const lines = new Bun.CryptoHasher("sha256");
  let [count, sizeBytes, last] = [0, 0, ""];
  while (count < files.count) {
    const { name, sizeBytes: bytes } = reader.next();
    const digest = name.split("/").at(-1) ?? "";
    if (!/^[0-9a-f]{64}$/.test(digest) || name !== memberOf(folder, digest))
      throw reader.damaged(`${name} is no ${noun}`);
    if (digest <= last) throw reader.damaged(`the ${noun} ${digest} occurs twice or is in the wrong place`);
    last = digest;
    const path = target === undefined ? undefined : `${target}/sha256/${digest.slice(0, 2)}/${digest}`;
    if (reader.body(bytes, path) !== digest)
      throw reader.damaged(`the ${noun} ${digest} has different bytes`);
    lines.update(`${digest} ${bytes}\n`);
    count += 1;
    sizeBytes += bytes;
  }
  const isAsDeclared = lines.digest("hex") === files.sha256 && sizeBytes === files.size_bytes;
  if (!isAsDeclared) throw reader.damaged(`its ${noun}s are not those of its manifest`);
}

function checkDatabase({ path, database }: UnpackRequest, manifest: Manifest): void {
  const inspected = inspectDatabase(database);
  assertUsableDatabase(path, inspected);
  const isAsDeclared =
    inspected.schema === manifest.schema && Bun.deepEquals(inspected.rows, manifest.database.rows);
  if (!isAsDeclared) throw damaged(path, "the row counts of its database differ from its manifest");
}

/** Header, digest and the two empty blocks that end a tar. */
const SEAL_MEMBER_BYTES = 4 * TAR_BLOCK_BYTES;

interface Member {
  name: string;
  sizeBytes: number;
}

class Reader {
  readonly sizeBytes: number;
  readonly #file: number;
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #position = 0;
  #manifestSha256 = "";

  constructor(
    private readonly path: string,
    private readonly progress: Progress,
  ) {
    this.#file = openRegularFile(path);
    this.sizeBytes = fstatSync(this.#file).size;
  }

  [Symbol.dispose](): void {
    closeSync(this.#file);
  }

  damaged(what: string): DomainError {
    return damaged(this.path, what);
  }

  manifest(): Manifest {
    const header = this.#take(TAR_BLOCK_BYTES);
    const member = header && memberIn(header);
    if (member?.name !== MANIFEST_NAME || member.sizeBytes !== MANIFEST_BYTES)
      throw notBackupFile(this.path, "it does not begin with a manifest");
    const bytes = this.#take(MANIFEST_BYTES);
    if (!bytes) throw notBackupFile(this.path, "it ends within its manifest");
    this.#manifestSha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");
    return manifestIn(bytes, this.path);
  }

  expect(name: string, declared: { size_bytes: number; sha256: string }, target: string): void {
    const member = this.next();
    if (member.name !== name || member.sizeBytes !== declared.size_bytes)
      throw this.damaged(`${name} is in the wrong place`);
    if (this.body(member.sizeBytes, target) !== declared.sha256)
      throw this.damaged(`${name} has different bytes`);
  }

  next(): Member {
    const header = this.#take(TAR_BLOCK_BYTES);
    if (!header) throw this.damaged("it is truncated");
    const member = memberIn(header);
    if (!member) throw this.damaged(`there is no member at byte ${this.#position - TAR_BLOCK_BYTES}`);
    return member;
  }

  /** Copies the bytes to the target durably. @returns their digest */
  body(sizeBytes: number, target?: string): string {
    const hasher = new Bun.CryptoHasher("sha256");
    if (target !== undefined) mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    const file = target === undefined ? undefined : openSync(target, "wx", 0o600);
    try {
      for (let left = sizeBytes; left > 0; ) {
        const bytes = this.#take(Math.min(left, PIECE_BYTES));
        if (!bytes) throw this.damaged("it is truncated");
        hasher.update(bytes);
        if (file !== undefined) writeAll(file, bytes);
        left -= bytes.length;
        this.progress(this.#position, this.sizeBytes);
      }
      if (file !== undefined) fsyncSync(file);
    } finally {
      if (file !== undefined) closeSync(file);
    }
    this.#skipZeros(tarPaddingLength(this.#position));
    return hasher.digest("hex");
  }

  /** Refuses anything but zeros, because no digest covers these bytes. */
  #skipZeros(length: number): void {
    const bytes = this.#take(length);
    if (!bytes) throw this.damaged("it is truncated");
    if (bytes.some((byte) => byte !== 0)) throw this.damaged("there is data between its members");
  }

  /** Continues with the last member without reading the ones in between. */
  skipToSeal(): void {
    this.#position = this.sizeBytes - SEAL_MEMBER_BYTES;
  }

  /** The last member proves that the manifest is unchanged and that nothing is missing. */
  finish(): void {
    const header = this.#take(TAR_BLOCK_BYTES);
    const member = header && memberIn(header);
    if (member?.name !== SEAL_NAME) throw this.damaged("its end is missing; the file is truncated");
    const seal = `${this.#manifestSha256}  ${MANIFEST_NAME}\n`;
    const isSealed = member.sizeBytes === seal.length && this.#take(seal.length)?.toString() === seal;
    if (!isSealed) throw this.damaged("its manifest was changed");
    this.#skipZeros(tarPaddingLength(this.#position) + 2 * TAR_BLOCK_BYTES);
    if (this.#position !== this.sizeBytes) throw this.damaged("data follows its end");
  }

  /** @returns the next bytes, which the next call overwrites; undefined at the end of the file */
  #take(length: number): Buffer | undefined {
    for (let done = 0; done < length; ) {
      const read = readSync(this.#file, this.#piece, done, length - done, this.#position + done);
      if (read === 0) return undefined;
      done += read;
    }
    this.#position += length;
    return this.#piece.subarray(0, length);
  }
}

function manifestIn(bytes: Buffer, path: string): Manifest {
  let json: unknown;
  try {
    json = JSON.parse(bytes.toString());
  } catch {
    throw notBackupFile(path, "its manifest is not JSON");
  }
  if (Value.Check(ManifestSchema, json)) return json;
  throw notBackupFile(path, "its manifest has an unknown format; a newer program may read it");
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let offset = 0; offset < bytes.length; ) {
    offset += writeSync(file, bytes, offset, bytes.length - offset);
  }
}

/** @returns undefined unless it is the header of a regular file */
export function memberIn(block: Buffer): Member | undefined {
  const header = readTarHeader(block);
  if (header?.type !== "0" || header.sizeBytes === undefined) return undefined;
  return { name: Buffer.from(header.path).toString("latin1"), sizeBytes: header.sizeBytes };
}
