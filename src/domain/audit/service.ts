// Append-only record of who changed what, written in the transaction that makes the change.
// Entries are chained (chain.ts), so a removed or edited entry shows. Reading is for log.ts.
import type { Clock } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database/database.ts";
import type { Actor } from "../shared/actor.ts";
import { chain } from "./chain.ts";
import * as store from "./store.ts";

/** A summary of a row without secrets; anything JSON can carry. */
export type AuditSummary = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

export interface AuditEvent {
  actor: Actor;
  /** `noun.verb`, for example `catalog.seed` */
  action: string;
  /** id of what was changed */
  target: string;
  before?: AuditSummary;
  after?: AuditSummary;
}

/** The same event of many targets. */
export type AuditEvents = Omit<AuditEvent, "target"> & { targets: readonly string[] };

export type Audit = ReturnType<typeof createAudit>;

/** @returns the operations of the area; made once, in domain.ts */
export function createAudit({ clock }: { clock: Clock }) {
  /** Appends one entry for each target, in their order: what is the same in all is told once. */
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

    /** Appends one entry; commits or rolls back with the change it describes. */
    record: (tx: Tx, { target, ...event }: AuditEvent): void =>
      recordAll(tx, { ...event, targets: [target] }),
  };
}
