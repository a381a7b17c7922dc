// What a refresh token is: `<family secret>.<token secret>`. All tokens of a grant share the family secret and nobody
// else knows it, so a token that is not kept any more is still known to be a former one: no history has to be stored.
// Pure rules only: rows are in grants-store.ts, what follows from a verdict is in grants.ts.
import { SECOND_MS } from "../../platform/clock.ts";
import { type Ids, randomToken, sha256Hex } from "../../platform/ids.ts";

/** How long a rotated refresh token still works: clients share one file without a lock (PRODUCT.md decision 8). */
export const REFRESH_GRACE_SECONDS = 60;
/** Tokens that one refresh token can be exchanged for inside the grace window. */
export const REFRESH_SUCCESSORS_MAX = 32;
/**
 * Tokens of one grant that are kept, the newest; an older one is a former one. Without this bound the successors that no
 * workstation comes back with would pile up.
 */
export const FAMILY_TOKENS_MAX = 64;
/** A family that refreshes again and again within the grace window is cleared only at every so many refreshes. */
export const ROTATIONS_PER_CLEARING = 16;

/** 22 characters of base64url */
const FAMILY_SECRET_BYTES = 16;
/** 43 characters of base64url */
const TOKEN_SECRET_BYTES = 32;
const REFRESH_TOKEN = /^([\w-]{22})\.[\w-]{43}$/;

/** A refresh token with the hashes under which its grant and its own row are found. */
export interface RefreshToken {
  text: string;
  familySecret: string;
  familyHash: string;
  tokenHash: string;
}

/** @returns the first token of a new family */
export const firstRefreshToken = (ids: Ids): RefreshToken =>
  nextRefreshToken(ids, randomToken(ids, FAMILY_SECRET_BYTES));

/** @returns one more token of the family */
export const nextRefreshToken = (ids: Ids, familySecret: string): RefreshToken =>
  hashed(`${familySecret}.${randomToken(ids, TOKEN_SECRET_BYTES)}`, familySecret);

/** @returns nothing when the text cannot be a refresh token */
export function readRefreshToken(text: string): RefreshToken | undefined {
  const familySecret = REFRESH_TOKEN.exec(text)?.[1];
  return familySecret === undefined ? undefined : hashed(text, familySecret);
}

const hashed = (text: string, familySecret: string): RefreshToken => ({
  text,
  familySecret,
  familyHash: sha256Hex(familySecret),
  tokenHash: sha256Hex(text),
});

export type RefreshVerdict = "usable" | "dead" | "reused" | "exhausted";

/** What decides whether a refresh token can be exchanged. */
export interface RefreshFacts {
  grant: { expiresAtMs: number; revokedAtMs: number | null };
  /** null when the family keeps no such token, or not any more */
  token: {
    expiresAtMs: number;
    /** null until its first use */
    rotatedAtMs: number | null;
    successors: number;
  } | null;
}

/**
 * Judges a refresh token of a known family. Whatever a living family does not accept any more is reused, whether its row
 * is still there or not; a dead family has nothing left to take.
 * @source RFC 9700 section 4.14.2; client-and-auth.md section 3.4
 */
export function refreshVerdict({ grant, token }: RefreshFacts, nowMs: number): RefreshVerdict {
  if (grant.revokedAtMs !== null || nowMs >= grant.expiresAtMs) return "dead";
  if (!token || nowMs >= token.expiresAtMs) return "reused";
  if (token.rotatedAtMs === null) return "usable";
  if (token.rotatedAtMs < graceStartMs(nowMs)) return "reused";
  return token.successors < REFRESH_SUCCESSORS_MAX ? "usable" : "exhausted";
}

/** @returns the moment before which a rotated token must have been rotated to work no more */
export const graceStartMs = (nowMs: number): number => nowMs - REFRESH_GRACE_SECONDS * SECOND_MS;

/**
 * Whether a refresh should clear former tokens away. After a quiet time it does; a burst of them shares one clearing, so
 * that its work does not grow with the burst.
 */
export const isTimeToClear = (
  { refreshedAtMs, rotations }: { refreshedAtMs: number; rotations: number },
  nowMs: number,
): boolean => refreshedAtMs < graceStartMs(nowMs) || rotations % ROTATIONS_PER_CLEARING === 0;
