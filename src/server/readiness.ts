// Whether the service can do its work: named checks, each quick, asked by /ready and /health/*.
import { existsSync } from "node:fs";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database.ts";

export interface Readiness {
  /** @returns names of the checks that fail now */
  failing(): string[];
  /** whether tables of the schema this program knows are readable */
  isSchemaCompatible(): boolean;
  /** whether background work finished a turn lately */
  isWorkerFresh(): boolean;
}

export interface ReadinessOptions {
  db: Db;
  clock: Clock;
  databaseFile: string;
  /** throws when no access token can be signed */
  checkKeys(): void;
  lastBeatMs(): number;
}

/** Age of the scheduler's last turn at which it counts as stuck (control-api.md section 13). */
export const WORKER_FRESH_MS = 120_000;

export function createReadiness({
  db,
  clock,
  databaseFile,
  checkKeys,
  lastBeatMs,
}: ReadinessOptions): Readiness {
  const startedMs = clock.nowMs();
  // An open file that was removed still reads: the directory entry tells whether the next start will find the data.
  const isDatabaseThere = () => existsSync(databaseFile);
  const isSchemaCompatible = () => holds(() => db.revision("jobs")) && isDatabaseThere();
  const isWorkerFresh = () => clock.nowMs() - Math.max(lastBeatMs(), startedMs) < WORKER_FRESH_MS;
  return {
    isSchemaCompatible,
    isWorkerFresh,
    failing: () => [
      ...(isSchemaCompatible() ? [] : ["database"]),
      ...(holds(checkKeys) ? [] : ["keys"]),
      ...(isWorkerFresh() ? [] : ["worker"]),
    ],
  };
}

function holds(check: () => unknown): boolean {
  try {
    check();
    return true;
  } catch {
    return false; // the caller names the failing check; the log of the operation that needs it has the reason
  }
}
