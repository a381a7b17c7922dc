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

export interface Retirement {
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
    if (row) queueUpstream(tx, row, { ids, reason, nowMs });
  };

/** Queues the row's key for revocation, and any key that an unfinished attempt may have created. */
export function queueUpstream(
  tx: Tx,
  row: KeyRow,
  { ids, reason, nowMs }: { ids: Ids; reason: RevocationReason; nowMs: number },
): void {
  const { organizationId, userId, email, externalId, recoveringUntilMs } = row;
  const shared = { organizationId, userId, email, reason, attempts: 0, problem: null, createdAtMs: nowMs };
  if (externalId !== null) {
    store.queueRevocation(tx, { ...shared, id: ids.uuid(), externalId, nextAttemptAtMs: nowMs });
  }
  // A running attempt queues its own key when it settles, so the revocation of leftovers waits for its lease to end.
  if (row.leftovers) {
    const nextAttemptAtMs = Math.max(nowMs, recoveringUntilMs ?? nowMs);
    store.queueRevocation(tx, { ...shared, id: ids.uuid(), externalId: null, nextAttemptAtMs });
  }
}
