// Changes to a key's row that several operations share: remove an unusable key, queue its revocation upstream, and write the
// audit entry. All run in the caller's transaction.
import type { Tx } from "../../../platform/database/database.ts";
import type { Actor } from "../../shared/actor.ts";
import type { GatewayDependencies } from "../dependencies.ts";
import { EXPIRED_PROBLEM, isExpired, type KeyRow, NO_KEY, nextReplacementMs, nextState } from "../model.ts";
import { openCredential } from "../sealing/sealed-credential.ts";
import {
  type KeyOwner,
  type QueuedRevocation,
  queueRevocation,
  type RevocationReason,
} from "./key-retirement.ts";
import * as store from "./store.ts";

interface Invalidation {
  actor: Actor;
  /** shown to the user at the workstation */
  reason: string;
  /** why it is revoked upstream */
  queueAs: RevocationReason;
  nowMs: number;
}

export class KeyChanges {
  constructor(private readonly dependencies: GatewayDependencies) {}

  /** Removes an unusable key and schedules its replacement within the replacement budget. */
  invalidate(tx: Tx, row: KeyRow, { actor, reason, queueAs, nowMs }: Invalidation): KeyRow {
    this.#revokeKeyOf(tx, row, { reason: queueAs, nowMs });
    const after = this.update(tx, row, {
      ...NO_KEY,
      state: nextState(row.state, "rejected"),
      credentialVersion: this.dependencies.ids.uuid(),
      invalidatedAtMs: nowMs,
      invalidationReason: reason,
      problemCode: null,
      problem: null,
      failures: 0,
      nextAttemptAtMs: nextReplacementMs(row, nowMs),
      recoveringUntilMs: null,
    });
    this.record(tx, { actor, action: "gateway_key.invalidate", row: after });
    return after;
  }

  /** Removes the key from the row if it has expired or cannot be decrypted. @returns the row after the change */
  usable(tx: Tx, row: KeyRow | undefined, nowMs: number): KeyRow | undefined {
    if (row?.state !== "ready") return row;
    const { ids, sealing } = this.dependencies;
    if (isExpired(row, nowMs)) {
      this.#revokeKeyOf(tx, row, { reason: "expired", nowMs });
      return this.update(tx, row, {
        ...NO_KEY,
        state: nextState("ready", "expired"),
        credentialVersion: ids.uuid(),
        problem: EXPIRED_PROBLEM,
        nextAttemptAtMs: nowMs,
      });
    }
    if (openCredential(sealing, row)) return row;
    const reason = "the stored key could not be opened";
    return this.invalidate(tx, row, { actor: systemActor(row), reason, queueAs: "unreadable", nowMs });
  }

  #revokeKeyOf(tx: Tx, row: KeyRow, why: { reason: RevocationReason; nowMs: number }): void {
    if (row.externalId !== null) this.revokeUpstream(tx, row, { ...why, externalId: row.externalId });
  }

  /** Queues an external id for revocation at `atMs`. Ignores a blank id. */
  revokeUpstream(
    tx: Tx,
    owner: KeyOwner,
    revocation: Omit<QueuedRevocation, "ids" | "externalId"> & { externalId: string },
  ): void {
    if (revocation.externalId.trim() === "") return;
    queueRevocation(tx, owner, { ...revocation, ids: this.dependencies.ids });
  }

  /** Stores the row with the changes. `row` is new, or was read in this transaction. @returns the row after the change */
  update(tx: Tx, row: KeyRow, changes: Partial<KeyRow>): KeyRow {
    const after = { ...row, ...changes, updatedAtMs: this.dependencies.clock.nowMs() };
    store.putKey(tx, after);
    return after;
  }

  /** Writes the audit entry of a change. It includes the key's id at the gateway, which is not a secret. */
  record(tx: Tx, { actor, action, row }: { actor: Actor; action: string; row: KeyRow }): void {
    const { state, externalId, alias, invalidationReason } = row;
    const after = { state, external_id: externalId, alias, invalidation_reason: invalidationReason };
    this.dependencies.audit.record(tx, { actor, action, target: row.userId, after });
  }
}

/** The actor for changes that the service makes on its own. */
export const systemActor = ({ organizationId }: { organizationId: string }): Actor => ({
  kind: "system",
  id: null,
  label: "gateway",
  organizationId,
});
