// Checks archives that are already stored. They stay usable when the rules for new archives become stricter; operators get a
// warning.
import type { Blobs, Digest } from "../../../platform/blobs/blobs.ts";
import { DomainError } from "../../../platform/errors.ts";
import { inspectArchive } from "./archive.ts";

/** Broken rules of one archive that are listed. */
export const OUTDATED_LISTED_MAX = 3;

/** Collects the broken rules of one stored archive. */
export class OutdatedList {
  readonly texts: string[] = [];

  readonly add = ({ message }: DomainError): void => {
    if (this.texts.length < OUTDATED_LISTED_MAX) this.texts.push(message);
  };
}

/**
 * Reads an intact stored archive again by the rules for new archives.
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

async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  for await (const piece of bytes) {
    signal?.throwIfAborted();
    yield piece;
  }
}
