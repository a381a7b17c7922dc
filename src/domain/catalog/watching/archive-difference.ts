// The files in which two stored archives differ.
import { ByteSource } from "../../../platform/files/byte-source.ts";
import { gunzip, truncated } from "../archive/bytes.ts";
import { ARCHIVE_LIMITS, quoted } from "../archive/limits.ts";
import { readTar } from "../archive/tar.ts";

export interface ArchiveDifference {
  /** paths, sorted; safe to print on a terminal */
  added: string[];
  changed: string[];
  removed: string[];
}

type Bytes = AsyncIterable<Uint8Array>;

/** @returns the paths of files that were added, changed and removed @throws DomainError `archive.*` for damaged bytes */
export async function archiveDifference(before: Bytes, after: Bytes): Promise<ArchiveDifference> {
  const former = await digestsIn(before);
  const current = await digestsIn(after);
  const paths = (digests: ReadonlyMap<string, string>, isListed: (path: string) => boolean) =>
    [...digests.keys()]
      .filter(isListed)
      .sort()
      .map((path) => quoted(path).slice(1, -1));
  return {
    added: paths(current, (path) => !former.has(path)),
    changed: paths(current, (path) => former.has(path) && former.get(path) !== current.get(path)),
    removed: paths(former, (path) => !current.has(path)),
  };
}

async function digestsIn(bytes: Bytes): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  const source = new ByteSource(gunzip(bytes), truncated);
  try {
    for await (const entry of readTar(source, ARCHIVE_LIMITS)) {
      if (entry.kind !== "file") continue;
      const hasher = new Bun.CryptoHasher("sha256");
      for await (const piece of entry.pieces()) hasher.update(piece);
      const isExecutable = ((entry.mode ?? 0) & 0o111) !== 0;
      digests.set(Buffer.from(entry.path).toString(), `${hasher.digest("hex")} ${isExecutable}`);
    }
  } finally {
    await source.close();
  }
  return digests;
}
