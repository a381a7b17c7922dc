// Appends to the audit log in the transaction that makes the change. Entries are chained (chain.ts), so that a removed or edited
// entry is detected. log.ts reads the log.
import type { Clock } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "../shared/actor.ts";
import { chain } from "./chain.ts";
import * as store from "./store.ts";

export { AUDIT_ACTIONS } from "./actions.ts";

/** A summary of a row. It must contain no secrets. */
export type AuditSummary = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditEvent {
  actor: Actor;
  /** `noun.verb`, for example `catalog.seed` */
  action: string;
  /** id of the changed object */
  target: string;
  before?: AuditSummary;
  after?: AuditSummary;
}

/** The same event for each of many targets. */
export type AuditEvents = Omit<AuditEvent, "target"> & { targets: readonly string[] };

export type Audit = ReturnType<typeof createAudit>;

/** @returns the operations of the area; called once, in domain.ts */
export function createAudit({ clock }: { clock: Clock }) {
  /** Appends one entry for each target, in their order. */
  function recordAll(tx: Tx, { actor, action, targets, before, after }: AuditEvents): void {
    if (targets.length === 0) return;
    const facts = {
      atMs: clock.nowMs(),
      organizationId: actor.organizationId,
      actorKind: actor.kind,
      actorId: actor.id,
      actorLabel: actor.label,
      address: actor.address ?? null,
      requestId: actor.requestId ?? null,
      credential: actor.credential ?? null,
      action,
      before: before ? JSON.stringify(before) : null,
      after: after ? JSON.stringify(after) : null,
    };
    store.append(tx, facts, chain(facts, targets, store.lastDigest(tx)));
  }

  return {
    recordAll,

    /** Appends one entry. It commits or rolls back with the change that it describes. */
    record: (tx: Tx, { target, ...event }: AuditEvent): void =>
      recordAll(tx, { ...event, targets: [target] }),
  };
}
