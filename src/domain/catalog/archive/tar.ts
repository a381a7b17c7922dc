// Walks a tar stream from header to header and yields its files and folders; their bytes are skipped unless requested. Refuses
// everything else that tar can express; paths.ts decides which paths are allowed.
import type { DomainError } from "../../../platform/errors.ts";
import type { ByteSource } from "../../../platform/files/byte-source.ts";
import {
  isZeros,
  readTarHeader,
  TAR_BLOCK_BYTES,
  type TarHeader,
  tarPaddingLength,
  ZEROS,
} from "../../../platform/files/tar.ts";
import { REPACK, truncated } from "./bytes.ts";
import { type ArchiveLimits, quoted, refusal } from "./limits.ts";
import { type Naming, readGlobalPax, readLongName, readPax } from "./metadata.ts";

export interface TarEntry {
  kind: "file" | "directory";
  /** raw, neither checked nor decoded; a folder may end with a slash */
  path: Uint8Array;
  sizeBytes: number;
  /** undefined if the header has no octal number */
  mode: number | undefined;
}

/** An entry whose bytes may be requested before the next entry. */
export interface ReadableEntry extends TarEntry {
  /** @returns all bytes of the file, in memory, so check `sizeBytes` first; call it or `pieces` at most once */
  read(): Promise<Uint8Array>;
  /** @returns the bytes of the file piece by piece; unread bytes are skipped */
  pieces(): AsyncGenerator<Uint8Array>;
}

/** An entry that is neither a file nor a folder. */
export interface RefusedEntry {
  kind: "symbolic_link" | "other";
  /** raw, neither checked nor decoded */
  path: Uint8Array;
  /** @param path to name in the error @returns why the entry is refused */
  errorOf(path: Uint8Array): DomainError;
}

export interface TarOptions {
  /** receives links and special entries, which are skipped; without it the first one is thrown */
  onRefused?: (refused: RefusedEntry) => void;
  /** receives the comments of global headers */
  onComment?: (comment: string) => void;
}

const KINDS: Readonly<Record<string, TarEntry["kind"]>> = { "0": "file", "5": "directory" };
const LINKS: Readonly<Record<string, string>> = {
  "1": "a hard link",
  "2": "a symbolic link",
  K: "a link with a long target",
};
const SPECIALS: Readonly<Record<string, string>> = {
  "3": "a character device",
  "4": "a block device",
  "6": "a named pipe",
  S: "a sparse file",
};

const paddedLength = (length: number): number => length + tarPaddingLength(length);

type SizedHeader = TarHeader & { sizeBytes: number };

/** @throws DomainError `archive.not_tar` (checksum or format), `archive.corrupt` (size) */
export function readHeader(block: Uint8Array): SizedHeader {
  const header = readTarHeader(block);
  if (!header)
    throw refusal(
      "not_tar",
      "it contains something other than tar headers, or they are damaged",
      "pack it with GNU tar, bsdtar or any tar that writes the ustar format",
    );
  const { sizeBytes } = header;
  if (sizeBytes === undefined) throw refusal("corrupt", `the size of ${quoted(header.path)} is not a number`);
  return { ...header, sizeBytes };
}

/**
 * @param source the unpacked tar stream; it is read to its end
 * @throws DomainError with the reasons of this folder
 * @source POSIX.1-2017, pax, "ustar Interchange Format"
 */
export async function* readTar(
  source: ByteSource,
  limits: ArchiveLimits,
  { onRefused, onComment }: TarOptions = {},
): AsyncGenerator<ReadableEntry> {
  const metadata = new Metadata(source, { limits, onComment, skipsLinks: onRefused !== undefined });
  for (;;) {
    const block = await source.take(TAR_BLOCK_BYTES);
    if (isZeros(block)) break;
    const header = readHeader(block);
    if (await metadata.consume(header)) continue;
    const naming = metadata.takeNaming();
    const refused = onRefused && refusedIn(header, naming);
    if (refused) {
      onRefused(refused);
      continue;
    }
    const entry = entryOf(header, naming, limits);
    const body = new EntryBody(source, entry.sizeBytes);
    yield { ...entry, read: () => body.read(), pieces: () => body.pieces() };
    await body.skip();
  }
  metadata.refuseDangling();
  await refuseBytesAfterEnd(source);
}

/** The bytes of one file, which the caller may read partly. */
class EntryBody {
  #leftBytes: number;

  constructor(
    private readonly source: ByteSource,
    private readonly sizeBytes: number,
  ) {
    this.#leftBytes = paddedLength(sizeBytes);
  }

  read(): Promise<Uint8Array> {
    this.#leftBytes -= this.sizeBytes;
    return this.source.take(this.sizeBytes);
  }

  async *pieces(): AsyncGenerator<Uint8Array> {
    for (let left = this.sizeBytes; left > 0; ) {
      const piece = await this.source.some(left);
      if (piece.byteLength === 0) throw truncated();
      left -= piece.byteLength;
      this.#leftBytes -= piece.byteLength;
      yield piece;
    }
  }

