// Defines refresh tokens: `<family secret>.<token secret>`. All tokens of a grant share the family secret, and nobody else
// knows it, so a former token is recognized even after its row was removed. The next token is derived from the one it replaces,
// so a token has one successor however often it is presented. Only pure rules: grants-store.ts stores rows; grants.ts and
// refresh-rotation.ts act on a verdict.
import { SECOND_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";

/** How long a rotated refresh token still yields its successor: clients share one file without a lock. */
export const REFRESH_GRACE_SECONDS = 60;
/**
 * Number of newest tokens that are kept per grant; older ones count as former tokens. Bounds the rows of a family that
 * refreshes repeatedly within the grace window.
 */
export const FAMILY_TOKENS_MAX = 64;
/** Number of refreshes within one grace window after which a family is cleaned up. */
export const ROTATIONS_PER_CLEANUP = 16;

/** 22 characters of base64url */
const FAMILY_SECRET_BYTES = 16;
/** 43 characters of base64url */
const TOKEN_SECRET_BYTES = 32;
const REFRESH_TOKEN = /^([\w-]{22})\.[\w-]{43}$/;

/** A refresh token with the hashes that select its grant and its own row. */
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

/** Keys that derive successors. They are outside the database, so neither a token nor the database reveals a successor. */
export type SuccessorKeys = Pick<Sealing, "mac" | "macs">;
const SUCCESSOR_PURPOSE = "refresh-token-successor";

/** @returns the successor of this token if it is rotated now */
export const successorOf = ({ text, familySecret }: RefreshToken, keys: SuccessorKeys): RefreshToken =>
  hashed(`${familySecret}.${keys.mac(text, SUCCESSOR_PURPOSE)}`, familySecret);

/** @returns the possible successors of this token, one per server key, because the key may have changed since */
export const possibleSuccessorsOf = (
  { text, familySecret }: RefreshToken,
  keys: SuccessorKeys,
): RefreshToken[] =>
  keys.macs(text, SUCCESSOR_PURPOSE).map((mac) => hashed(`${familySecret}.${mac}`, familySecret));

/** @returns undefined if the text cannot be a refresh token */
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

/** The facts that decide whether a refresh token can be exchanged. */
export interface RefreshFacts {
  grant: { expiresAtMs: number; revokedAtMs: number | null };
  /** null if the family has no such token, or its row was removed */
  token: {
    expiresAtMs: number;
    /** null until its first use */
    rotatedAtMs: number | null;
  } | null;
}

/**
 * Decides on a refresh token of a known family. A usable token is rotated; a repeated token yields its successor again. Any other
 * token of an active family counts as reused, whether or not its row still exists. An ended family accepts none.
 * @source RFC 9700 section 4.14.2
 */
export function refreshVerdict({ grant, token }: RefreshFacts, nowMs: number): RefreshVerdict {
  if (grant.revokedAtMs !== null || nowMs >= grant.expiresAtMs) return "dead";
  if (!token || nowMs >= token.expiresAtMs) return "reused";
  if (token.rotatedAtMs === null) return "usable";
  return token.rotatedAtMs < graceStartMs(nowMs) ? "reused" : "repeated";
}

/**
 * The time at which an access token counts as issued. Clients that share a login must refresh within one grace window of each
 * other, so the access token of a repeated exchange expires with that of the first one. It keeps at least half its lifetime.
 */
export const accessIssuedAtMs = (
  exchangedAtMs: number,
  { nowMs, ttlSeconds }: { nowMs: number; ttlSeconds: number },
): number => Math.max(exchangedAtMs, nowMs - (ttlSeconds * SECOND_MS) / 2);

/** @returns the time before which a token must have been rotated to be invalid now */
export const graceStartMs = (nowMs: number): number => nowMs - REFRESH_GRACE_SECONDS * SECOND_MS;

/**
 * Whether a refresh should remove former tokens, which it does after a quiet period. A burst of refreshes shares one cleanup,
 * so the work does not grow with the burst.
 */
export const isCleanupDue = (
  { refreshedAtMs, rotations }: { refreshedAtMs: number; rotations: number },
  nowMs: number,
): boolean => refreshedAtMs < graceStartMs(nowMs) || rotations % ROTATIONS_PER_CLEANUP === 0;
