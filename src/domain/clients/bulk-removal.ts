// Removes or revokes many clients, selected by a list of ids or by a filter. Each client gets an audit entry, and so does the
// whole operation. Clients that are not selected keep their logins, even if the same sign-in approved them.
import { setImmediate } from "node:timers/promises";
import type { Connection, Tx } from "../../platform/database/database.ts";
import type { Problem } from "../../platform/errors.ts";
import { isOwnId } from "../../platform/ids.ts";
import { runInTurns } from "../../platform/steps.ts";
import type { Actor } from "../shared/actor.ts";
import { BULK_ROWS_MAX, type BulkRow, type BulkSlice, readBulkIds } from "../shared/bulk.ts";
import { invalidQuery, refuseQuery } from "./errors.ts";
import { cursorText } from "./inventory/cursor.ts";
import type { Inventory } from "./inventory/inventory.ts";
import type { ClientFilterQuery } from "./inventory/list-query.ts";
import {
  type EndedWith,
  endLoginsOf,
  type RemovalDependencies,
  type RemovalKind,
  summaryOf,
} from "./removal.ts";
import * as store from "./store.ts";

/** Least recently seen first. */
const SORT = "last_seen_asc";
/** Clients per transaction, so few that a transaction does not block the event loop for long. */
const ROWS_AT_ONCE = 10;

/** Selects clients: at most BULK_ROWS_MAX ids, or a filter with its text for the audit log. */
export type Selection =
  | { ids: readonly string[]; filter?: undefined }
  | { ids?: undefined; filter: ClientFilterQuery; text: string };

export interface BulkRemoval {
  removal: RemovalKind;
  selection: Selection;
  /** number of clients in the whole operation, which its first slice records; undefined for a later slice */
  whole?: number | undefined;
  /** size of this slice; at most BULK_ROWS_MAX, which is the default */
  rowsMax?: number | undefined;
  /** `next` of the previous slice; undefined for the first one */
  cursor?: string | undefined;
  /** reports what would happen without changing anything */
  isDryRun?: boolean | undefined;
}

/** A client as it was listed. It may no longer match if it has reported since. */
interface Listed {
  id: string;
  seenAtMs?: number;
}

/**
 * What to do with a client: its row and how its login ends, or why nothing happens; undefined if a later slice will list it again.
 */
type CheckedRemoval = { row: store.ReportRow; ends: "nothing" | "grant" | "session" } | BulkRow | undefined;

export class BulkRemovals {
  constructor(
    private readonly dependencies: RemovalDependencies & {
      inventory: Pick<Inventory, "listInSteps" | "summaries">;
    },
  ) {}

  /**
   * @returns the current number of clients in the selection
   * @throws DomainError `client.invalid`
   */
  async count(organizationId: string, { ids, filter }: Selection): Promise<number> {
    if (ids) return idsIn(ids).length;
    const query = { ...filter, perPage: 1 };
    return (await runInTurns(this.dependencies.inventory.listInSteps(organizationId, query))).total;
  }

  /**
   * Removes or revokes one slice of the selection, least recently seen first. A client that reports between two slices, or
   * after its slice was listed, moves to the end, where a later slice finds it if it still matches. Clients whose first report
   * came after the first slice began are skipped, so that a removed client that returns is not removed again.
   * @throws DomainError `client.invalid`
   */
  async slice(actor: Actor, bulk: BulkRemoval): Promise<BulkSlice> {
    const { listed, next, end } = await this.#listed(actor.organizationId, bulk);
    const rows: BulkRow[] = [];
    for (let at = 0; at < listed.length; at += ROWS_AT_ONCE) {
      const some = listed.slice(at, at + ROWS_AT_ONCE).map((one) => ({ ...one, removal: bulk.removal }));
      rows.push(
        ...(bulk.isDryRun ? this.#preview(actor, some) : await this.#end(actor, some, at === 0 ? bulk : {})),
      );
      await setImmediate(); // lets other requests run
    }
    return { rows, next: rows.length < listed.length ? end : next };
  }

  /**
   * @returns the clients of the slice; `next`, the beginning of the next slice, or null; `end`, the position after the last client
   */
  async #listed(
    organizationId: string,
    bulk: BulkRemoval,
  ): Promise<{ listed: Listed[]; next: string | null; end: string | null }> {
    const { selection, rowsMax = BULK_ROWS_MAX } = bulk;
    if (selection.ids) return { listed: idsIn(selection.ids).map((id) => ({ id })), next: null, end: null };
    const { beganAtMs, cursor } = placeIn(bulk.cursor) ?? {
      beganAtMs: this.dependencies.clock.nowMs(),
      cursor: undefined,
    };
    const query = {
      ...selection.filter,
      firstSeenToMs: beganAtMs,
      cursor,
      sort: SORT,
      perPage: rowsMax,
      known: rowsMax,
    };
    const page = await runInTurns(this.dependencies.inventory.summaries(organizationId, query));
    const listed = page.items.map(({ id, lastSeenAtMs }) => ({ id, seenAtMs: lastSeenAtMs }));
    const last = listed.at(-1);
    const place = last && { first: last.seenAtMs, second: last.id };
    const after = place && cursorText(SORT, { place, known: rowsMax, isExact: false });
    const cursorOf = (text: string | null | undefined) => (text ? `${beganAtMs}.${text}` : null);
    return { listed, next: cursorOf(page.next), end: cursorOf(after) };
  }

