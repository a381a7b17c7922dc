// Readiness of the service: named, fast checks for /ready and /health/*.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import type { Clock } from "../platform/clock.ts";
import type { Db } from "../platform/database/database.ts";
import { programSchema, schemaIn } from "../platform/database/schema/schema.ts";
import { diskSpace, isNearlyFull } from "../platform/files/disk.ts";

/** Names of the checks, in reporting order. */
export const CHECKS = ["database", "schema", "keys", "worker", "disk", "running", "lease"] as const;
type Check = (typeof CHECKS)[number];

export interface Readiness {
  /** @returns the failing checks */
  failing(): Check[];
  /** whether exactly this program's migrations have been applied to the database */
  isSchemaCompatible(): boolean;
  /** whether background jobs ran recently */
  isWorkerFresh(): boolean;
}

export interface ReadinessOptions {
  db: Db;
  clock: Clock;
  databaseFile: string;
  /** throws if access tokens cannot be signed */
  checkKeys(): void;
  lastBeatMs(): number;
  /** whether the service is stopping; default: never */
  isStopping?(): boolean;
  /** whether this machine accepts changes; default: always */
  isActive?(): boolean;
}

/** The scheduler counts as stuck if its last turn is older. */
export const WORKER_FRESH_MS = 120_000;

export function createReadiness(options: ReadinessOptions): Readiness {
  const {
    db,
    clock,
    databaseFile,
    checkKeys,
    lastBeatMs,
    isStopping = () => false,
    isActive = () => true,
  } = options;
  const startedMs = clock.nowMs();
  const isSchemaCurrent = createSchemaCheck(options);
  const checks: Record<Check, () => boolean> = {
    // A deleted file stays readable while it is open, so the directory entry is checked too.
    database: () => holds(() => db.revision("jobs")) && existsSync(databaseFile),
    schema: () => holds(isSchemaCurrent),
    keys: () => holds(checkKeys),
    disk: () => holds(() => !isNearlyFull(diskSpace(dirname(databaseFile)))),
    running: () => !isStopping(),
    lease: isActive,
    worker: () => clock.nowMs() - Math.max(lastBeatMs(), startedMs) < WORKER_FRESH_MS,
  };
  return {
    isSchemaCompatible: checks.schema,
    isWorkerFresh: checks.worker,
    failing: () => CHECKS.filter((name) => !checks[name]()),
  };
}

/** Unauthenticated callers can trigger the check, so the file is read again only after a write. */
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
    return false; // the response names the failing check; operations that need the schema log the cause
  }
}
