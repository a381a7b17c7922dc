// Creates the reproducible archive of a commit from the archive that the host sent, file by file, and collects its facts. The
// service runs this in a separate process, because compressing takes seconds of processor time.
import { closeSync, fsyncSync, openSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DomainError, isDiskFull } from "../../../platform/errors.ts";
import { readOwnPieces } from "../../../platform/files/data-files.ts";
import { type ArchiveFacts, CollectedFacts } from "../archive/archive-facts.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits } from "../archive/limits.ts";
import { diskFull } from "../connections/errors.ts";
import { DOWNLOAD_SCAN_BYTES_MAX } from "../sources/runtime-downloads.ts";
import {
  expandsTooLarge,
  type FileTaker,
  type HostArchive,
  type HostArchiveOptions,
  notAnArchive,
  readHostArchive,
  SIZE_REMEDY,
  tooLarge,
} from "./host-archive.ts";
import { inFormatOrder, type MirroredFile, MirrorWriter } from "./mirror-format.ts";
import { Spool, writeFully } from "./spool.ts";

/** Files of one mirroring, in its folder. */
const HOST_FILE = "host-archive";
const SPOOL_FILE = "spool";
const MIRROR_FILE = "mirror.tar.gz";

/** @returns the path for the host's archive, before `repack` */
export const hostFileIn = (folder: string): string => join(folder, HOST_FILE);
/** @returns the path of the mirrored archive, after `repack` */
export const mirrorFileIn = (folder: string): string => join(folder, MIRROR_FILE);

export interface RepackTask extends HostArchiveOptions {
  /** folder that only this mirroring uses; contains the host's archive */
  folder: string;
}

export interface Repacked {
  facts: ArchiveFacts;
  /** digest of the mirrored archive, which is flushed to the disk */
  sha256: string;
  sizeBytes: number;
  /** skipped symbolic links */
  skipped: string[];
}

/** Runs a task in this thread or in another; the signal ends it. */
export type RunRepack = (task: RepackTask, options: { signal: AbortSignal }) => Promise<Repacked>;

/**
 * Writes the mirrored archive to the folder.
 * @returns its facts
 * @throws DomainError `invalid` `archive.*`, `source.*`; `unavailable` `artifact.disk_full`
 */
export async function repack({ folder, ...options }: RepackTask): Promise<Repacked> {
  try {
    return await repackIn(folder, options);
  } catch (error) {
    if (isDiskFull(error)) throw diskFull(error);
    if (!(error instanceof DomainError) || error.kind !== "unverified") throw error;
    throw asSourceFault(error);
  }
}

/** The host sent something other than an archive, such as a sign-in page. */
const NO_ARCHIVE = new Set(
  ["not_gzip", "not_tar", "corrupt", "truncated", "trailing_data"].map((what) => `archive.${what}`),
);

const BEYOND_LIMITS = new Set(
  ["expands_too_large", "too_many_entries", "file_too_large"].map((what) => `archive.${what}`),
);

/** Omits the hints of the archive reader, which are for people who pack an archive themselves. */
function asSourceFault({ reason, message, problems }: DomainError): DomainError {
  if (NO_ARCHIVE.has(reason))
    return notAnArchive(`the host sent something that is not an archive: ${message}`);
  return new DomainError("invalid", reason, message, {
    problems,
    ...(BEYOND_LIMITS.has(reason) && { hint: SIZE_REMEDY }),
  });
}

async function repackIn(folder: string, options: HostArchiveOptions): Promise<Repacked> {
  const read = (taker: FileTaker) => readHostArchive(readOwnPieces(hostFileIn(folder)), taker, options);
  try {
    return await writeMirror(folder, options, read);
  } catch (error) {
    if (!(error instanceof NotInOrder)) throw error;
  }
  rmSync(mirrorFileIn(folder));
  using spool = new Spool(join(folder, SPOOL_FILE));
  const found = await read(spool);
  return await writeMirror(folder, options, async (mirror) => {
    for (const file of spool.files.toSorted(inFormatOrder)) await mirror.add(file, spool.read(file));
    return found;
  });
}

/** @param fill adds all files */
async function writeMirror(
  folder: string,
  options: HostArchiveOptions,
  fill: (mirror: Mirror) => Promise<HostArchive>,
): Promise<Repacked> {
  const target = openSync(mirrorFileIn(folder), "wx", 0o600);
  try {
    const mirror = new Mirror(target, { ...ARCHIVE_LIMITS, ...options.limits });
    const { files, skipped } = await fill(mirror);
    const made = mirror.end(files);
    fsyncSync(target);
    return { ...made, skipped };
  } finally {
    closeSync(target);
  }
}

/** The host's order differs from the order of the format. This is rare, because git packs in the same order. */
class NotInOrder extends Error {}

/** Its entries were checked in the host's archive. Its length differs, because hosts write other headers. */
class Mirror implements FileTaker {
  readonly #facts = new CollectedFacts();
  readonly #hasher = new Bun.CryptoHasher("sha256");
  readonly #writer: MirrorWriter;
  /** the whole file, to be searched */
  readonly #content = Buffer.alloc(DOWNLOAD_SCAN_BYTES_MAX);
  #sizeBytes = 0;
  #last: MirroredFile | undefined;

  constructor(
    private readonly target: number,
    private readonly limits: ArchiveLimits,
  ) {
    this.#writer = new MirrorWriter((bytes) => this.#write(bytes));
  }

  /** @throws NotInOrder */
  async add(file: MirroredFile, content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    if (this.#last && inFormatOrder(this.#last, file) >= 0) throw new NotInOrder();
    this.#last = file;
    this.#facts.add(file.path, { kind: "file" });
    this.#writer.beginFile(file);
    if (file.sizeBytes <= DOWNLOAD_SCAN_BYTES_MAX) this.#writer.write(await this.#searched(file, content));
    else for await (const piece of content) this.#writer.write(piece);
    this.#writer.endFile(file);
    this.#refuseTooLarge();
  }

  end(entries: number): Pick<Repacked, "facts" | "sha256" | "sizeBytes"> {
    this.#writer.end();
    this.#refuseTooLarge();
    const facts = this.#facts.end({ entries, expandedBytes: this.#writer.expandedBytes });
    return { facts, sha256: this.#hasher.digest("hex"), sizeBytes: this.#sizeBytes };
  }

  /** Searches the content for downloads. @returns the content, which is valid until the next file */
  async #searched({ path }: MirroredFile, content: Parameters<FileTaker["add"]>[1]): Promise<Uint8Array> {
    let filled = 0;
    for await (const piece of content) {
      this.#content.set(piece, filled);
      filled += piece.byteLength;
    }
    const whole = this.#content.subarray(0, filled);
    this.#facts.search(path, whole);
    return whole;
  }

  #write(bytes: Uint8Array): void {
    const { compressedBytesMax } = this.limits;
    this.#sizeBytes += bytes.byteLength;
    if (this.#sizeBytes > compressedBytesMax)
      throw tooLarge(`the mirrored archive has more than ${compressedBytesMax} bytes`);
    this.#hasher.update(bytes);
    writeFully(this.target, bytes);
  }

  #refuseTooLarge(): void {
    const { expandedBytesMax } = this.limits;
    if (this.#writer.expandedBytes > expandedBytesMax) throw expandsTooLarge(expandedBytesMax);
  }
}
