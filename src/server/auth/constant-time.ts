// Compares a secret with what a caller sent, without telling by the time it takes how much of it was right.
import { timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../platform/ids.ts";

/** @returns whether both texts are the same; texts of different lengths are fine */
export const equalInConstantTime = (one: string, other: string): boolean =>
  timingSafeEqual(Buffer.from(sha256Hex(one)), Buffer.from(sha256Hex(other)));
