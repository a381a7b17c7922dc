// Compares the replica in its store with the database on this machine, to find out whether it is current and which
// writes a failure would lose now. Litestream does not report its state, so this reads its files on both sides.
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Clock, MINUTE_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { DataDirectory } from "../../../platform/data-directory/data-directory.ts";
import { litestreamFolder, replicationOf } from "../../../platform/database/maintenance/replication.ts";
import type { ReplicaStore } from "../replica-store.ts";
import { newestPosition, type Position } from "../terms.ts";
import { isLogCopied } from "./copied-log.ts";

export interface ReplicaState {
  /** the newest point in the store; undefined if it has no data of this term */
  position: Position | undefined;
  /** time of the first write that the store lacks, UTC milliseconds; undefined if it is complete */
  missingSinceMs: number | undefined;
  /** number of missing Litestream transactions; undefined if Litestream does not number them or does not run */
  missingTransactions: number | undefined;
}

/** Litestream copies four times a second, so a write that is still missing after this time is not merely in transit. */
export const RECHECK_DELAY_MS = 2.5 * SECOND_MS;
/** How long Litestream may take to notice a write, if only the times of files show it. */
export const STALLED_AFTER_MS = 30 * SECOND_MS;
/** Tolerated clock difference of a store, for Litestream 0.3, where only times can be compared. */
const CLOCKS_MS = MINUTE_MS;

type Local = Pick<DataDirectory, "database">;

/** @throws DomainError `unavailable` if the store is unreachable; the signal's reason */
export async function examineReplica(
  store: ReplicaStore,
  { database, term, clock, signal }: Local & { term: string; clock: Clock; signal?: AbortSignal },
): Promise<ReplicaState> {
  const check = async () => compare(await newestPosition(store, term), localState(database), clock.nowMs());
  const first = await check();
  if (first.missingSinceMs === undefined) return first;
  await sleep(RECHECK_DELAY_MS, undefined, signal && { signal });
  return await check();
}

export interface LocalState {
  /** transactions that Litestream 0.5 has taken from the log of SQLite, in ascending order */
  taken: readonly { transaction: number; atMs: number }[];
  /** time at which Litestream last read the log; undefined if it never did */
  lastProgressMs: number | undefined;
  /** time of the last write to the log of SQLite; undefined without a log */
  lastWriteMs: number | undefined;
  /** whether Litestream has taken every commit; undefined if only the times show it */
  isCopied: boolean | undefined;
}

/** @returns the missing writes */
export function compare(position: Position | undefined, local: LocalState, nowMs: number): ReplicaState {
  const { taken, lastProgressMs = 0, lastWriteMs } = local;
  const lacking = taken.filter(({ transaction }) => transaction > (position?.transaction ?? 0));
  const isNumbered = taken.length > 0 && (position === undefined || position.transaction !== undefined);
  // Without files of Litestream here, such as after a restore, only the store shows the state.
  const noticedMs = lastProgressMs || position?.atMs || lastWriteMs || 0;
  const times = [
    ...(isNumbered ? lacking.slice(0, 1).map(({ atMs }) => atMs) : []),
    ...(!isNumbered && lastProgressMs > (position?.atMs ?? 0) + CLOCKS_MS
      ? [position?.atMs ?? lastProgressMs]
      : []),
    ...(isStalled(local, nowMs) ? [noticedMs] : []),
    ...(position === undefined && lastWriteMs !== undefined ? [lastWriteMs] : []),
  ];
  return {
    position,
    missingSinceMs: times.length === 0 ? undefined : Math.min(...times),
    missingTransactions: isNumbered ? lacking.length : undefined,
  };
}

/** Whether Litestream has left a write in the log for too long. */
function isStalled({ lastProgressMs = 0, lastWriteMs, isCopied }: LocalState, nowMs: number): boolean {
  if (isCopied !== undefined) return !isCopied && nowMs - lastProgressMs > RECHECK_DELAY_MS;
  return (
    lastWriteMs !== undefined &&
    lastWriteMs > lastProgressMs &&
    Math.max(nowMs - lastWriteMs, lastWriteMs - lastProgressMs) > STALLED_AFTER_MS
  );
}

const TAKEN = /^[0-9a-f]{16}-([0-9a-f]{16})\.ltx$/;

function localState(database: string): LocalState {
  const folder = join(litestreamFolder(database), "ltx", "0");
  const taken = namesIn(folder).flatMap((name) => {
    const [, last] = TAKEN.exec(name) ?? [];
    const found = last === undefined ? undefined : statSync(join(folder, name), { throwIfNoEntry: false });
    return last === undefined || !found
      ? []
      : [{ name, transaction: Number.parseInt(last, 16), atMs: Math.floor(found.mtimeMs) }];
  });
  const sorted = taken.toSorted((one, other) => one.transaction - other.transaction);
  const newest = sorted.at(-1);
  const isCopied = isLogCopied(database, newest && join(folder, newest.name));
  return { taken: sorted, isCopied, ...replicationOf(database) };
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // Litestream has not run, or is 0.3
  }
}
