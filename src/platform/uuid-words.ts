// UUIDs (RFC 9562) as four 32-bit words, which take a quarter of the memory of the text.

import { isOwnId } from "./ids.ts";

export const UUID_WORDS = 4;

const HYPHEN = 0x2d;
const CHARACTERS = 36;
/** Positions of the digits of each byte in the text. */
const PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
const DIGITS = new TextEncoder().encode("0123456789abcdef");
const scratch = Buffer.alloc(CHARACTERS, HYPHEN);

/**
 * Writes the words of a UUID in lower case.
 * @returns false, with nothing written, for any other text
 */
export function writeUuid(text: string, words: Uint32Array, at = 0): boolean {
  if (!isOwnId(text)) return false;
  words[at] = Number.parseInt(text.slice(0, 8), 16);
  words[at + 1] = Number.parseInt(text.slice(9, 13) + text.slice(14, 18), 16);
  words[at + 2] = Number.parseInt(text.slice(19, 23) + text.slice(24, 28), 16);
  words[at + 3] = Number.parseInt(text.slice(28), 16);
  return true;
}

/** @returns the text of the UUID that `writeUuid` wrote */
export function readUuid(words: Uint32Array, at = 0): string {
  for (let byte = 0; byte < PLACES.length; byte += 1) {
    const value = ((words[at + (byte >>> 2)] ?? 0) >>> (24 - 8 * (byte & 3))) & 0xff;
    const place = PLACES[byte] ?? 0;
    scratch[place] = DIGITS[value >>> 4] ?? 0;
    scratch[place + 1] = DIGITS[value & 0xf] ?? 0;
  }
  return scratch.toString("latin1");
}
