// An authenticator app as RFC 6238 describes it, written from the RFC with the HMAC of the runtime and independent of the library
// that the service uses.
import { createHmac } from "node:crypto";

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
const STEP_MS = 30_000;

function bytesOf(base32: string): Buffer {
  const bits = [...base32.replace(/[\s=]/g, "")].map((letter) =>
    BASE32.indexOf(letter).toString(2).padStart(5, "0"),
  );
  const bytes = bits.join("").match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** @returns the six digits that the app shows at that time (RFC 4226 section 5.3) */
export function appCode(base32: string, nowMs: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(nowMs / STEP_MS)));
  const mac = createHmac("sha1", bytesOf(base32)).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  const number = mac.readUInt32BE(offset) & 0x7fffffff;
  return String(number % 1_000_000).padStart(6, "0");
}
