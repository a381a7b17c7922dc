// MACs under keys that are derived from the sealing keys, for texts that clients return unchanged, such as expiring links. Each
// purpose has its own derived keys, so that a MAC is valid for one purpose only.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;

/** Derived keys by sealing key and purpose, because deriving takes as long as a MAC. Purposes are constants, so there are few. */
const derived = new WeakMap<Buffer, Map<string, Buffer>>();

/** @returns the HMAC-SHA256 in base64url under the key derived for the purpose (RFC 5869) */
export function macOf(sealingKey: Buffer, { text, purpose }: { text: string; purpose: string }): string {
  return createHmac("sha256", keyFor(sealingKey, purpose)).update(text).digest("base64url");
}

function keyFor(sealingKey: Buffer, purpose: string): Buffer {
  const keys = derived.get(sealingKey) ?? new Map<string, Buffer>();
  const known = keys.get(purpose);
  if (known) return known;
  const key = Buffer.from(hkdfSync("sha256", sealingKey, "", `mac:${purpose}`, KEY_BYTES));
  derived.set(sealingKey, keys.set(purpose, key));
  return key;
}

/** Compares in constant time. */
export function isSameMac(one: string, other: string): boolean {
  const [mine, theirs] = [Buffer.from(one), Buffer.from(other)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}
