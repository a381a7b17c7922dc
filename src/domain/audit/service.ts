// Append-only record of who changed what, written in the transaction that makes the change (PRODUCT.md decision 13).
// Entries are chained: each digest covers the one before, so a removed or edited entry shows.
import type { Clock } from "../../platform/clock.ts";
import type { Tx } from "../../platform/database.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { Actor } from "../actor.ts";
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

export type Audit = ReturnType<typeof createAudit>;

/** @returns the one operation of the area; made once, in domain.ts */
export function createAudit({ clock }: { clock: Clock }) {
  return {
    /** Appends one entry; commits or rolls back with the change it describes. */
    record(tx: Tx, { actor, action, target, before, after }: AuditEvent): void {
      const previousDigest = store.lastDigest(tx);
      const entry = {
        atMs: clock.nowMs(),
        organizationId: actor.organizationId,
        actorKind: actor.kind,
        actorId: actor.id,
        actorLabel: actor.label,
        address: actor.address ?? null,
        requestId: actor.requestId ?? null,
        action,
        target,
        before: before ? JSON.stringify(before) : null,
        after: after ? JSON.stringify(after) : null,
      };
      const digest = sha256Hex(`${previousDigest}\n${JSON.stringify(Object.values(entry))}`);
      store.append(tx, { ...entry, previousDigest, digest });
    },
  };
}
