// Compares a secret with caller input in constant time.
import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../ids.ts";

/** @returns whether both texts are equal; the lengths may differ */
export const equalInConstantTime = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256Hex(one)), Buffer.from(sha256Hex(other)));
