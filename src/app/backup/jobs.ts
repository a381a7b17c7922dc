// Scheduled backups in the running service, and what the metrics show of them. How one is made is backup.ts.

import type { Domain } from "../../domain/domain.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { type Clock, HOUR_MS, SECOND_MS } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Metrics } from "../../platform/observe/metrics.ts";
import type { Scheduler } from "../../platform/scheduler/scheduler.ts";
import type { Installation } from "../installation/installation.ts";
import { backupFolder, makeBackup } from "./backup.ts";
import { removeReplacedDatabases } from "./replaced-databases.ts";
import { removeOldBackups } from "./retention.ts";

export const BACKUP_JOB = "backup";
/** Backups of many machines on one disk must not all begin at once; also how soon the first is made. */
const JITTER_MS = HOUR_MS;
/** For a database on a slow disk; as long as this a killed process keeps the job from others. */
const TIME_LIMIT_MS = 2 * HOUR_MS;

/** Registers the job, unless the configuration wants none. */
export function registerBackupJob(
  scheduler: Scheduler,
  { directory, domain }: Installation,
  { actor, clock, config, log }: { actor: Actor; clock: Clock; config: Config; log: Log },
): void {
  const everyHours = config.get("backup.every_hours");
  if (everyHours === 0) return;
  const folder = backupFolder(config, directory);
  const keyIdsIn = domain.sealingKeys.idsIn.bind(domain.sealingKeys);
  scheduler.register({
    name: BACKUP_JOB,
    everyMs: everyHours * HOUR_MS,
    jitterMs: JITTER_MS,
    timeLimitMs: TIME_LIMIT_MS,
    async run(signal) {
      const { manifest, differences, ...made } = await makeBackup({
        kind: "scheduled",
        ...{ directory, clock, folder, keyIdsIn, signal },
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
      log.info("backup.made", {
        path,
        size_bytes: sizeBytes,
        duration_ms: durationMs,
        removed: removed.length,
      });
      const { left_out: leftOut } = manifest.artifacts;
      if (differences.length > 0) log.warning("backup.foreign_objects", { differences: [...differences] });
      if (leftOut.length > 0) log.warning("backup.artifacts_left_out", { damaged: leftOut.length });
    },
  });
}

export const REPLACED_JOB = "replaced-data";
const REPLACED_EVERY_MS = 24 * HOUR_MS;

/** Registers the job that removes what restores have replaced, days later. */
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

/** Shows when a backup was made last, by whom ever. */
export function addBackupFigures(metrics: Metrics, { backups }: Domain): void {
  metrics.gauge(
    "backup_last_success_timestamp_seconds",
    "When the last backup was made, in seconds since 1970; 0 without any.",
    { read: (set) => set((backups.last()?.createdAtMs ?? 0) / SECOND_MS) },
  );
}
