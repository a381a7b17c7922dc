// Stores the result of one refresh: the gateway's list, or the reason why there is none. A failure keeps the catalog.
import type { Tx } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { ListingError, ModelListing } from "../../gateway/service.ts";
import {
  isSuperseded,
  type ModelRow,
  newRow,
  noLongerOffered,
  offeredAgain,
  REMOVED_KEPT_MAX,
  type SyncRow,
  stateOf,
} from "./model.ts";
import * as store from "./store.ts";

/** Number of rows to write before other requests get a turn. */
const ROWS_PER_STEP = 100;

export interface RefreshContext {
  organizationId: string;
  /** when the request to the provisioner began */
  beganAtMs: number;
  nowMs: number;
  /** models assigned to an agent, which are never removed */
  assigned: ReadonlySet<string>;
}

/** How many models a refresh added, changed and removed. */
export interface CatalogChanges {
  added: number;
  changed: number;
  removed: number;
}

/** @returns the changes; undefined if a later refresh is already stored */
export function* settleListing(
  tx: Tx,
  { models, sourceRevision }: ModelListing,
  refresh: RefreshContext,
): Steps<CatalogChanges | undefined> {
  const { organizationId, beganAtMs, nowMs } = refresh;
  const sync = store.findSync(tx, organizationId);
  if (isSuperseded(sync, refresh)) return undefined;
  const rows = new Map(store.listModels(tx, organizationId).map((row) => [row.id, row]));
  yield; // reading 5,000 rows takes a whole turn
  const changes = { added: 0, changed: 0, removed: 0 };
  let written = 0;
  const put = (row: ModelRow): boolean => {
    store.putModel(tx, row);
    rows.set(row.id, row);
    written += 1;
    return written % ROWS_PER_STEP === 0;
  };
  for (const model of models) {
    const known = rows.get(model.id);
    const row = known ? offeredAgain(known, model) : newRow(organizationId, model, nowMs);
    if (!row) continue;
    if (!known || known.unavailableSinceMs !== null) changes.added += 1;
    else if (stateOf(row) === "changed") changes.changed += 1;
    if (put(row)) yield;
  }
  const listed = new Set(models.map(({ id }) => id));
  for (const known of [...rows.values()]) {
    const row = listed.has(known.id)
      ? undefined
      : noLongerOffered(known, { lastSeenAtMs: sync?.succeededAtMs ?? null, nowMs });
    if (!row) continue;
    changes.removed += 1;
    if (put(row)) yield;
  }
  yield* forgetOldest(tx, [...rows.values()], refresh);
  store.putSync(tx, {
    organizationId,
    refreshedAtMs: beganAtMs,
    succeededAtMs: nowMs,
    sourceRevision,
    problem: null,
    problemAtMs: null,
    discoverySupported: 1,
  });
  return changes;
}

/** Keeps a gateway with constantly changing ids from filling the database. */
function* forgetOldest(
  tx: Tx,
  rows: readonly ModelRow[],
  { assigned }: Pick<RefreshContext, "assigned">,
): Steps<void> {
  const removed = rows.filter(
    ({ id, unavailableSinceMs }) => unavailableSinceMs !== null && !assigned.has(id),
  );
  const since = ({ unavailableSinceMs }: ModelRow) => unavailableSinceMs ?? 0;
  const oldestLast = removed.toSorted((one, other) => since(other) - since(one));
  for (const [at, row] of oldestLast.slice(REMOVED_KEPT_MAX).entries()) {
    store.removeModel(tx, row);
    if ((at + 1) % ROWS_PER_STEP === 0) yield;
  }
}

/** Stores why a list is missing. A provisioner that cannot list models is not a problem of the catalog. */
export function settleFailure(
  tx: Tx,
  { code, message }: ListingError,
  { organizationId, beganAtMs, nowMs }: Omit<RefreshContext, "assigned">,
): void {
  const sync = store.findSync(tx, organizationId);
  if (isSuperseded(sync, { beganAtMs, nowMs })) return;
  const isUnsupported = code === "unsupported";
  store.putSync(tx, {
    ...(sync ?? NEVER),
    organizationId,
    refreshedAtMs: beganAtMs,
    problem: isUnsupported ? null : message,
    problemAtMs: isUnsupported ? null : nowMs,
    discoverySupported: isUnsupported ? 0 : (sync?.discoverySupported ?? null),
  });
}

const NEVER: Pick<SyncRow, "succeededAtMs" | "sourceRevision"> = {
  succeededAtMs: null,
  sourceRevision: null,
};
