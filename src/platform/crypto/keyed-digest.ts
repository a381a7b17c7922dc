// Digests under a key that only this process has: whoever sees one, or knows what was digested, can neither make one nor
// look for two texts with the same. What is digested is for the caller.
import { randomBytes } from "node:crypto";

const KEY_BYTES = 32;
/** The runtime wants room for its longest digest, whatever it writes. */
const ROOM_BYTES = 64;
/** Of 32-bit words: 128 bits. */
export const DIGEST_WORDS = 4;

/** Writes the digest of a text into the words. */
export type KeyedDigest = (text: string, into: Uint32Array) => void;

/**
 * HMAC-SHA-256 cut to 128 bits (RFC 2104 sections 2 and 5), which the hardware of a server helps with. Without the key a
 * collision can only be met by chance: among a million digests each further text has a chance of 2^-108.
 * @returns a function with a new key
 */
export function createKeyedDigest(): KeyedDigest {
  const key = randomBytes(KEY_BYTES);
  const bytes = new Uint8Array(ROOM_BYTES);
  const words = new Uint32Array(bytes.buffer, 0, DIGEST_WORDS);
  return (text, into) => {
    new Bun.CryptoHasher("sha256", key).update(text).digest(bytes);
    into.set(words);
  };
}
