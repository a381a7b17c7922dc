// Writes POSIX tar (ustar) members whose bytes depend only on name, mode, time and content, for catalog bundles and releases.
// domain/catalog/archive reads archives, because their bytes come from outside.
import { invariant } from "../errors.ts";

export const TAR_BLOCK_BYTES = 512;
const NAME_BYTES_MAX = 100;
/** the maximum of eleven octal digits; GNU tar and its readers write larger sizes in binary */
export const OCTAL_SIZE_BYTES_MAX = 8 ** 11 - 1;

export interface TarMember {
  /** of at most 100 bytes */
  name: string;
  sizeBytes: number;
  /** 0644 by default */
  mode?: number;
  /** Unix seconds; 0 by default */
  modifiedAtSeconds?: number;
}

/** @returns the header block of a regular file (POSIX.1-2017, pax, "ustar Interchange Format") */
export function tarHeader({ name, sizeBytes, mode = 0o644, modifiedAtSeconds = 0 }: TarMember): Uint8Array {
  invariant(Buffer.byteLength(name) <= NAME_BYTES_MAX, "the name of a tar member fits into its header");
  const block = Buffer.alloc(TAR_BLOCK_BYTES);
  block.write(name, 0);
  block.write(`${octal(mode, 7)}\0${octal(0, 7)}\0${octal(0, 7)}\0`, 100);
  block.set(sizeField(sizeBytes), 124);
  block.write(`${octal(modifiedAtSeconds, 11)}\0`, 136);
  block.fill(" ", 148, 156);
  block.write("0", 156);
  block.write("ustar\x0000", 257);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${octal(sum, 6)}\0 `, 148);
  return block;
}

function sizeField(sizeBytes: number): Uint8Array {
  if (sizeBytes <= OCTAL_SIZE_BYTES_MAX) return Buffer.from(`${octal(sizeBytes, 11)}\0`);
  const field = Buffer.alloc(12);
  field[0] = 0x80;
  field.writeBigUInt64BE(BigInt(sizeBytes), 4);
  return field;
}

/** @returns the zeros that fill the last block of a member */
export const tarPadding = (sizeBytes: number): Uint8Array =>
  new Uint8Array((TAR_BLOCK_BYTES - (sizeBytes % TAR_BLOCK_BYTES)) % TAR_BLOCK_BYTES);

/** @returns the two blocks of zeros that end an archive */
export const tarEnd = (): Uint8Array => new Uint8Array(2 * TAR_BLOCK_BYTES);

const octal = (value: number, digits: number): string => value.toString(8).padStart(digits, "0");
