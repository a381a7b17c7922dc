// Taking clients off the inventory, one or all that were not seen for long: `remove` leaves the login alone, so the next report
// brings the client back; `revoke` also ends the login that reported, so there is no next report.
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Audit, AuditSummary } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { clientNotFound } from "./errors.ts";
import { BATCH_ROWS } from "./limits.ts";
import * as store from "./store.ts";

/** Ends a login in the caller's transaction; access provides both. */
export interface EndLogin {
  /** the sign-in in a browser, and everything that it has approved */
  session(tx: Tx, ending: { loginSessionId: string; reason: string; nowMs: number }): void;
  /** what one workstation got by it, alone */
  grant(tx: Tx, ending: { grantId: string; reason: string; nowMs: number }): void;
}

export interface RemovalDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  endLogin: EndLogin;
}

export type RemovalKind = "remove" | "revoke";

const REASON = "client_revoked";

export class ClientRemovals {
  constructor(private readonly own: RemovalDependencies) {}

  /**
   * Takes one record off the inventory; the client's next report makes a new one.
   * @throws DomainError `client.not_found`, alike for another organization's and for what is no id at all
   */
  remove(actor: Actor, id: string): Promise<void> {
    return this.own.db.write((tx) => {
      this.#take(tx, actor, { id, action: "client.remove" });
    }, "clients");
  }

  /**
   * Takes one record off the inventory and ends the login session that reported it, with every grant, refresh token and
   * inference token that goes back to it: the workstation's next request is refused.
   * @throws DomainError `client.not_found`
   */
  revoke(actor: Actor, id: string): Promise<void> {
    return this.own.db.write((tx) => {
      const { loginSessionId } = this.#take(tx, actor, { id, action: "client.revoke" });
      this.own.endLogin.session(tx, { loginSessionId, reason: REASON, nowMs: this.own.clock.nowMs() });
    }, "clients");
  }

  /**
   * Does the same to every client that was not seen since a time, in batches, those seen longest ago first. A login
   * session that a client seen since then also uses goes on: of it, the workstation's own grant alone ends.
   * @param options `seenBeforeMs` is UTC milliseconds; `signal` ends the work between two batches
   * @returns how many clients were taken off
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
    // Identifiers are kept in lower case; callers may use either (RFC 9562 section 4).
    const row = store.take(tx, { organizationId: actor.organizationId, id: id.toLowerCase() });
    if (!row) throw clientNotFound();
    this.#record(tx, actor, { row, action });
    return row;
  }

  #endLoginOf(tx: Tx, row: store.ReportRow, seenSinceMs: number): void {
    const { userId, loginSessionId, grantId } = row;
    const ending = { reason: REASON, nowMs: this.own.clock.nowMs() };
    if (!store.isLoginInUse(tx, { userId, loginSessionId, seenSinceMs }))
      this.own.endLogin.session(tx, { loginSessionId, ...ending });
    else if (grantId !== null) this.own.endLogin.grant(tx, { grantId, ...ending });
  }

  #record(tx: Tx, actor: Actor, { row, action }: { row: store.ReportRow; action: string }): void {
    this.own.audit.record(tx, { actor, action, target: row.id, before: summaryOf(row) });
  }
}

const summaryOf = (row: store.ReportRow): AuditSummary => ({
  user_id: row.userId,
  instance_id: row.instanceId,
  hostname: row.hostname,
  login_session_id: row.loginSessionId,
  last_seen_at: toRfc3339(row.lastSeenAtMs),
});
