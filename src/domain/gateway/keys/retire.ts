// Taking keys away: the row goes, and what is left of it at the gateway is queued for revocation in the same transaction
// (gateway-keys.md section 8.1, SCIM-18). A plain function, given to identity as a dependency; nobody calls the gateway here.

import type { Tx } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { KeyRow } from "../model.ts";
import * as store from "./store.ts";

/** Why a key is revoked upstream; kept with the entry. */
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

/** @returns the function that takes a user's key away; a user without one is fine */
export const createKeyRetirement =
  ({ ids }: { ids: Ids }): RetireGatewayKey =>
  (tx, { userId, reason, nowMs }) => {
    store.endOverlaps(tx, { userId, nowMs });
    const row = store.deleteKey(tx, userId);
    if (row) queueUpstream(tx, row, { ids, reason, nowMs });
  };

/** Queues what a row stands for upstream: its key, and what an attempt that was not heard of again may have made. */
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
  // An attempt that still runs settles by itself, and queues what it made.
  if (row.leftovers) {
    const nextAttemptAtMs = Math.max(nowMs, recoveringUntilMs ?? nowMs);
    store.queueRevocation(tx, { ...shared, id: ids.uuid(), externalId: null, nextAttemptAtMs });
  }
}
