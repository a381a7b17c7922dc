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

/** @returns the operations of the area; made once, in domain.ts */
export function createAudit({ clock }: { clock: Clock }) {
  /** @returns the digest of the entry, to which the next one is chained */
  function append(tx: Tx, event: AuditEvent, previousDigest: string): string {
    const { actor, action, target, before, after } = event;
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
    return digest;
  }

  return {
    /** Appends one entry; commits or rolls back with the change it describes. */
    record(tx: Tx, event: AuditEvent): void {
      append(tx, event, store.lastDigest(tx));
    },

    /** Appends many entries, in their order; looks once where the chain ends. */
    recordAll(tx: Tx, events: readonly AuditEvent[]): void {
      if (events.length === 0) return;
      let digest = store.lastDigest(tx);
      for (const event of events) digest = append(tx, event, digest);
    },
  };
}
