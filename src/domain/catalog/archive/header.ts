// Reads one 512-byte tar header block (POSIX ustar and GNU, as tar writes them) and refuses what is ambiguous.
// It knows a single block only; records that rename the next entry are joined to it in tar.ts.
import { quoted, refusal } from "./limits.ts";

export const BLOCK_BYTES = 512;

/** Compared with at native speed: an archive may end with half a gigabyte of zeros. */
export const ZEROS = Buffer.alloc(64 * 1024);

export interface TarHeader {
  /** one character, "0" for a regular file */
  type: string;
  path: Uint8Array;
  sizeBytes: number;
  /** file mode bits, 0 for an empty field; undefined where the field is not an octal number */
  mode: number | undefined;
}

const POSIX_MAGIC = "ustar\x0000";
const GNU_MAGIC = "ustar  \0";

/** @returns whether all of at most `ZEROS.byteLength` bytes are zero, as after the last entry */
export const isZeros = (bytes: Uint8Array): boolean => ZEROS.subarray(0, bytes.byteLength).equals(bytes);

/** @throws DomainError `archive.not_tar` (checksum or format), `archive.corrupt` (size) */
export function readHeader(block: Uint8Array): TarHeader {
  const magic = latin1(block.subarray(257, 265));
  const isPosix = magic === POSIX_MAGIC;
  if (octalOf(block.subarray(148, 156)) !== checksumOf(block) || !(isPosix || magic === GNU_MAGIC)) {
    throw refusal(
      "not_tar",
      "it holds something else than tar headers, or they are damaged",
      "pack it with GNU tar, bsdtar or any tar that writes the ustar format",
    );
  }
  const name = untilNul(block.subarray(0, 100));
  const prefix = isPosix ? untilNul(block.subarray(345, 500)) : new Uint8Array();
  const path = prefix.byteLength === 0 ? name : Buffer.concat([prefix, Buffer.from("/"), name]);
  const type = latin1(block.subarray(156, 157));
  return {
    ...{ type: type === "\0" ? "0" : type, path },
    sizeBytes: sizeOf(block.subarray(124, 136), path),
    mode: modeOf(block.subarray(100, 108)),
  };
}

const modeOf = (field: Uint8Array): number | undefined =>
  /^[ \0]*$/.test(latin1(field)) ? 0 : octalOf(field);

/** Octal text, or, where that is too short, a binary number marked by its highest bit (GNU). */
function sizeOf(field: Uint8Array, path: Uint8Array): number {
  const [first = 0] = field;
  if (first >= 0x80) return field.subarray(1).reduce((sum, byte) => sum * 256 + byte, first & 0x7f);
  const size = octalOf(field);
  if (size === undefined) throw refusal("corrupt", `the size of ${quoted(path)} is not a number`);
  return size;
}

function octalOf(field: Uint8Array): number | undefined {
  const digits = /^ *([0-7]+)[ \0]*$/.exec(latin1(field))?.[1];
  return digits === undefined ? undefined : Number.parseInt(digits, 8);
}

/** The sum of all bytes, with the checksum field itself taken as spaces. */
const checksumOf = (block: Uint8Array): number =>
  block.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 0x20 : byte), 0);

function untilNul(field: Uint8Array): Uint8Array {
  const end = field.indexOf(0);
  return end === -1 ? field : field.subarray(0, end);
}

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("latin1");
