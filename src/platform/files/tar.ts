// Writes and reads the headers of tar archives. The bytes of a member depend only on its name, mode, time and content. Backups,
// catalog bundles and releases consist of such members. domain/catalog/archive decides what an external archive may contain.
import { invariant } from "../errors.ts";

export const TAR_BLOCK_BYTES = 512;
/** length of the name in a header */
export const TAR_NAME_BYTES_MAX = 100;
/** the maximum of eleven octal digits; GNU tar and its readers write larger sizes in binary */
export const OCTAL_SIZE_BYTES_MAX = 8 ** 11 - 1;

export interface TarMember {
  /** at most 100 bytes */
  name: string;
  sizeBytes: number;
  /** 0644 by default */
  mode?: number;
  /** Unix seconds; 0 by default */
  modifiedAtSeconds?: number;
  /** a regular file by default; `x` for the PAX extended header of the next member */
  type?: "0" | "x";
}

/** @returns the header block of a member (POSIX.1-2017, pax, "ustar Interchange Format") */
export function tarHeader(member: TarMember): Uint8Array {
  const { name, sizeBytes, mode = 0o644, modifiedAtSeconds = 0, type = "0" } = member;
  invariant(Buffer.byteLength(name) <= TAR_NAME_BYTES_MAX, "the name of a tar member fits into its header");
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  block.write(name, 0);
  block.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  block.set(sizeField(sizeBytes), 124);
  block.write(`${octal(modifiedAtSeconds, 11)}\0`, 136);
  block.write(type, 156);
  block.write("ustar\x0000", 257);
  block.write(`${octal(checksumOf(block), 6)}\0 `, 148);
  return block;
}

function sizeField(sizeBytes: number): Uint8Array {
  if (sizeBytes <= OCTAL_SIZE_BYTES_MAX) return Buffer.from(`${octal(sizeBytes, 11)}\0`);
  const field = Buffer.alloc(12);
  field[0] = 0x80;
  field.writeBigUInt64BE(BigInt(sizeBytes), 4);
  return field;
}

/** @returns the number of zeros that fill the last block of a member */
export const tarPaddingLength = (sizeBytes: number): number =>
  (TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES;

/** @returns the zeros that fill the last block of a member */
export const tarPadding = (sizeBytes: number): Uint8Array => new Uint8Array(tarPaddingLength(sizeBytes));

/** @returns the two blocks of zeros that end an archive */
export const tarEnd = (): Uint8Array => new Uint8Array(2 * TAR_BLOCK_BYTES);

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");

export interface TarHeader {
  /** one character, "0" for a regular file */
  type: string;
  path: Uint8Array;
  /** undefined if the field is not a number */
  sizeBytes: number | undefined;
  /** file mode bits, 0 for an empty field; undefined if the field is not an octal number */
  mode: number | undefined;
}

const POSIX_MAGIC = "ustar\x0000";
const GNU_MAGIC = "ustar  \0";

/** @returns the members of a header block, POSIX ustar or GNU; undefined for another format or a wrong checksum */
export function readTarHeader(block: Uint8Array): TarHeader | undefined {
  const magic = latin1(block.subarray(257, 265));
  const isPosix = magic === POSIX_MAGIC;
  if (octalOf(block.subarray(148, 156)) !== checksumOf(block) || !(isPosix || magic === GNU_MAGIC))
    return undefined;
  const name = untilNul(block.subarray(0, 100));
  const prefix = isPosix ? untilNul(block.subarray(345, 500)) : new Uint8Array();
  const type = latin1(block.subarray(156, 157));
  return {
    type: type === "\0" ? "0" : type,
    path: prefix.byteLength === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]),
    sizeBytes: sizeOf(block.subarray(124, 136)),
    mode: modeOf(block.subarray(100, 108)),
  };
}

/** Compared at native speed, because an archive may end with half a gigabyte of zeros. */
export const ZEROS = Buffer.alloc(64 * 1024);

/** @returns whether all of at most `ZEROS.byteLength` bytes are zero, as after the last entry */
export const isZeros = (bytes: Uint8Array): boolean => ZEROS.subarray(0, bytes.byteLength).equals(bytes);

const modeOf = (field: Uint8Array): number | undefined =>
  /^[ \0]*$/.test(latin1(field)) ? 0 : octalOf(field);

/** Octal text, or a binary number marked by its highest bit if octal digits do not suffice (GNU). */
function sizeOf(field: Uint8Array): number | undefined {
  const [first = 0] = field;
  if (first < 0x80) return octalOf(field);
  return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, first & 0x7f);
}

function octalOf(field: Uint8Array): number | undefined {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(latin1(field))?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}

/** The sum of all bytes, counting the checksum field itself as spaces. */
const checksumOf = (block: Uint8Array): number =>
  block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);

function untilNul(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
