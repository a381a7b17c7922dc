// Removes a user's key: deletes the row and queues the revocation at the gateway in the same transaction. The identity area
// gets this function as a dependency. It does not call the gateway.

import type { Tx } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { KeyRow } from "../model.ts";
import * as store from "./store.ts";

/** Why a key is revoked upstream; stored with the queued revocation. */
export type RevocationReason =
  | "user_suspended"
  | "user_removed"
  | "address_changed"
  | "revoked"
  | "rotated"
  | "superseded"
  | "disowned"
  | "expired"
  | "unreadable"
  | "unsettled";

interface Retirement {
  userId: string;
  reason: RevocationReason;
  nowMs: number;
}

export type RetireGatewayKey = (tx: Tx, retirement: Retirement) => void;

/** @returns the function that removes a user's key; it does nothing for a user without one */
export const createKeyRetirement =
  ({ ids }: { ids: Ids }): RetireGatewayKey =>
  (tx, { userId, reason, nowMs }) => {
    store.endOverlaps(tx, { userId, nowMs });
    const row = store.deleteKey(tx, userId);
    if (!row) return;
    const { externalId, leftovers, recoveringUntilMs } = row;
    if (externalId !== null) queueRevocation(tx, row, { ids, externalId, reason, nowMs });
    // A running attempt queues its own key when it settles, so the revocation of leftover keys waits until its lease ends.
    const atMs = recoveringUntilMs ?? nowMs;
    if (leftovers) queueRevocation(tx, row, { ids, externalId: null, reason, nowMs, atMs });
  };

export interface QueuedRevocation extends Omit<Retirement, "userId"> {
  ids: Ids;
  /** null: any key that an unfinished attempt may have created for the user */
  externalId: string | null;
  /** when to call the gateway; default: now */
  atMs?: number;
}

export type KeyOwner = Pick<KeyRow, "userId" | "email" | "organizationId">;

/** Queues a key for revocation at the gateway. */
export function queueRevocation(
  tx: Tx,
  { userId, email, organizationId }: KeyOwner,
  { ids, externalId, reason, nowMs, atMs = nowMs }: QueuedRevocation,
): void {
  store.insertRevocation(tx, {
    id: ids.uuid(),
    organizationId,
    userId,
    email,
    externalId,
    reason,
    attempts: 0,
    nextAttemptAtMs: atMs,
    problem: null,
    createdAtMs: nowMs,
  });
}
