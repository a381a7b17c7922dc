// The jobs and metrics of scheduled backups in the running service. backup.ts makes a backup.

import { rmSync } from "node:fs";
import { Gauge, type Registry } from "prom-client";
import { FUTURE_TOLERANCE_MS, type Manifest } from "../../domain/backup/model.ts";
import type { Domain } from "../../domain/domain.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { type Clock, HOUR_MS, SECOND_MS } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Connection } from "../../platform/database/database.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Scheduler } from "../../platform/scheduler/scheduler.ts";
import type { Installation } from "../installation/installation.ts";
import { type Backup, backupFolder, makeBackup } from "./backup.ts";
import { listBackups } from "./backup-folder.ts";
import { removeReplacedDatabases } from "./replaced-databases.ts";

export const BACKUP_JOB = "backup";
/** Spreads the backups of many machines that share a disk; also the longest delay before the first backup. */
const JITTER_MS = HOUR_MS;
/** Long enough for a database on a slow disk. After a killed process, the job stays locked for this long. */
const TIME_LIMIT_MS = 2 * HOUR_MS;

interface Retention {
  /** number of backups to keep */
  keep: number;
  nowMs: number;
  /** the backup that was just made; it is never removed */
  made: string;
  /** whether this installation made the backup */
  isOurs(manifest: Manifest): boolean;
}

/**
 * The manifest and the installation's log identify a backup. The file name is not enough, because several installations
 * may share a folder, and a clock may have been wrong. Removes all but the newest scheduled backups of this
 * installation. Backups of other installations, unreadable files and backups from the future are neither counted nor
 * removed.
 * @returns the paths of the removed backups
 * @throws DomainError `file.not_permitted`
 */
export function removeOldBackups(folder: string, { keep, nowMs, made, isOurs }: Retention): string[] {
  const old = listBackups(folder)
    .filter(({ kind, manifest }) => kind === "scheduled" && manifest !== undefined && isOurs(manifest))
    .filter(({ createdAtMs = 0 }) => createdAtMs <= nowMs + FUTURE_TOLERANCE_MS)
    .slice(keep)
    .map(({ path }) => path)
    .filter((path) => path !== made);
  for (const path of old) rmSync(path, { force: true });
  return old;
}

/** Registers the job, unless the configuration disables it. */
export function registerBackupJob(
  scheduler: Scheduler,
  { directory, domain }: Installation,
  { actor, clock, config, log }: { actor: Actor; clock: Clock; config: Config; log: Log },
): void {
  const everyHours = config.get("backup.every_hours");
  if (everyHours === 0) return;
  const folder = backupFolder(config, directory);
  const keyIdsIn = (connection: Connection) => domain.sealingKeys.idsIn(connection);
  scheduler.register({
    name: BACKUP_JOB,
    everyMs: everyHours * HOUR_MS,
    jitterMs: JITTER_MS,
    timeLimitMs: TIME_LIMIT_MS,
    async run(signal) {
      const { manifest, differences, ...made } = await makeBackup({
        kind: "scheduled",
        directory,
        clock,
        folder,
        keyIdsIn,
        signal,
        withSessions: config.get("backup.sessions"),
      });
      await domain.backups.recordMade(actor, made);
      const removed = removeOldBackups(folder, {
        keep: config.get("backup.keep"),
        nowMs: clock.nowMs(),
        made: made.path,
        isOurs: (found) => domain.backups.isOurs(actor.organizationId, found),
      });
      await domain.backups.recordRemoved(actor, removed);
      const { path, sizeBytes, durationMs } = made;
      log.info("backup.created", {
        path,
        size_bytes: sizeBytes,
        duration_ms: durationMs,
        removed: removed.length,
      });
      warnOfBackupProblems({ manifest, differences }, log);
    },
  });
}

/** Logs why a restore would refuse the backup, and how many files were left out. */
export function warnOfBackupProblems(
  { manifest, differences }: Pick<Backup, "manifest" | "differences">,
  log: Pick<Log, "warning">,
): void {
  const leftOut = [...manifest.artifacts.left_out, ...(manifest.sessions?.left_out ?? [])];
  if (differences.length > 0) log.warning("backup.foreign_objects", { differences: [...differences] });
  if (leftOut.length > 0) log.warning("backup.artifacts_skipped", { damaged: leftOut.length });
}

const REPLACED_JOB = "replaced-data";
const REPLACED_EVERY_MS = 24 * HOUR_MS;

/** Registers the job that removes replaced databases some days after a restore. */
export function registerReplacedJob(
  scheduler: Scheduler,
  { directory, domain }: Installation,
  { actor, clock, config, log }: { actor: Actor; clock: Clock; config: Config; log: Log },
): void {
  const keepDays = config.get("backup.keep_replaced");
  scheduler.register({
    name: REPLACED_JOB,
    everyMs: REPLACED_EVERY_MS,
    jitterMs: JITTER_MS,
    timeLimitMs: TIME_LIMIT_MS,
    async run() {
      const removed = removeReplacedDatabases(directory, { keepDays, nowMs: clock.nowMs() });
      await domain.backups.recordRemoved(actor, removed);
      if (removed.length > 0) log.info("backup.replaced_removed", { folders: removed });
    },
  });
}

/** Adds the time of the newest backup, whether the service or a command made it. */
export function addBackupMetrics(metrics: Registry, { backups }: Domain): void {
  new Gauge({
    name: "quartermaster_backup_last_success_timestamp_seconds",
    help: "Time of the last backup, in seconds since 1970; 0 if there is none.",
    registers: [metrics],
    collect() {
      this.set((backups.last()?.createdAtMs ?? 0) / SECOND_MS);
    },
  });
}
