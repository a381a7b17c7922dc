// Checks a published archive against the rules that every client applies. It reads a stream once and keeps no file bytes; the
// caller supplies the bytes and stores them.
import { ByteSource, metered } from "../../../platform/files/byte-source.ts";
import { gunzip, truncated } from "./bytes.ts";
import { ImportRules, type OnBroken } from "./import-rules.ts";
import { ARCHIVE_LIMITS, type ArchiveLimits, refusal } from "./limits.ts";
import { ArchivePaths, type RequiredPath } from "./paths.ts";
import { readTar, type TarEntry } from "./tar.ts";

export { ARCHIVE_LIMITS } from "./limits.ts";
export type { RequiredPath } from "./paths.ts";

export interface InspectOptions {
  /** overrides some of `ARCHIVE_LIMITS` */
  limits?: Partial<ArchiveLimits>;
  /** paths that the package's adapters name: the archive must contain all of them */
  requiredPaths?: readonly RequiredPath[];
  /**
   * receives each broken rule that clients do not check (archive/import-rules.ts), for an archive stored before these rules
   * existed; without it the first broken rule is thrown
   */
  onOutdated?: OnBroken | undefined;
  /** receives each accepted entry in order; a folder's path has no trailing slash */
  onEntry?: (path: string, entry: Pick<TarEntry, "kind" | "sizeBytes">) => void;
  /** receives the path and the bytes of each accepted file of at most `fileBytesMax` bytes */
  onFile?: { fileBytesMax: number; look(path: string, bytes: Uint8Array): void };
}

export interface ArchiveContents {
  /** files and folders, without metadata records */
  entries: number;
  /** length of the unpacked tar stream */
  expandedBytes: number;
}

/**
 * Reads a whole `.tar.gz` and stops at the first broken rule, except that all missing paths are reported together.
 * @param stream the compressed bytes; its errors are passed on
 * @throws DomainError of kind `unverified` with a reason `archive.<what>`
 * @source handbook: catalog-file, Archives
 */
export async function inspectArchive(
  stream: AsyncIterable<Uint8Array>,
  { limits: changed = {}, requiredPaths = [], onOutdated = raise, onEntry, onFile }: InspectOptions = {},
): Promise<ArchiveContents> {
  const limits = { ...ARCHIVE_LIMITS, ...changed };
  const compressed = compressedMeter(limits);
  const expanded = expandedMeter(limits);
  const source = new ByteSource(metered(gunzip(metered(stream, compressed)), expanded), truncated);
  const paths = new ArchivePaths();
  const rules = new ImportRules(onOutdated);
  let entries = 0;
  try {
    for await (const entry of readTar(source, limits)) {
      entries += 1;
      if (entries > limits.entriesMax) throw tooManyEntries(limits);
      const path = paths.add(entry, limits);
      rules.check({ path, mode: entry.mode });
      onEntry?.(path, entry);
      if (onFile && entry.kind === "file" && entry.sizeBytes <= onFile.fileBytesMax)
        onFile.look(path, await entry.read());
    }
  } finally {
    await source.close();
  }
  paths.require(requiredPaths);
  return { entries, expandedBytes: expanded.bytes };
}

const raise = (broken: Error): never => {
  throw broken;
};

const compressedMeter = ({ compressedBytesMax: max }: ArchiveLimits) => ({
  bytes: 0,
  max,
  refuse: () => refusal("too_large", `the archive has more than ${max} bytes`, SMALLER),
});

const expandedMeter = ({ expandedBytesMax: max }: ArchiveLimits) => ({
  bytes: 0,
  max,
  refuse: () => refusal("expands_too_large", `the archive unpacks to more than ${max} bytes`, SMALLER),
});

const tooManyEntries = ({ entriesMax }: ArchiveLimits) =>
  refusal("too_many_entries", `the archive has more than ${entriesMax} files and folders`, SMALLER);

const SMALLER = "leave out what the package does not need, or split it into several packages";
