// What a refresh token is: `<family secret>.<token secret>`. All tokens of a grant share the family secret and nobody
// else knows it, so a token that is not kept any more is still known to be a former one: no history has to be stored.
// The next token is derived from the one it replaces, so a token has one successor however often it is presented.
// Pure rules only: rows are in grants-store.ts, what follows from a verdict is in grants.ts and refresh-rotation.ts.
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";

/**
 * How long a rotated refresh token still yields its successor: clients share one file without a lock
 * (PRODUCT.md decision 8).
 */
export const REFRESH_GRACE_SECONDS = 60;
/**
 * Tokens of one grant that are kept, the newest; an older one is a former one. Bounds the rows of a family that
 * refreshes over and over within the grace window.
 */
export const FAMILY_TOKENS_MAX = 64;
/** A family that refreshes again and again within the grace window is cleared only at every so many refreshes. */
export const ROTATIONS_PER_CLEANUP = 16;

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
export function firstRefreshToken(ids: Ids): RefreshToken {
  const familySecret = randomToken(ids, FAMILY_SECRET_BYTES);
  return hashed(`${familySecret}.${randomToken(ids, TOKEN_SECRET_BYTES)}`, familySecret);
}

/** What derives successors: neither a token nor the database is enough without a key from outside the database. */
export type SuccessorKeys = Pick<Sealing, "mac" | "macs">;
const SUCCESSOR_PURPOSE = "refresh-token-successor";

/** @returns the token that replaces this one when it is rotated now */
export const successorOf = ({ text, familySecret }: RefreshToken, keys: SuccessorKeys): RefreshToken =>
  hashed(`${familySecret}.${keys.mac(text, SUCCESSOR_PURPOSE)}`, familySecret);

/** @returns the tokens that may have replaced this one: one for each server key, as the key may have changed since */
export const possibleSuccessorsOf = (
  { text, familySecret }: RefreshToken,
  keys: SuccessorKeys,
): RefreshToken[] =>
  keys.macs(text, SUCCESSOR_PURPOSE).map((mac) => hashed(`${familySecret}.${mac}`, familySecret));

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

export type RefreshVerdict = "usable" | "repeated" | "dead" | "reused";

/** What decides whether a refresh token can be exchanged. */
export interface RefreshFacts {
  grant: { expiresAtMs: number; revokedAtMs: number | null };
  /** null when the family keeps no such token, or not any more */
  token: {
    expiresAtMs: number;
    /** null until its first use */
    rotatedAtMs: number | null;
  } | null;
}

/**
 * Judges a refresh token of a known family. A usable token is rotated, and a repeated token yields its successor again.
 * Any other token of a living family counts as reused, whether or not its row still exists. A dead family accepts none.
 * @source RFC 9700 section 4.14.2; client-and-auth.md section 3.4
 */
export function refreshVerdict({ grant, token }: RefreshFacts, nowMs: number): RefreshVerdict {
  if (grant.revokedAtMs !== null || nowMs >= grant.expiresAtMs) return "dead";
  if (!token || nowMs >= token.expiresAtMs) return "reused";
  if (token.rotatedAtMs === null) return "usable";
  return token.rotatedAtMs < graceStartMs(nowMs) ? "reused" : "repeated";
}

/**
 * When an access token counts as issued. Clients that share a login must refresh within one grace window of each other,
 * so the access token of a repeated exchange ends with that of the first one. It is left half a life at least.
 */
export const accessIssuedAtMs = (
  exchangedAtMs: number,
  { nowMs, ttlSeconds }: { nowMs: number; ttlSeconds: number },
): number => Math.max(exchangedAtMs, nowMs - (ttlSeconds * SECOND_MS) / 2);

/** @returns the moment before which a rotated token must have been rotated to work no more */
export const graceStartMs = (nowMs: number): number => nowMs - REFRESH_GRACE_SECONDS * SECOND_MS;

/**
 * Whether a refresh should clear former tokens away. After a quiet time it does; a burst of them shares one clearing, so
 * that its work does not grow with the burst.
 */
export const isCleanupDue = (
  { refreshedAtMs, rotations }: { refreshedAtMs: number; rotations: number },
  nowMs: number,
): boolean => refreshedAtMs < graceStartMs(nowMs) || rotations % ROTATIONS_PER_CLEANUP === 0;