  async skip(): Promise<void> {
    await this.source.skip(this.#leftBytes);
  }
}

/** Collects the metadata records of the next entry, within their limits. */
class Metadata {
  #naming: Naming | undefined;
  #totalBytes = 0;

  constructor(
    private readonly source: ByteSource,
    /** `skipsLinks`: accepts the long target of a link, because the link itself is skipped */
    private readonly options: {
      limits: ArchiveLimits;
      skipsLinks: boolean;
      onComment: TarOptions["onComment"] | undefined;
    },
  ) {}

  /** @returns false if the header is not a metadata record */
  async consume({ type, sizeBytes }: SizedHeader): Promise<boolean> {
    const isLinkTarget = type === "K" && this.options.skipsLinks;
    if (type !== "g" && type !== "x" && type !== "L" && !isLinkTarget) return false;
    this.#refuseTooLarge(sizeBytes);
    const body = (await this.source.take(paddedLength(sizeBytes))).subarray(0, sizeBytes);
    if (type === "g") this.#readGlobal(body);
    else if (!isLinkTarget) this.#keep(type === "x" ? readPax(body) : readLongName(body));
    return true;
  }

  #readGlobal(body: Uint8Array): void {
    const { comment } = readGlobalPax(body);
    if (comment !== undefined) this.options.onComment?.(comment);
  }

  takeNaming(): Naming {
    const naming = this.#naming ?? {};
    this.#naming = undefined;
    return naming;
  }

  refuseDangling(): void {
    if (this.#naming) throw refusal("metadata", "the last metadata record has no entry after it", REPACK);
  }

  /** Readers disagree on the path of an entry with two records. */
  #keep(naming: Naming): void {
    if (this.#naming) throw refusal("metadata", "two metadata records precede one entry", REPACK);
    this.#naming = naming;
  }

  #refuseTooLarge(sizeBytes: number): void {
    const { metadataRecordBytesMax, metadataTotalBytesMax } = this.options.limits;
    this.#totalBytes += sizeBytes;
    if (sizeBytes > metadataRecordBytesMax) {
      throw refusal(
        "metadata_too_large",
        `a long name or PAX record has ${sizeBytes} bytes; at most ${metadataRecordBytesMax} are allowed`,
      );
    }
    if (this.#totalBytes > metadataTotalBytesMax) {
      throw refusal(
        "metadata_too_large",
        `long names and PAX records have more than ${metadataTotalBytesMax} bytes together`,
      );
    }
  }
}

function entryOf(header: SizedHeader, naming: Naming, { fileBytesMax }: ArchiveLimits): TarEntry {
  const path = naming.path ?? header.path;
  const sizeBytes = naming.sizeBytes ?? header.sizeBytes;
  const kind = kindOf(header.type, path);
  if (kind === "directory" && sizeBytes > 0) {
    throw refusal("corrupt", `the folder ${quoted(path)} has a size, which only files have`, REPACK);
  }
  if (sizeBytes > fileBytesMax) {
    throw refusal(
      "file_too_large",
      `${quoted(path)} has ${sizeBytes} bytes; a file may have at most ${fileBytesMax}`,
    );
  }
  return { kind, path, sizeBytes, mode: header.mode };
}

/** @returns undefined for a file or a folder @throws DomainError `archive.corrupt` for a link with content */
function refusedIn({ type, path: short, sizeBytes }: SizedHeader, naming: Naming): RefusedEntry | undefined {
  if (KINDS[type]) return undefined;
  const path = naming.path ?? short;
  if ((naming.sizeBytes ?? sizeBytes) > 0)
    throw refusal("corrupt", `${quoted(path)} is not a file and has a size`, REPACK);
  return {
    kind: type === "2" ? "symbolic_link" : "other",
    path,
    errorOf: (known) => refusedKind(type, known),
  };
}

function kindOf(type: string, path: Uint8Array): TarEntry["kind"] {
  const kind = KINDS[type];
  if (kind) return kind;
  throw refusedKind(type, path);
}

function refusedKind(type: string, path: Uint8Array): DomainError {
  const link = LINKS[type];
  const what = link ?? SPECIALS[type] ?? `an entry of the unknown type ${quoted(type)}`;
  return refusal(
    link ? "link" : "special",
    `${quoted(path)} is ${what}; only regular files and folders are allowed`,
    link
      ? "pack the files themselves: tar -h follows links, --hard-dereference keeps hard links apart"
      : REPACK,
  );
}

/** Two zero blocks end an archive, and only zeros may follow, because some readers would continue. */
async function refuseBytesAfterEnd(source: ByteSource): Promise<void> {
  let rest = await source.take(TAR_BLOCK_BYTES);
  while (rest.byteLength > 0) {
    if (!isZeros(rest)) throw refusal("trailing_data", "there is data after the end of the archive", REPACK);
    rest = await source.some(ZEROS.byteLength);
  }
}
