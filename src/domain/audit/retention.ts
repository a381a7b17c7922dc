// The job that removes the oldest audit entries, one bounded batch per transaction. The remaining entries stay a valid chain that
// begins at a checkpoint, which moves in the same transaction. The scheduler decides when the job runs.
import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import { runInBatches } from "../../platform/steps.ts";
import type { Actor } from "../shared/actor.ts";
import { checkpointSummary, FORGET_ACTION, NOTHING_REMOVED } from "./checkpoint.ts";
import { findCheckpoint } from "./log-store.ts";
import * as store from "./retention-store.ts";
import type { Audit } from "./service.ts";

/** Maximum number of entries to remove in one transaction; takes about 10 ms, because each is in five indexes. */
export const FORGET_BATCH_ROWS = 250;

export interface AuditRetentionDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
}

/**
 * Removes the entries that are older than `retentionDays`. Each batch records an entry with their number.
 * @returns the number of removed entries
 */
export async function forgetEntries(
  { db, clock, audit }: AuditRetentionDependencies,
  actor: Actor,
  { retentionDays, keptAfter = Number.POSITIVE_INFINITY, signal }: ForgetOptions,
): Promise<number> {
  const nowMs = clock.nowMs();
  const times = { nowMs, recordedBeforeMs: nowMs - retentionDays * DAY_MS, keptAfter };
  const batch = () => db.write((tx) => forgetBatch(tx, { audit, actor, ...times }), "unobserved");
  return await runInBatches(batch, { limit: FORGET_BATCH_ROWS, signal });
}

export interface ForgetOptions {
  retentionDays: number;
  /** id of an entry, after which entries of any age are kept; default: no limit */
  keptAfter?: number | undefined;
  /** ends the run between two batches */
  signal: AbortSignal;
}

interface Batch extends Times {
  audit: Audit;
  actor: Actor;
}

interface Times {
  nowMs: number;
  recordedBeforeMs: number;
  keptAfter: number;
}

function forgetBatch(tx: Tx, { audit, actor, ...times }: Batch): number {
  const old = oldAmong(store.listOldest(tx, FORGET_BATCH_ROWS), times);
  const last = old.at(-1);
  if (last === undefined) return 0;
  const before = findCheckpoint(tx) ?? NOTHING_REMOVED;
  const checkpoint = { entryId: last.id, digest: last.digest, removed: before.removed + old.length };
  const after = {
    recorded_before: toRfc3339(times.recordedBeforeMs),
    removed: old.length,
    ...checkpointSummary(checkpoint),
  };
  // Recorded before the removal: the new entry is chained to an existing one even if all others are removed.
  audit.record(tx, { actor, action: FORGET_ACTION, target: actor.organizationId, after });
  store.removeUpTo(tx, checkpoint);
  return old.length;
}

/**
 * @returns the entries before the first one to keep, because only the beginning of a chain can be removed. An entry dated in
 * the future comes from a wrong clock. It is removed together with a later old entry, so that it does not block retention.
 */
function oldAmong(entries: readonly store.OldEntry[], times: Times): readonly store.OldEntry[] {
  const isOld = ({ atMs }: store.OldEntry) => atMs < times.recordedBeforeMs;
  const firstKept = entries.findIndex((entry) => !isOld(entry) && entry.atMs <= times.nowMs);
  const candidates = (firstKept === -1 ? entries : entries.slice(0, firstKept)).filter(
    ({ id }) => id <= times.keptAfter,
  );
  return candidates.slice(0, candidates.findLastIndex(isOld) + 1);
}
