// Removes clients from the inventory: one client, or all clients not seen since a given time. `remove` keeps the login, so the
// client returns with its next report. `revoke` also ends the login, so that the client can no longer report.
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Audit, AuditSummary } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { clientNotFound } from "./errors.ts";
import { BATCH_ROWS } from "./limits.ts";
import * as store from "./store.ts";

/** Ends logins in the caller's transaction; the access area provides both functions. */
export interface EndLogin {
  /** ends browser sign-ins and everything they approved */
  sessions(tx: Tx, ending: Ending & { loginSessionIds: readonly string[] }): void;
  /** ends the grants of workstations only */
  grants(tx: Tx, ending: Ending & { grantIds: readonly string[] }): void;
}

interface Ending {
  reason: string;
  nowMs: number;
}

export interface RemovalDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  endLogin: EndLogin;
}

export type RemovalKind = "remove" | "revoke";

/** Why a login ended. */
const REVOKED = "client_revoked";

export class ClientRemovals {
  constructor(private readonly dependencies: RemovalDependencies) {}

  /**
   * Removes one record. The client's next report creates a new one.
   * @throws DomainError `client.not_found`, also for a client of another organization and for a malformed id
   */
  remove(actor: Actor, id: string): Promise<void> {
    return this.dependencies.db.write((tx) => {
      this.#take(tx, actor, { id, action: "client.remove" });
    }, "clients");
  }

  /**
   * Removes one record and ends the login session of its last report, including every grant, refresh token and inference
   * token issued from it. The workstation's next request is refused.
   * @throws DomainError `client.not_found`
   */
  revoke(actor: Actor, id: string): Promise<void> {
    return this.dependencies.db.write((tx) => {
      const { loginSessionId } = this.#take(tx, actor, { id, action: "client.revoke" });
      endLoginsOf(this.dependencies, tx, { loginSessionIds: [loginSessionId], grantIds: [] });
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
      const batch = await this.dependencies.db.write((tx) => {
        const rows = store.takeUnseen(tx, unseen);
        if (removal === "revoke") this.#endLoginsOf(tx, rows, seenBeforeMs);
        for (const row of rows) this.#record(tx, actor, { row, action: `client.${removal}` });
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

  #endLoginsOf(tx: Tx, rows: readonly store.ReportRow[], seenSinceMs: number): void {
    const logins: EndedWith = { loginSessionIds: [], grantIds: [] };
    for (const { userId, loginSessionId, grantId } of rows) {
      if (!store.isLoginInUse(tx, { userId, loginSessionId, seenSinceMs }))
        logins.loginSessionIds.push(loginSessionId);
      else if (grantId !== null) logins.grantIds.push(grantId);
    }
    endLoginsOf(this.dependencies, tx, logins);
  }

  #record(tx: Tx, actor: Actor, { row, action }: { row: store.ReportRow; action: string }): void {
    this.dependencies.audit.record(tx, { actor, action, target: row.id, before: summaryOf(row) });
  }
}

/** The logins that end with removed clients. */
export interface EndedWith {
  loginSessionIds: string[];
  grantIds: string[];
}

/** Ends the logins of revoked clients with a few statements, however many clients there are. */
export function endLoginsOf(
  { clock, endLogin }: Pick<RemovalDependencies, "clock" | "endLogin">,
  tx: Tx,
  { loginSessionIds, grantIds }: EndedWith,
): void {
  const ending = { reason: REVOKED, nowMs: clock.nowMs() };
  if (loginSessionIds.length > 0) endLogin.sessions(tx, { loginSessionIds, ...ending });
  if (grantIds.length > 0) endLogin.grants(tx, { grantIds, ...ending });
}

/** @returns the summary of a client for the audit log */
export const summaryOf = (row: store.ReportRow): AuditSummary => ({
  user_id: row.userId,
  instance_id: row.instanceId,
  hostname: row.hostname,
  login_session_id: row.loginSessionId,
  last_seen_at: toRfc3339(row.lastSeenAtMs),
});