  #preview(actor: Actor, some: readonly (Listed & { removal: RemovalKind })[]): BulkRow[] {
    return some.flatMap((one) => {
      const checked = checkRemoval(this.dependencies.db.read, actor, one) ?? [];
      return "row" in checked ? doneRow(checked.row) : checked;
    });
  }

  #end(
    actor: Actor,
    some: readonly (Listed & { removal: RemovalKind })[],
    whole: Partial<BulkRemoval>,
  ): Promise<BulkRow[]> {
    return this.dependencies.db.write((tx) => {
      this.#recordWhole(tx, actor, whole);
      const logins: EndedWith = { loginSessionIds: [], grantIds: [] };
      const rows = some.flatMap((one) => {
        const checked = checkRemoval(tx, actor, one) ?? [];
        if (!("row" in checked)) return checked;
        const { row, ends } = checked;
        if (ends === "session") logins.loginSessionIds.push(row.loginSessionId);
        if (ends === "grant" && row.grantId !== null) logins.grantIds.push(row.grantId);
        this.#take(tx, actor, { row, removal: one.removal });
        return doneRow(row);
      });
      endLoginsOf(this.dependencies, tx, logins);
      return rows;
    }, "clients");
  }

  #take(tx: Tx, actor: Actor, { row, removal }: { row: store.ReportRow; removal: RemovalKind }): void {
    const { id, organizationId } = row;
    store.take(tx, { organizationId, id });
    this.dependencies.audit.record(tx, {
      actor,
      action: `client.${removal}`,
      target: id,
      before: summaryOf(row),
    });
  }

  #recordWhole(tx: Tx, actor: Actor, { removal, selection, whole }: Partial<BulkRemoval>): void {
    if (whole === undefined || !selection) return;
    const filter = selection.ids ? null : selection.text;
    const event = { actor, target: actor.organizationId, after: { workstations: whole, filter } };
    if (removal === "remove") this.dependencies.audit.record(tx, { ...event, action: "clients.remove" });
    else this.dependencies.audit.record(tx, { ...event, action: "clients.revoke" });
  }
}

function idsIn(ids: readonly string[]): string[] {
  const problems: Problem[] = [];
  const different = readBulkIds(ids, problems);
  refuseQuery(problems);
  return different;
}

/** @throws DomainError `client.invalid` for text that is not a cursor of a slice */
function placeIn(text: string | undefined): { beganAtMs: number; cursor: string } | undefined {
  if (text === undefined) return undefined;
  const [, time, cursor] = /^(\d{1,15})\.(.+)$/.exec(text) ?? [];
  if (time !== undefined && cursor !== undefined) return { beganAtMs: Number(time), cursor };
  throw invalidQuery([{ pointer: "/cursor", detail: "cursor must be the next_cursor of an earlier slice" }]);
}

function checkRemoval(
  connection: Connection,
  { organizationId, credential }: Actor,
  { id, seenAtMs, removal }: Listed & { removal: RemovalKind },
): CheckedRemoval {
  const row = isOwnId(id) ? store.find(connection, { organizationId, id }) : undefined;
  if (!row) return { id, name: undefined, ...ABSENT[removal] };
  if (seenAtMs !== undefined && row.lastSeenAtMs !== seenAtMs) return undefined;
  if (removal === "remove") return { row, ends: "nothing" };
  const isShared =
    credential === `login_session:${row.loginSessionId}` || store.hasOtherClientOfLogin(connection, row);
  if (!isShared) return { row, ends: "session" };
  if (row.grantId !== null) return { row, ends: "grant" };
  return {
    ...doneRow(row),
    result: "refused",
    why: "its reports come with a browser sign-in that is also used elsewhere",
  };
}

const doneRow = ({ id, hostname, instanceId }: store.ReportRow): BulkRow => ({
  id,
  name: hostname ?? instanceId,
  result: "done",
});

/** Results for a missing client. Its login is unknown, because only its inventory row names it. */
const ABSENT = {
  remove: { result: "unchanged", why: "it is not in the inventory" },
  revoke: {
    result: "refused",
    why: "it is not in the inventory, so its login is unknown; see the logins of its user",
  },
} as const;
