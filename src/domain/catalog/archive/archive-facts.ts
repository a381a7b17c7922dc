// Facts about an archive for the administrator who adds it to the policy: its paths, apparent downloads at run time, and the
// files from which layouts are proposed.
import {
  DOWNLOAD_SCAN_BYTES_MAX,
  DOWNLOADS_LISTED_MAX,
  findRuntimeDownloads,
  type RuntimeDownload,
} from "../sources/runtime-downloads.ts";
import { type ArchiveContents, type InspectOptions, inspectArchive } from "./archive.ts";
import type { TarEntry } from "./tar.ts";

/** Maximum number of paths that a response lists. */
export const PATHS_LISTED_MAX = 1_000;

export interface ArchiveFacts extends ArchiveContents {
  /** the first PATHS_LISTED_MAX paths, in the order of the archive */
  paths: string[];
  /** the first DOWNLOADS_LISTED_MAX */
  runtimeDownloads: RuntimeDownload[];
  /** paths of all files */
  files: string[];
}

/** Collects the facts of an archive while its entries are read or written. */
export class CollectedFacts {
  readonly paths: string[] = [];
  readonly files: string[] = [];
  readonly runtimeDownloads: RuntimeDownload[] = [];

  /** Adds an entry, in the order of the archive. */
  add(path: string, { kind }: Pick<TarEntry, "kind">): void {
    if (this.paths.length < PATHS_LISTED_MAX) this.paths.push(path);
    if (kind === "file") this.files.push(path);
  }

  /** @param content all bytes of a file of at most DOWNLOAD_SCAN_BYTES_MAX */
  search(path: string, content: Uint8Array): void {
    const left = DOWNLOADS_LISTED_MAX - this.runtimeDownloads.length;
    if (left > 0) this.runtimeDownloads.push(...findRuntimeDownloads(path, content).slice(0, left));
  }

  /** @returns the facts, after the end of the archive */
  end({ entries, expandedBytes }: ArchiveContents): ArchiveFacts {
    const { paths, files, runtimeDownloads } = this;
    return { entries, expandedBytes, paths, runtimeDownloads, files };
  }
}

/** Reads a whole archive. @throws DomainError as inspectArchive */
export async function readArchiveFacts(
  bytes: AsyncIterable<Uint8Array>,
  options: Pick<InspectOptions, "onOutdated"> = {},
): Promise<ArchiveFacts> {
  const facts = new CollectedFacts();
  const contents = await inspectArchive(bytes, {
    ...options,
    onEntry: (path, entry) => facts.add(path, entry),
    onFile: {
      fileBytesMax: DOWNLOAD_SCAN_BYTES_MAX,
      look: (path, content) => facts.search(path, content),
    },
  });
  return facts.end(contents);
}
