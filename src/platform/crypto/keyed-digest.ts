// Digests under a key that only this process has. An attacker who knows digests and their texts cannot compute a digest or find two
// texts with the same digest.
import { randomBytes } from "node:crypto";

const KEY_BYTES = 32;
/** The runtime requires space for its longest digest. */
const BUFFER_BYTES = 64;
/** 32-bit words of a digest: 128 bits. */
export const DIGEST_WORDS = 4;

/** Writes the digest of a text into the words. */
export type KeyedDigest = (text: string, into: Uint32Array) => void;

/**
 * SHA-256 of the key and the text, truncated to 128 bits. Servers compute it in hardware; the truncation prevents length extension.
 * Without the key a collision happens only by chance: with a million digests, each further text has a chance of 2^-108.
 * @returns a function with a new key
 */
export function createKeyedDigest(): KeyedDigest {
  const key = randomBytes(KEY_BYTES);
  const bytes = new Uint8Array(BUFFER_BYTES);
  const words = new Uint32Array(bytes.buffer, 0, DIGEST_WORDS);
  const hasher = new Bun.CryptoHasher("sha256"); // `digest` empties it
  return (text, into) => {
    hasher.update(key).update(text).digest(bytes);
    into.set(words);
  };
}
