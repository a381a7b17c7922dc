// Facts about an archive for the administrator who adds it to the policy: what is in it, what it seems to download when it runs, and
// the files from which layouts are proposed.
import {
  DOWNLOAD_SCAN_BYTES_MAX,
  DOWNLOADS_LISTED_MAX,
  findRuntimeDownloads,
  type RuntimeDownload,
} from "../sources/runtime-downloads.ts";
import { type ArchiveContents, type InspectOptions, inspectArchive } from "./archive.ts";

/** Paths of the archive that an answer lists. */
export const PATHS_LISTED_MAX = 1_000;

export interface ArchiveFacts extends ArchiveContents {
  /** the first PATHS_LISTED_MAX of the archive, in its order */
  paths: string[];
  /** the first DOWNLOADS_LISTED_MAX */
  runtimeDownloads: RuntimeDownload[];
  /** paths of all files */
  files: string[];
}

/** Reads a whole archive. @throws DomainError as inspectArchive */
export async function readArchiveFacts(
  bytes: AsyncIterable<Uint8Array>,
  options: Pick<InspectOptions, "onOutdated"> = {},
): Promise<ArchiveFacts> {
  const [paths, files, runtimeDownloads]: [string[], string[], RuntimeDownload[]] = [[], [], []];
  const contents = await inspectArchive(bytes, {
    ...options,
    onEntry(path, { kind }) {
      if (paths.length < PATHS_LISTED_MAX) paths.push(path);
      if (kind === "file") files.push(path);
    },
    onFile: {
      fileBytesMax: DOWNLOAD_SCAN_BYTES_MAX,
      look(path, content) {
        const left = DOWNLOADS_LISTED_MAX - runtimeDownloads.length;
        if (left > 0) runtimeDownloads.push(...findRuntimeDownloads(path, content).slice(0, left));
      },
    },
  });
  return { ...contents, paths, runtimeDownloads, files };
}
