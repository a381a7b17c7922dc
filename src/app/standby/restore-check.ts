// The daily proof that the replica can be restored: Litestream restores it into a folder beside the data, the checks of
// `backup verify` read all of it, and its audit log is compared with ours.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { AuditLog } from "../../domain/audit/log.ts";
import { requireFreeSpace } from "../../domain/backup/free-space.ts";
import { type Clock, MINUTE_MS, toRfc3339 } from "../../platform/clock.ts";
import { commandWith } from "../../platform/config/command-hint.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { stagingIn } from "../../platform/database/maintenance/data-swap.ts";
import { DomainError } from "../../platform/errors.ts";
import { fileSizeOf } from "../../platform/files/disk.ts";
import type { Ids } from "../../platform/ids.ts";
import type { TaskOptions } from "../backup/backup-task.ts";
import { verifyBackup } from "../backup/verify.ts";
import { restoreReplica } from "./litestream.ts";
import { endOfLog, type LogEnd } from "./log-end.ts";
import { resetCommands } from "./replica/reset.ts";

export interface RestoreCheckOptions extends Pick<TaskOptions, "perform" | "signal"> {
  config: Config;
  clock: Clock;
  ids: Ids;
  directory: DataDirectory;
  term: string;
  /** of the live database */
  auditLog: Pick<AuditLog, "entryAfter">;
}

/** A replica lags by a second, so it must contain entries older than this. */
export const CHECK_LAG_MS = 5 * MINUTE_MS;
/** Number of temporary files: the restored file, and the copy of the checks. */
const COPIES = 2;

/**
 * @returns the last audit entry of the restored database
 * @throws DomainError `standby.*`, `backup.*`, `schema.*`, `storage.*`; the signal's reason
 */
export async function checkRestore(options: RestoreCheckOptions): Promise<LogEnd> {
  const { config, clock, ids, directory, term, signal, perform } = options;
  const startedAtMs = clock.nowMs();
  const folder = stagingIn(directory, ids.uuid()); // after a kill it stays, and the next start removes it
  try {
    requireFreeSpace(folder, COPIES * fileSizeOf(directory.database));
    const target = join(folder, "replica.db");
    const { database } = directory;
    await restoreReplica({ config, database, term, target, folder, signal });
    await verifyBackup(target, { clock, signal, perform });
    const last = endOfLog(target);
    refuseOtherEntry(last, options);
    refuseOldState(last, options, startedAtMs);
    return last;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A replica may contain a commit that the database never completed: see resetIndex. Retention never removes the newest entry. */
function refuseOtherEntry({ id, digest }: LogEnd, { auditLog, config }: RestoreCheckOptions): void {
  const own = auditLog.entryAfter(id - 1);
  if (own !== undefined && (own.id > id || own.digest === digest)) return; // a later one: retention removed the entry itself
  throw new DomainError(
    "unverified",
    "standby.replica_differs",
    `the database does not contain the audit entry ${id} of the restored replica`,
    { hint: `recreate the replica: ${resetCommands(config)}` },
  );
}

function refuseOldState(last: LogEnd, { auditLog, config }: RestoreCheckOptions, startedAtMs: number): void {
  const next = auditLog.entryAfter(last.id);
  if (next === undefined || next.atMs >= startedAtMs - CHECK_LAG_MS) return;
  const message = `the restored replica ends at ${toRfc3339(last.atMs)}; it lacks the audit entry ${next.id} of ${toRfc3339(next.atMs)}`;
  throw new DomainError("unverified", "standby.replica_old", message, {
    hint: `check that Litestream runs, and read its log: ${commandWith(config, "doctor")}`,
  });
}
