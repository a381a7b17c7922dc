// Writes the bytes of a backup: manifest, database, artifacts and files of captured sessions as one tar, in one pass, piece by piece,
// with all digests. It is synchronous because it runs in a worker. The caller chooses the file and reports progress.
import {
  closeSync,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { codeOf, invariant } from "../../platform/errors.ts";
import { flushToDisk, openOwnFile } from "../../platform/files/data-files.ts";
import { tarEnd, tarHeader, tarPadding } from "../../platform/files/tar.ts";
import { damaged } from "./errors.ts";
import { requireFreeSpace } from "./free-space.ts";
import {
  DATABASE_NAME,
  type FileFolder,
  FORMAT,
  LEFT_OUT_MAX,
  MANIFEST_BYTES,
  MANIFEST_NAME,
  type Manifest,
  memberOf,
  type PackedFiles,
  SEAL_NAME,
} from "./model.ts";

export interface PackRequest {
  /** a complete copy of the database, which no process changes */
  database: string;
  /** folder of the artifacts */
  artifacts: string;
  /** folder of captured sessions; without it they are left out */
  sessions?: string | undefined;
  /** the finished file; it must not exist */
  target: string;
  /** its name until it is complete */
  partial: string;
  facts: Omit<Manifest, "format" | "database" | "artifacts" | "sessions"> & {
    rows: Manifest["database"]["rows"];
  };
}

export interface Packed {
  manifest: Manifest;
  sizeBytes: number;
}

/** called after each piece with the bytes done so far and the total */
export type Progress = (doneBytes: number, totalBytes: number) => void;

export const PIECE_BYTES = 1024 * 1024;
/** Flushing a gigabyte in one call would make the service's commits wait for the disk. */
const FLUSH_EVERY_BYTES = 32 * PIECE_BYTES;
const MODE = 0o600;

/**
 * Writes a backup that is either complete and on the disk, or absent. Skips and reports an artifact whose bytes do not match
 * its name, so that one damaged artifact does not prevent all backups.
 * @throws DomainError `storage.full`
 */
export function packBackup(request: PackRequest, progress: Progress = () => {}): Packed {
  const { target, partial, facts, artifacts, sessions } = request;
  const { rows, ...told } = facts;
  const totalBytes =
    statSync(request.database).size + bytesIn(artifacts) + (sessions === undefined ? 0 : bytesIn(sessions));
  const writer = new Writer(partial, {
    mtime: Math.floor(Date.parse(facts.created_at) / 1000),
    report: (doneBytes) => progress(doneBytes, totalBytes),
  });
  try {
    requireFreeSpace(dirname(partial), totalBytes);
    const manifestAt = writer.reserve(MANIFEST_NAME, MANIFEST_BYTES);
    const database = writer.copy(DATABASE_NAME, request.database);
    const manifest: Manifest = {
      format: sessions === undefined ? FORMAT.plain : FORMAT.withSessions,
      ...told,
      database: { size_bytes: database.sizeBytes, sha256: database.sha256, rows },
      artifacts: packFiles(writer, "artifacts", artifacts),
      ...(sessions !== undefined && { sessions: packFiles(writer, "sessions", sessions) }),
    };
    const sizeBytes = writer.finish(manifestBytes(manifest), manifestAt);
    renameSync(partial, target);
    flushToDisk(dirname(target));
    return { manifest, sizeBytes };
  } finally {
    writer.close();
  }
}

function packFiles(writer: Writer, folder: FileFolder, path: string): PackedFiles {
  const lines = new Bun.CryptoHasher("sha256");
  const kept = { count: 0, size_bytes: 0 };
  const damaged: string[] = [];
  for (const file of filesIn(path)) {
    const { digest } = file;
    const start = writer.position();
    const copied =
      folder === "sessions" ? copyIfThere(writer, file) : writer.copy(memberOf(folder, digest), file.path);
    if (copied === undefined) continue;
    if (copied.sha256 === digest) {
      lines.update(`${digest} ${copied.sizeBytes}\n`);
      kept.count += 1;
      kept.size_bytes += copied.sizeBytes;
    } else {
      writer.rewind(start);
      damaged.push(digest);
    }
  }
  return { ...kept, sha256: lines.digest("hex"), left_out: damaged.slice(0, LEFT_OUT_MAX) };
}

/** @returns undefined if the file is missing, because retention may remove captured sessions during the backup */
function copyIfThere(writer: Writer, { digest, path }: StoredFile): Copied | undefined {
  try {
    return writer.copy(memberOf("sessions", digest), path);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

interface StoredFile {
  digest: string;
  path: string;
}

interface Copied {
  sizeBytes: number;
  sha256: string;
}

/** Sorted by digest. Files with other names are unfinished. */
function* filesIn(directory: string): Generator<StoredFile> {
  const root = join(directory, "sha256");
  if (!existsSync(root)) return;
  for (const shard of readdirSync(root).sort())
    for (const digest of readdirSync(join(root, shard)).sort())
      if (/^[0-9a-f]{64}$/.test(digest) && digest.startsWith(shard))
        yield { digest, path: join(root, shard, digest) };
}

function bytesIn(directory: string): number {
  let bytes = 0;
  for (const { path } of filesIn(directory)) bytes += statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  return bytes;
}

/** Pads with spaces, which JSON allows at its end. */
function manifestBytes(manifest: Manifest): Buffer {
  const text = JSON.stringify(manifest, null, 1);
  invariant(Buffer.byteLength(text) <= MANIFEST_BYTES, "a manifest fits into its reserved space");
  const bytes = Buffer.alloc(MANIFEST_BYTES, " ");
  bytes.write(text);
  bytes[MANIFEST_BYTES - 1] = 0x0a;
  return bytes;
}

class Writer {
  readonly #file: number;
  readonly #piece = Buffer.alloc(PIECE_BYTES);
  #position = 0;
  #done = 0;

  constructor(
    path: string,
    private readonly dependencies: { mtime: number; report(doneBytes: number): void },
  ) {
    this.#file = openSync(path, "wx", MODE);
  }

  position(): number {
    return this.#position;
  }

  /** Overwrites the bytes that begin at the position. */
  rewind(position: number): void {
    this.#position = position;
  }

  /** Begins a member whose bytes come later. @returns the position of its bytes */
  reserve(name: string, sizeBytes: number): number {
    this.#begin(name, sizeBytes);
    const at = this.#position;
    this.#position += sizeBytes;
    return at;
  }

  copy(name: string, path: string): Copied {
    const source = openOwnFile(path);
    try {
      const { size: sizeBytes } = fstatSync(source);
      this.#begin(name, sizeBytes);
      const hasher = new Bun.CryptoHasher("sha256");
      let left = sizeBytes;
      while (left > 0) {
        const read = readSync(source, this.#piece, 0, Math.min(left, PIECE_BYTES), null);
        if (read === 0) throw damaged(path, "it became shorter while it was read");
        const bytes = this.#piece.subarray(0, read);
        hasher.update(bytes);
        this.#write(bytes);
        left -= read;
        this.#done += read;
        if (this.#done % FLUSH_EVERY_BYTES < read) fsyncSync(this.#file);
        this.dependencies.report(this.#done);
      }
      this.#write(tarPadding(sizeBytes));
      return { sizeBytes, sha256: hasher.digest("hex") };
    } finally {
      closeSync(source);
    }
  }

  /** Writes the manifest into its reserved space, and its digest at the end. @returns the size of the file */
  finish(manifest: Buffer, manifestAt: number): number {
    const sha256 = new Bun.CryptoHasher("sha256").update(manifest).digest("hex");
    const seal = Buffer.from(`${sha256}  ${MANIFEST_NAME}\n`);
    this.#begin(SEAL_NAME, seal.length);
    this.#write(seal);
    this.#write(tarPadding(seal.length));
    this.#write(tarEnd());
    const sizeBytes = this.#position;
    ftruncateSync(this.#file, sizeBytes);
    this.#position = manifestAt;
    this.#write(manifest);
    fsyncSync(this.#file);
    return sizeBytes;
  }

  close(): void {
    closeSync(this.#file);
  }

  #begin(name: string, sizeBytes: number): void {
    this.#write(tarHeader({ name, sizeBytes, mode: MODE, modifiedAtSeconds: this.dependencies.mtime }));
  }

  #write(bytes: Uint8Array): void {
    for (let offset = 0; offset < bytes.length; ) {
      const written = writeSync(this.#file, bytes, offset, bytes.length - offset, this.#position);
      offset += written;
      this.#position += written;
    }
  }
}
