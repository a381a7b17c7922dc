// The archive format of mirrored repositories, version 1: the same files give the same bytes on every machine, for years. It
// takes only names, executable bits and contents from the host. The compressor is a pinned library, because the output of the
// runtime's own compressor may change with its version and with the processor.
import { crc32 } from "node:zlib";
import { Deflate } from "fflate";
import { TAR_NAME_BYTES_MAX, tarEnd, tarHeader, tarPadding } from "../../../platform/files/tar.ts";
import { StreamGarbage } from "../../../platform/memory/garbage.ts";

/** Stored with each mirrored archive. Increase this number with every change of this file. */
export const MIRROR_FORMAT = 1;

/** The compressor forms blocks from the pieces that it receives, so every piece except the last has this length. */
const PIECE_BYTES = 64 * 1024;
/** Fixed, because the library's defaults depend on the length of the input. */
const COMPRESSION = { level: 4, mem: 4 } as const;
/** Header of a gzip member: deflate, no flags, no time, no hint about the compression, Unix (RFC 1952 section 2.3). */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
/** Name in the header of a member whose real name is in the preceding PAX record. */
const LONG_NAME = "long-name";
const PAX_NAME = "pax-header";

/** A file of the repository. */
export interface MirroredFile {
  /** relative to the root of the archive, without `.` and `..` components */
  path: string;
  isExecutable: boolean;
  sizeBytes: number;
}

/** The order of the format: by the bytes of the paths. */
export const inFormatOrder = (one: Pick<MirroredFile, "path">, other: Pick<MirroredFile, "path">): number =>
  Buffer.compare(Buffer.from(one.path), Buffer.from(other.path));

/**
 * Writes an archive piece by piece, so that memory never holds all of it.
 * @param output receives the compressed bytes
 */
export class MirrorWriter {
  readonly #deflate: Deflate;
  readonly #garbage = new StreamGarbage();
  readonly #piece = new Uint8Array(PIECE_BYTES);
  #filled = 0;
  #pushedBytes = 0;
  #checksum = 0;

  constructor(private readonly output: (bytes: Uint8Array) => void) {
    this.#deflate = new Deflate(COMPRESSION, output);
    output(GZIP_HEADER);
  }

  /** length of the unpacked archive so far */
  get expandedBytes(): number {
    return this.#pushedBytes + this.#filled;
  }

  /** Begins a file; call `write` with exactly `sizeBytes` of content, then `endFile`. */
  beginFile({ path, isExecutable, sizeBytes }: MirroredFile): void {
    const mode = isExecutable ? 0o755 : 0o644;
    if (Buffer.byteLength(path) > TAR_NAME_BYTES_MAX) {
      const record = paxPath(path);
      this.#take(tarHeader({ name: PAX_NAME, sizeBytes: record.byteLength, type: "x" }));
      this.#take(record);
      this.#take(tarPadding(record.byteLength));
      this.#take(tarHeader({ name: LONG_NAME, sizeBytes, mode }));
    } else this.#take(tarHeader({ name: path, sizeBytes, mode }));
  }

  /** @param piece of the content; the caller may reuse its memory afterwards */
  write(piece: Uint8Array): void {
    this.#take(piece);
  }

  endFile({ sizeBytes }: Pick<MirroredFile, "sizeBytes">): void {
    this.#take(tarPadding(sizeBytes));
  }

  /** Ends the archive. */
  end(): void {
    this.#take(tarEnd());
    this.#push({ isLast: true });
    const trailer = Buffer.alloc(8);
    trailer.writeUInt32LE(this.#checksum, 0);
    trailer.writeUInt32LE(this.#pushedBytes % 2 ** 32, 4);
    this.output(trailer);
  }

  #take(bytes: Uint8Array): void {
    for (let start = 0; start < bytes.byteLength; ) {
      const part = bytes.subarray(start, start + PIECE_BYTES - this.#filled);
      this.#piece.set(part, this.#filled);
      this.#filled += part.byteLength;
      start += part.byteLength;
      if (this.#filled === PIECE_BYTES) this.#push({ isLast: false });
    }
  }

  /**
   * The runtime computes the checksum, because the library's checksum takes a tenth of the total time. The format defines its value.
   */
  #push({ isLast }: { isLast: boolean }): void {
    const piece = this.#piece.subarray(0, this.#filled);
    this.#checksum = crc32(piece, this.#checksum);
    this.#deflate.push(piece, isLast);
    this.#pushedBytes += this.#filled;
    this.#garbage.add(this.#filled);
    this.#filled = 0;
  }
}

/** The length counts the whole record, including its own digits (POSIX.1-2017, pax, "pax Extended Header"). */
function paxPath(path: string): Uint8Array {
  const body = ` path=${path}\n`;
  const bytes = Buffer.byteLength(body);
  let length = bytes + String(bytes).length;
  if (bytes + String(length).length !== length) length += 1;
  return Buffer.from(`${length}${body}`);
}
