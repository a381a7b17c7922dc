// Makes the reproducible archive of a commit from the archive that its host sent, file to file, and collects its facts on the way.
// It runs in its own thread in the service, because compressing takes the processor for seconds.
import { closeSync, fsyncSync, openSync } from "node:fs";
import { join } from "node:path";
import { DomainError, isDiskFull } from "../../../platform/errors.ts";
import { readOwnPieces } from "../../../platform/own-files.ts";
import { type ArchiveFacts, CollectedFacts } from "../archive/archive-facts.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits } from "../archive/limits.ts";
import { diskFull } from "../connections/faults.ts";
import { DOWNLOAD_SCAN_BYTES_MAX } from "../sources/runtime-downloads.ts";
import {
  expandsTooLarge,
  type HostArchive,
  type HostArchiveOptions,
  notAnArchive,
  readHostArchive,
  SIZE_REMEDY,
  tooLarge,
} from "./host-archive.ts";
import { inFormatOrder, type MirroredFile, MirrorWriter } from "./mirror-format.ts";
import { Spool, type Spooled, writeFully } from "./spool.ts";

/** Files of one mirroring, in its folder. */
const HOST_FILE = "host-archive";
const SPOOL_FILE = "spool";
const MIRROR_FILE = "mirror.tar.gz";

/** @returns where the archive of the host belongs before `repack` */
export const hostFileIn = (folder: string): string => join(folder, HOST_FILE);
/** @returns where the mirrored archive is after `repack` */
export const mirrorFileIn = (folder: string): string => join(folder, MIRROR_FILE);

export interface RepackTask extends HostArchiveOptions {
  /** private to this mirroring; has the archive of the host */
  folder: string;
}

export interface Repacked {
  facts: ArchiveFacts;
  /** of the mirrored archive, which is on the disk */
  sha256: string;
  sizeBytes: number;
  /** symbolic links that were left out */
  skipped: string[];
}

/** Runs a task, in this thread or in another; the signal ends it. */
export type RunRepack = (task: RepackTask, options: { signal: AbortSignal }) => Promise<Repacked>;

/**
 * @returns the facts of the mirrored archive, which is then in the folder
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

/** The hints of the archive reader are left out: they are for people who pack an archive themselves. */
function asSourceFault({ reason, message, problems }: DomainError): DomainError {
  if (NO_ARCHIVE.has(reason))
    return notAnArchive(`the host sent something that is not an archive: ${message}`);
  return new DomainError("invalid", reason, message, {
    problems,
    ...(BEYOND_LIMITS.has(reason) && { hint: SIZE_REMEDY }),
  });
}

async function repackIn(folder: string, options: HostArchiveOptions): Promise<Repacked> {
  using spool = new Spool(join(folder, SPOOL_FILE));
  const archive = await readHostArchive(readOwnPieces(hostFileIn(folder)), spool, options);
  const target = openSync(mirrorFileIn(folder), "wx", 0o600);
  try {
    const limits = { ...ARCHIVE_LIMITS, ...options.limits };
    const written = writeMirror(target, { archive, spool, limits });
    fsyncSync(target);
    return { ...written, skipped: archive.skipped };
  } finally {
    closeSync(target);
  }
}

interface Mirroring {
  archive: HostArchive;
  spool: Spool;
  limits: ArchiveLimits;
}

/** Its entries are those of the host, which were checked. Its length differs, because hosts write other headers. */
function writeMirror(
  target: number,
  { archive, spool, limits }: Mirroring,
): Pick<Repacked, "facts" | "sha256" | "sizeBytes"> {
  const { compressedBytesMax, expandedBytesMax } = limits;
  const facts = new CollectedFacts();
  const hasher = new Bun.CryptoHasher("sha256");
  let sizeBytes = 0;
  const writer = new MirrorWriter((bytes) => {
    sizeBytes += bytes.byteLength;
    if (sizeBytes > compressedBytesMax)
      throw tooLarge(`the mirrored archive has more than ${compressedBytesMax} bytes`);
    hasher.update(bytes);
    writeFully(target, bytes);
  });
  const refuseTooLarge = () => {
    if (writer.expandedBytes > expandedBytesMax) throw expandsTooLarge(expandedBytesMax);
  };
  for (const file of inFormatOrder(archive.files)) {
    facts.add(file.path, { kind: "file" });
    writer.add(file, searched(spool, file, facts));
    refuseTooLarge();
  }
  writer.end();
  refuseTooLarge();
  const contents = { entries: archive.files.length, expandedBytes: writer.expandedBytes };
  return { facts: facts.end(contents), sha256: hasher.digest("hex"), sizeBytes };
}

/** Passes the content of a file on, and searches it for downloads unless it is large. */
function* searched(spool: Spool, file: MirroredFile & Spooled, facts: CollectedFacts): Generator<Uint8Array> {
  for (const piece of spool.read(file)) {
    if (file.sizeBytes <= DOWNLOAD_SCAN_BYTES_MAX) facts.search(file.path, piece);
    yield piece;
  }
}
