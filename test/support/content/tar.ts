// Builds tar archives byte by byte, also ones that no archiver would create: headers may contain anything.
import { constants, deflateRawSync, gzipSync } from "node:zlib";

const BLOCK = 512;
const NO_BYTES = new Uint8Array();
const encoder = new TextEncoder();
const bytesOf = (text: string | Uint8Array) => (typeof text === "string" ? encoder.encode(text) : text);

export interface TarHeader {
  name: string | Uint8Array;
  /** goes before the name, with a slash */
  prefix?: string;
  /** type flag; "0" file (default), "5" folder, "2" symbolic link, "x" PAX, "L" GNU long name … */
  type?: string;
  /** size field, in bytes or as raw text; default: the actual size of the body */
  size?: number | string | Uint8Array;
  linkName?: string;
  /** magic and version; default: POSIX */
  magic?: string;
  /** mode field as octal text; default: 0644 */
  mode?: string;
  /** a wrong checksum */
  checksum?: number;
}

export const GNU_MAGIC = "ustar  \0";

const octal = (value: number, length: number) => value.toString(8).padStart(length - 1, "0");

/** @returns one header block */
export function tarHeader(header: TarHeader, bodyLength = 0): Uint8Array {
  const block = new Uint8Array(BLOCK);
  const { size = bodyLength, type = "0", magic = "ustar\x0000" } = header;
  block.set(bytesOf(header.name).subarray(0, 100), 0);
  block.set(encoder.encode(header.mode ?? octal(0o644, 8)), 100);
  block.set(encoder.encode(`${octal(0, 8)}\0${octal(0, 8)}\0`), 108);
  block.set(typeof size === "number" ? encoder.encode(octal(size, 12)) : bytesOf(size), 124);
  block.set(encoder.encode(octal(0, 12)), 136);
  block.set(encoder.encode(type), 156);
  block.set(encoder.encode(header.linkName ?? ""), 157);
  block.set(encoder.encode(magic), 257);
  block.set(encoder.encode(header.prefix ?? ""), 345);
  block.fill(0x20, 148, 156);
  const sum = header.checksum ?? block.reduce((total, byte) => total + byte, 0);
  block.set(encoder.encode(`${octal(sum, 7)}\0 `), 148);
  return block;
}

/** @returns header and body, filled up to whole blocks */
export function tarEntry(header: TarHeader, body: string | Uint8Array = NO_BYTES): Uint8Array {
  const content = bytesOf(body);
  const padding = (BLOCK - (content.length % BLOCK)) % BLOCK;
  return Buffer.concat([tarHeader(header, content.length), content, new Uint8Array(padding)]);
}

export const tarFile = (name: string | Uint8Array, body: string | Uint8Array = "") =>
  tarEntry({ name }, body);
export const tarFolder = (name: string) => tarEntry({ name, type: "5" });

/** @returns one PAX record: its own length in decimal, a space, `key=value`, a line end */
export function paxRecord(key: string, value: string): string {
  const rest = encoder.encode(` ${key}=${value}\n`).length;
  const length = rest + String(rest + String(rest).length).length;
  return `${length} ${key}=${value}\n`;
}

/** @returns an extended header for the next entry (`x`) or for all that follow (`g`) */
export const tarPax = (records: Record<string, string>, type: "x" | "g" = "x") =>
  tarEntry(
    { name: "PaxHeaders/0", type },
    Object.entries(records)
      .map(([key, value]) => paxRecord(key, value))
      .join(""),
  );

/** @returns the GNU tar record that gives the next entry a long name */
export const gnuLongName = (name: string | Uint8Array) =>
  tarEntry(
    { name: "././@LongLink", type: "L", magic: GNU_MAGIC },
    Buffer.concat([bytesOf(name), new Uint8Array(1)]),
  );

/** The two zero blocks that end an archive. */
export const TAR_END = new Uint8Array(2 * BLOCK);

export const tarOf = (...entries: Uint8Array[]): Uint8Array => Buffer.concat([...entries, TAR_END]);
export const tarGzOf = (...entries: Uint8Array[]): Uint8Array => gzipSync(tarOf(...entries));

export async function* chunksOf(bytes: Uint8Array, size = 65_536): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += size) yield bytes.subarray(offset, offset + size);
}

const BOMB_PIECE_BYTES = 16 * 1024 * 1024;
const GZIP_HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]);

/** @returns gzip of texts, each followed by zeros in multiples of 16 MiB, in a thousandth of that size; without an end */
export async function* gzipBomb(
  ...parts: [start: Uint8Array, zeroBytes: number][]
): AsyncGenerator<Uint8Array> {
  const flushed = { finishFlush: constants.Z_FULL_FLUSH };
  const piece = deflateRawSync(new Uint8Array(BOMB_PIECE_BYTES), flushed);
  yield GZIP_HEADER;
  for (const [start, zeroBytes] of parts) {
    yield deflateRawSync(start, flushed);
    for (let done = 0; done < zeroBytes; done += BOMB_PIECE_BYTES) yield piece;
  }
}
