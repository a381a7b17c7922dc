// Fetches the archive of a commit into a file, from the API of its host or through git. The usual limits of archives apply.
import { open } from "node:fs/promises";
import { openInlineWriter } from "../../../platform/blobs/piece-writer.ts";
import { isDiskFull } from "../../../platform/errors.ts";
import { readOwnPieces } from "../../../platform/files/data-files.ts";
import { releasing } from "../../../platform/memory/releasing.ts";
import { discardBody } from "../../../platform/outbound/discard-body.ts";
import { ARCHIVE_LIMITS } from "../archive/limits.ts";
import type { Connection } from "../connections/connection.ts";
import type { Coordinates } from "../connections/coordinates.ts";
import { diskFull, sourceFault } from "../connections/errors.ts";
import { HOSTS } from "../connections/hosts/hosts.ts";
import type { HostRequests } from "../connections/hosts/requests.ts";
import { answeredNoArchive, expandsTooLarge, noPath, tooLarge } from "./host-archive.ts";
import { hostFileIn } from "./repack.ts";

export interface FetchedArchive {
  sizeBytes: number;
  sha256: string;
  compression: "gzip" | "none";
  /** UTC milliseconds; undefined unless the archive came through git */
  committedAtMs?: number | undefined;
}

interface Fetching {
  connection: Connection;
  coordinates: Coordinates;
  commit: string;
  /** folder that only this mirroring uses */
  folder: string;
}

const GZIP_MAGIC = [0x1f, 0x8b];

/**
 * Writes the archive to a file in the folder.
 * @returns facts about it
 * @throws DomainError `source.*`, `artifact.disk_full`
 */
export async function fetchHostArchive(requests: HostRequests, fetching: Fetching): Promise<FetchedArchive> {
  const { connection, coordinates, commit, folder } = fetching;
  const { repository, path } = coordinates;
  const { archivePath } = HOSTS[connection.provider];
  if (!archivePath) return await fetchThroughGit(requests, fetching);
  const response = await requests.archive(archivePath(repository, commit, path));
  if (!response) throw path === "" ? sourceFault("ref_not_found") : noPath(path);
  if (Number(response.headers.get("content-length") ?? 0) > ARCHIVE_LIMITS.compressedBytesMax) {
    await discardBody(response);
    throw hostTooLarge();
  }
  return await writeArchive(requests.pieces(response), hostFileIn(folder));
}

/** Git writes the file itself, so the digest needs a second read. */
async function fetchThroughGit(
  requests: HostRequests,
  { coordinates: { repository, path }, commit, folder }: Fetching,
): Promise<FetchedArchive> {
  const place = hostFileIn(folder);
  await using file = await open(place, "wx", 0o600);
  const bytesMax = ARCHIVE_LIMITS.expandedBytesMax;
  const target = { file: file.fd, path: place, bytesMax, refuse: () => expandsTooLarge(bytesMax) };
  const found = await requests.clones.archive(repository, { commit, path }, target).catch(refuseDiskFull);
  if (!found) throw noPath(path);
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const piece of releasing(readOwnPieces(place))) hasher.update(piece);
  const { size: sizeBytes } = await file.stat();
  return { ...found, sizeBytes, sha256: hasher.digest("hex"), compression: "none" };
}

async function writeArchive(pieces: AsyncIterable<Uint8Array>, path: string): Promise<FetchedArchive> {
  await using file = await open(path, "wx", 0o600);
  await using writer = openInlineWriter(file);
  let sizeBytes = 0;
  for await (const piece of releasing(pieces)) {
    if (sizeBytes === 0) refuseText(piece);
    sizeBytes += piece.byteLength;
    if (sizeBytes > ARCHIVE_LIMITS.compressedBytesMax) throw hostTooLarge();
    await writer.write(piece).catch(refuseDiskFull);
  }
  if (sizeBytes === 0) throw answeredNoArchive();
  return { sizeBytes, sha256: await writer.digest(), compression: "gzip" };
}

function refuseDiskFull(error: unknown): never {
  throw isDiskFull(error) ? diskFull(error) : error;
}

/** Refuses a sign-in page, for example. The first piece of an archive is longer than its magic number. */
function refuseText(piece: Uint8Array): void {
  if (GZIP_MAGIC.some((byte, at) => at < piece.byteLength && piece[at] !== byte)) throw answeredNoArchive();
}

const hostTooLarge = () =>
  tooLarge(`the archive of the host has more than ${ARCHIVE_LIMITS.compressedBytesMax} bytes`);
