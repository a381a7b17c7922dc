// Reads archives that are already stored: lists and checks them. They stay usable when the rules for new archives become
// stricter; operators get a warning.
import type { Blobs, Digest } from "../../../platform/blobs/blobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import { inspectArchive } from "./archive.ts";

/** Maximum number of broken rules to list for one archive. */
export const OUTDATED_LISTED_MAX = 3;

/** Collects the broken rules of one stored archive. */
export class OutdatedList {
  readonly texts: string[] = [];

  readonly add = ({ message }: DomainError): void => {
    if (this.texts.length < OUTDATED_LISTED_MAX) this.texts.push(message);
  };
}

/**
 * Checks an intact stored archive against the rules for new archives.
 * @returns at most OUTDATED_LISTED_MAX rules that it breaks
 * @throws the signal's reason
 */
export async function outdatedRulesOf(
  blobs: Pick<Blobs, "read">,
  digest: Digest,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const outdated = new OutdatedList();
  try {
    await inspectArchive(watched(blobs.read(digest), signal), { onOutdated: outdated.add });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    outdated.add(error);
  }
  return outdated.texts;
}

/** Maximum number of entries to list for one archive. */
export const ENTRIES_LISTED_MAX = 1_000;

interface ListedEntry {
  path: string;
  kind: "file" | "directory";
  /** 0 for a folder */
  sizeBytes: number;
}

export interface ArchiveListing {
  /** the first ENTRIES_LISTED_MAX, in the order of the archive */
  listed: ListedEntry[];
  /** totals of the whole archive */
  entries: number;
  expandedBytes: number;
}

/**
 * Lists the content of a stored archive, even if it breaks rules for new archives.
 * @throws DomainError `archive.*` for damaged bytes; the signal's reason
 */
export async function listingOf(
  blobs: Pick<Blobs, "read">,
  digest: Digest,
  signal: AbortSignal | undefined,
): Promise<ArchiveListing> {
  const listed: ListedEntry[] = [];
  const totals = await inspectArchive(watched(blobs.read(digest), signal), {
    onOutdated: () => undefined,
    onEntry(path, { kind, sizeBytes }) {
      if (listed.length < ENTRIES_LISTED_MAX) listed.push({ path, kind, sizeBytes });
    },
  });
  return { listed, ...totals };
}

async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    signal?.throwIfAborted();
    yield piece;
  }
}
