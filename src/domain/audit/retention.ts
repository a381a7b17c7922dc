// The job that removes the oldest audit entries, a bounded batch per transaction. What is left stays a chain: it begins at a
// checkpoint that moves in the same transaction. When the job runs is the scheduler's business.
import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Actor } from "../shared/actor.ts";
import { checkpointSummary, FORGET_ACTION, NOTHING_REMOVED } from "./checkpoint.ts";
import { findCheckpoint } from "./log-store.ts";
import * as store from "./retention-store.ts";
import type { Audit } from "./service.ts";

/** Entries that are removed in one transaction at most. */
export const FORGET_BATCH_ROWS = 1_000;

export interface AuditRetentionDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
}

/**
 * Removes entries that were recorded that many days ago; an entry of each batch says how many.
 * @param signal ends the run between two batches
 * @returns how many
 */
export async function forgetEntries(
  { db, clock, audit }: AuditRetentionDependencies,
  actor: Actor,
  { retentionDays, signal }: { retentionDays: number; signal: AbortSignal },
): Promise<number> {
  const nowMs = clock.nowMs();
  const times = { nowMs, recordedBeforeMs: nowMs - retentionDays * DAY_MS };
  let removed = 0;
  while (!signal.aborted) {
    const batch = await db.write((tx) => forgetBatch(tx, { audit, actor, ...times }), "unobserved");
    removed += batch;
    if (batch < FORGET_BATCH_ROWS) break;
  }
  return removed;
}

interface Batch extends Times {
  audit: Audit;
  actor: Actor;
}

interface Times {
  nowMs: number;
  recordedBeforeMs: number;
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
  // Recorded first: also where nothing else is left, the new entry is chained to one that was there.
  audit.record(tx, { actor, action: FORGET_ACTION, target: actor.organizationId, after });
  store.removeUpTo(tx, checkpoint);
  return old.length;
}

/**
 * @returns the entries before the first that is to be kept: a chain loses only its beginning. An entry from the future was made
 *   while the clock was wrong; it goes with an old one behind it, and does not keep the log from becoming shorter.
 */
function oldAmong(entries: readonly store.OldEntry[], times: Times): readonly store.OldEntry[] {
  const isOld = ({ atMs }: store.OldEntry) => atMs < times.recordedBeforeMs;
  const firstKept = entries.findIndex((entry) => !isOld(entry) && entry.atMs <= times.nowMs);
  const candidates = firstKept === -1 ? entries : entries.slice(0, firstKept);
  return candidates.slice(0, candidates.findLastIndex(isOld) + 1);
}
