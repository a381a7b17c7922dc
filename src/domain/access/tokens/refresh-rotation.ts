// Replaces refresh tokens. A token has one successor: the first exchange adds it, and every further exchange within the grace
// window yields its newest descendant. refresh-token.ts decides whether a token may be exchanged.
import type { Tx } from "../../../platform/database/database.ts";
import * as store from "./grants-store.ts";
import {
  isCleanupDue,
  possibleSuccessorsOf,
  type RefreshToken,
  type SuccessorKeys,
  successorOf,
} from "./refresh-token.ts";

export interface RotationRequest {
  grant: store.GrantRow;
  presented: RefreshToken;
  keys: SuccessorKeys;
  nowMs: number;
  /** expiry of the next token and of the grant */
  expiresAtMs: number;
}

/** The result of an exchange. */
export interface Exchanged {
  next: RefreshToken;
  /** when `next` was first issued */
  exchangedAtMs: number;
}

/** Replaces a token that was not rotated before, and extends its grant. */
export function rotate(tx: Tx, { grant, presented, keys, nowMs, expiresAtMs }: RotationRequest): Exchanged {
  const next = successorOf(presented, keys);
  const hashes = { usedHash: presented.tokenHash, nextHash: next.tokenHash };
  const rotation = { grantId: grant.id, ...hashes, nowMs, expiresAtMs };
  store.rotate(tx, rotation);
  if (isCleanupDue(grant, nowMs)) store.removeFormerTokens(tx, rotation);
  store.extend(tx, { id: grant.id, refreshedAtMs: nowMs, expiresAtMs });
  return { next, exchangedAtMs: nowMs };
}

/**
 * Answers a token that was rotated within the grace window: returns its successor, or the newest descendant if that was rotated as
 * well. A token in between would soon count as reused. The recursion ends because every step finds a different row of the family.
 */
export function repeat(tx: Tx, request: RotationRequest): Exchanged {
  const known = knownSuccessor(tx, request);
  // The token was rotated before successors were derived, or the server key of that time is gone.
  if (!known) return rotate(tx, request);
  const { next, row } = known;
  if (row.rotatedAtMs === null) return { next, exchangedAtMs: row.createdAtMs };
  return repeat(tx, { ...request, presented: next });
}

function knownSuccessor(
  tx: Tx,
  { grant, presented, keys }: RotationRequest,
): { next: RefreshToken; row: store.RefreshTokenRow } | undefined {
  for (const next of possibleSuccessorsOf(presented, keys)) {
    const row = store.findToken(tx, { grantId: grant.id, tokenHash: next.tokenHash });
    if (row) return { next, row };
  }
  return undefined;
}
