// Removes or revokes many clients: those of a list of ids, or all that match a filter. Each client has its own audit entry, and the
// whole has one more. Clients that are not selected keep their logins, even if the same sign-in approved them.
import { setImmediate } from "node:timers/promises";
import type { Tx } from "../../platform/database/database.ts";
import { isOwnId } from "../../platform/ids.ts";
import { runInTurns } from "../../platform/steps.ts";
import type { Actor } from "../shared/actor.ts";
import type { Inventory } from "./inventory/inventory.ts";
import type { ClientFilterQuery } from "./inventory/list-query.ts";
import { BATCH_ROWS } from "./limits.ts";
import { REVOKED, type RemovalDependencies, type RemovalKind, summaryOf } from "./removal.ts";
import * as store from "./store.ts";

/** Clients of one transaction, so that none holds the event loop for long. */
const ROWS_AT_ONCE = 25;

/** Which clients: at most BATCH_ROWS ids, or a filter with its text for the audit log. */
export type Selection =
  | { ids: readonly string[]; filter?: undefined }
  | { ids?: undefined; filter: ClientFilterQuery & { q?: string | undefined }; text: string };

export interface BulkRemoval {
  removal: RemovalKind;
  selection: Selection;
  /** clients that the whole operation concerns; its first slice records it. Undefined for a later slice. */
  whole?: number | undefined;
  /** of this slice; at most BATCH_ROWS, which is the default */
  rowsMax?: number;
}

export interface BulkRow {
  id: string;
  /** host name or instance id; undefined for a client that is not in the inventory */
  name: string | undefined;
  result: "done" | "unchanged" | "refused";
  /** why it is unchanged or refused, as a clause */
  why?: string;
}

/** A client as it was listed; a client that reported since then may match no more. */
interface Listed {
  id: string;
  seenAtMs?: number;
}

export class BulkRemovals {
  constructor(
    private readonly own: RemovalDependencies & { inventory: Pick<Inventory, "listInSteps" | "summaries"> },
  ) {}

  /**
   * @returns the number of clients that the selection has now
   * @throws DomainError `client.invalid`
   */
  async count(organizationId: string, { ids, filter }: Selection): Promise<number> {
    if (ids) return new Set(ids).size;
    const query = { ...filter, perPage: 1 };
    return (await runInTurns(this.own.inventory.listInSteps(organizationId, query))).total;
  }

  /**
   * Removes or revokes one slice of the selection, those seen longest ago first.
   * @returns one row for each; fewer than were asked for if no more match
   * @throws DomainError `client.invalid`
   */
  async slice(actor: Actor, bulk: BulkRemoval): Promise<BulkRow[]> {
    const listed = await this.#listed(actor.organizationId, bulk);
    const rows: BulkRow[] = [];
    for (let at = 0; at < listed.length; at += ROWS_AT_ONCE) {
      const some = listed.slice(at, at + ROWS_AT_ONCE);
      const done = await this.own.db.write((tx) => {
        if (at === 0 && bulk.whole !== undefined) this.#recordWhole(tx, actor, bulk);
        return some.map((one) => this.#end(tx, actor, { ...one, removal: bulk.removal }));
      }, "clients");
      rows.push(...done);
      await setImmediate(); // lets other requests run
    }
    return rows;
  }

  async #listed(organizationId: string, { selection, rowsMax = BATCH_ROWS }: BulkRemoval): Promise<Listed[]> {
    const { ids, filter } = selection;
    if (ids) return [...new Set(ids.map((id) => id.toLowerCase()))].slice(0, rowsMax).map((id) => ({ id }));
    const query = { ...filter, sort: "last_seen_asc", perPage: rowsMax, known: rowsMax };
    const { items } = await runInTurns(this.own.inventory.summaries(organizationId, query));
    return items.map(({ id, lastSeenAtMs }) => ({ id, seenAtMs: lastSeenAtMs }));
  }

  #end(tx: Tx, actor: Actor, { id, seenAtMs, removal }: Listed & { removal: RemovalKind }): BulkRow {
    const { organizationId } = actor;
    const row = isOwnId(id) ? store.find(tx, { organizationId, id }) : undefined;
    if (!row) return { id, name: undefined, ...ABSENT[removal] };
    const name = row.hostname ?? row.instanceId;
    if (seenAtMs !== undefined && row.lastSeenAtMs !== seenAtMs)
      return { id, name, result: "unchanged", why: "it has reported since it was counted" };
    if (removal === "revoke" && !this.#endLogin(tx, actor, row))
      return { id, name, result: "refused", why: "it reports with a browser sign-in that is used elsewhere" };
    store.take(tx, { organizationId, id });
    this.own.audit.record(tx, { actor, action: `client.${removal}`, target: id, before: summaryOf(row) });
    return { id, name, result: "done" };
  }

  /** @returns false if only the whole sign-in could be ended, and somebody else uses it */
  #endLogin(tx: Tx, { credential }: Actor, row: store.ReportRow): boolean {
    const { loginSessionId, grantId } = row;
    const ending = { reason: REVOKED, nowMs: this.own.clock.nowMs() };
    const isShared = credential === `login_session:${loginSessionId}` || store.hasCompanion(tx, row);
    if (!isShared) this.own.endLogin.session(tx, { loginSessionId, ...ending });
    else if (grantId !== null) this.own.endLogin.grant(tx, { grantId, ...ending });
    else return false;
    return true;
  }

  #recordWhole(tx: Tx, actor: Actor, { removal, selection, whole = 0 }: BulkRemoval): void {
    const filter = selection.ids ? null : selection.text;
    const event = { actor, target: actor.organizationId, after: { workstations: whole, filter } };
    if (removal === "remove") this.own.audit.record(tx, { ...event, action: "clients.remove" });
    else this.own.audit.record(tx, { ...event, action: "clients.revoke" });
  }
}

/** The login of a client is known only from its record. */
const ABSENT = {
  remove: { result: "unchanged", why: "it is not in the inventory" },
  revoke: {
    result: "refused",
    why: "it is not in the inventory, so its login is unknown; see the logins of its user",
  },
} as const;
