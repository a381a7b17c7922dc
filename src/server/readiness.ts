// Whether the service can do its work: named checks, each quick, asked by /ready and /health/*.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database/database.ts";
import { programSchema, schemaIn } from "../platform/database/schema/schema.ts";
import { diskSpace, isNearlyFull } from "../platform/files/disk.ts";

/** Names of the checks, in the order they are told. */
export const CHECKS = ["database", "schema", "keys", "worker", "disk"] as const;
export type Check = (typeof CHECKS)[number];

export interface Readiness {
  /** @returns the checks that fail now */
  failing(): Check[];
  /** whether every migration of this program made the database as it is, and no other did */
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

export function createReadiness(options: ReadinessOptions): Readiness {
  const { db, clock, databaseFile, checkKeys, lastBeatMs } = options;
  const startedMs = clock.nowMs();
  const isSchemaCurrent = createSchemaCheck(options);
  const checks: Record<Check, () => boolean> = {
    // An open file that was removed still reads: the directory entry tells whether the next start will find the data.
    database: () => holds(() => db.revision("jobs")) && existsSync(databaseFile),
    schema: () => holds(isSchemaCurrent),
    keys: () => holds(checkKeys),
    disk: () => holds(() => !isNearlyFull(diskSpace(dirname(databaseFile)))),
    worker: () => clock.nowMs() - Math.max(lastBeatMs(), startedMs) < WORKER_FRESH_MS,
  };
  return {
    isSchemaCompatible: checks.schema,
    isWorkerFresh: checks.worker,
    failing: () => CHECKS.filter((name) => !checks[name]()),
  };
}

/** Strangers may ask, so the file is looked into again only after something was written. */
function createSchemaCheck({ db, databaseFile }: ReadinessOptions): () => boolean {
  let seen: { revision: number; isCurrent: boolean } | undefined;
  return () => {
    const revision = db.revision("jobs");
    if (seen?.revision !== revision || !existsSync(databaseFile))
      seen = { revision, isCurrent: schemaIn(databaseFile) === programSchema() };
    return seen.isCurrent;
  };
}

function holds(check: () => unknown): boolean {
  try {
    return check() !== false;
  } catch {
    return false; // the caller names the failing check; the log of the operation that needs it has the reason
  }
}
