// Marks that only a holder of a sealing key can make: for texts that go out and come back unchanged, such as links that
// expire. Each purpose has keys of its own, derived from the sealing keys, so a mark is good for nothing else.
import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

const KEY_BYTES = 32;

/** Derived keys by sealing key and purpose; deriving takes as long as marking. Purposes are words of the source, so few. */
const derived = new WeakMap<Buffer, Map<string, Buffer>>();

/** @returns HMAC-SHA256 in base64url under the key that is derived for the purpose (RFC 5869) */
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

/** Takes as long for a wrong mark as for a right one. */
export function isSameMac(one: string, other: string): boolean {
  const [mine, theirs] = [Buffer.from(one), Buffer.from(other)];
  return mine.length === theirs.length && timingSafeEqual(mine, theirs);
}
