// Removes clients from the inventory: one, or all that were not seen since a given time. `remove` keeps the login, so the
// client returns with its next report. `revoke` also ends the login, so that the client can no longer report.
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Audit, AuditSummary } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { clientNotFound } from "./errors.ts";
import { BATCH_ROWS } from "./limits.ts";
import * as store from "./store.ts";

/** Ends a login in the caller's transaction. The access area provides both functions. */
export interface EndLogin {
  /** ends the browser sign-in and everything it approved */
  session(tx: Tx, ending: { loginSessionId: string; reason: string; nowMs: number }): void;
  /** ends the grant of one workstation only */
  grant(tx: Tx, ending: { grantId: string; reason: string; nowMs: number }): void;
}

export interface RemovalDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  endLogin: EndLogin;
}

export type RemovalKind = "remove" | "revoke";

/** Why a login ended. */
export const REVOKED = "client_revoked";

export class ClientRemovals {
  constructor(private readonly own: RemovalDependencies) {}

  /**
   * Removes one record. The client's next report creates a new one.
   * @throws DomainError `client.not_found`, also for a client of another organization and for a malformed id
   */
  remove(actor: Actor, id: string): Promise<void> {
    return this.own.db.write((tx) => {
      this.#take(tx, actor, { id, action: "client.remove" });
    }, "clients");
  }

  /**
   * Removes one record and ends the login session of its last report, including every grant, refresh token and inference
   * token issued from it. The workstation's next request is refused.
   * @throws DomainError `client.not_found`
   */
  revoke(actor: Actor, id: string): Promise<void> {
    return this.own.db.write((tx) => {
      const { loginSessionId } = this.#take(tx, actor, { id, action: "client.revoke" });
      this.own.endLogin.session(tx, { loginSessionId, reason: REVOKED, nowMs: this.own.clock.nowMs() });
    }, "clients");
  }

  /**
   * Removes or revokes every client not seen since a given time, in batches, oldest first. If a client seen since then uses
   * the same login session, the session continues and only the removed workstation's grant ends.
   * @param options `seenBeforeMs` is UTC milliseconds; `signal` stops the work between two batches
   * @returns the number of clients removed
   */
  async unseen(
    actor: Actor,
    { removal, seenBeforeMs, signal }: { removal: RemovalKind; seenBeforeMs: number; signal?: AbortSignal },
  ): Promise<number> {
    const unseen = { organizationId: actor.organizationId, seenBeforeMs, limit: BATCH_ROWS };
    let removed = 0;
    while (!signal?.aborted) {
      const batch = await this.own.db.write((tx) => {
        const rows = store.takeUnseen(tx, unseen);
        for (const row of rows) {
          if (removal === "revoke") this.#endLoginOf(tx, row, seenBeforeMs);
          this.#record(tx, actor, { row, action: `client.${removal}` });
        }
        return rows.length;
      }, "clients");
      removed += batch;
      if (batch < BATCH_ROWS) break;
    }
    return removed;
  }

  #take(tx: Tx, actor: Actor, { id, action }: { id: string; action: string }): store.ReportRow {
    // Ids are stored in lower case; UUID input is case-insensitive (RFC 9562 section 4).
    const row = store.take(tx, { organizationId: actor.organizationId, id: id.toLowerCase() });
    if (!row) throw clientNotFound(id);
    this.#record(tx, actor, { row, action });
    return row;
  }

  #endLoginOf(tx: Tx, row: store.ReportRow, seenSinceMs: number): void {
    const { userId, loginSessionId, grantId } = row;
    const ending = { reason: REVOKED, nowMs: this.own.clock.nowMs() };
    if (!store.isLoginInUse(tx, { userId, loginSessionId, seenSinceMs }))
      this.own.endLogin.session(tx, { loginSessionId, ...ending });
    else if (grantId !== null) this.own.endLogin.grant(tx, { grantId, ...ending });
  }

  #record(tx: Tx, actor: Actor, { row, action }: { row: store.ReportRow; action: string }): void {
    this.own.audit.record(tx, { actor, action, target: row.id, before: summaryOf(row) });
  }
}

/** @returns what the audit log keeps of a client */
export const summaryOf = (row: store.ReportRow): AuditSummary => ({
  user_id: row.userId,
  instance_id: row.instanceId,
  hostname: row.hostname,
  login_session_id: row.loginSessionId,
  last_seen_at: toRfc3339(row.lastSeenAtMs),
});
