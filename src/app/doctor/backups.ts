// Checks that a recent backup exists where it was written, and that no backup is from the future.
import { existsSync, statSync } from "node:fs";
import { FUTURE_TOLERANCE_MS } from "../../domain/backup/model.ts";
import type { BackupRecord } from "../../domain/backup/service.ts";
import { HOUR_MS, toRfc3339 } from "../../platform/clock.ts";
import { placesIn } from "../../platform/data-directory/data-directory.ts";
import { backupFolder } from "../backup/backup.ts";
import { listBackups } from "../backup/backup-folder.ts";
import type { Examined } from "./domain-checks.ts";
import type { Check, Finding } from "./finding.ts";

/** Tolerated delay of a scheduled backup, in addition to a day or its period. */
const BACKUP_SLACK_MS = 2 * HOUR_MS;
/** The service does not create that folder: if it is missing, its disk may not be mounted. */
const FOLDER_REMEDY = "mount its disk, or create the folder";
const DAILY_MS = 24 * HOUR_MS;

/**
 * Uses the newest backup that is not from the future and whose file still exists.
 * @returns a finding for each problem, or one about the newest backup
 */
export function checkBackups(check: Check, examined: Examined): Finding[] {
  const { config, domain, nowMs } = examined;
  const folder = config.get("backup.directory");
  if (folder !== undefined && !existsSync(folder))
    return [
      check.failed(`backups are impossible because backup.directory is missing: ${folder}`, FOLDER_REMEDY),
    ];
  const past = domain.backups.made().filter(({ createdAtMs }) => createdAtMs <= nowMs + FUTURE_TOLERANCE_MS);
  const [last] = past;
  const newest = past.find(isThere);
  const warnings = [
    ...(last && newest && last !== newest ? [check.warning(missingFileText(last), MISSING_FILE_REMEDY)] : []),
    ...futureFindings(check, examined),
  ];
  if (newest) return [newestBackupFinding(check, newest, examined), ...warnings];
  if (last)
    return [
      check.failed(`${missingFileText(last)}; no other backup exists`, MISSING_FILE_REMEDY),
      ...warnings,
    ];
  return [
    check.warning("no backup has been made yet", "make one now: quartermaster backup create"),
    ...warnings,
  ];
}

function newestBackupFinding(check: Check, newest: BackupRecord, { config, nowMs }: Examined): Finding {
  const everyMs = config.get("backup.every_hours") * HOUR_MS;
  const detail = `the last backup was made at ${toRfc3339(newest.createdAtMs)}: ${newest.path}`;
  if (nowMs - newest.createdAtMs > Math.max(DAILY_MS, everyMs) + BACKUP_SLACK_MS)
    return check.failed(detail, "make one, and note the error if it fails: quartermaster backup create");
  if (everyMs > 0) return check.ok(detail);
  return check.warning(`no backup is scheduled; ${detail}`, "set backup.every_hours");
}

const isThere = ({ path, sizeBytes }: BackupRecord): boolean => {
  try {
    const found = statSync(path);
    return found.isFile() && found.size === sizeBytes;
  } catch {
    return false; // a backup in an inaccessible folder cannot be restored
  }
};

const missingFileText = ({ path, createdAtMs }: BackupRecord): string =>
  `the backup of ${toRfc3339(createdAtMs)} is missing or was changed: ${path}`;
const MISSING_FILE_REMEDY =
  "check whether its disk is mounted, and make one now: quartermaster backup create";

/** Looks in the log and in the folder: a restored log does not list backups that were made later. */
function futureFindings(check: Check, { domain, config, organizationId, nowMs }: Examined): Finding[] {
  const isFuture = ({ createdAtMs = 0 }: { createdAtMs?: number | undefined }) =>
    createdAtMs > nowMs + FUTURE_TOLERANCE_MS;
  const logged = domain.backups.made().filter((backup) => isFuture(backup) && isThere(backup));
  const found = listBackups(backupFolder(config, placesIn(config.get("data_dir")))).filter(
    (backup) =>
      isFuture(backup) &&
      backup.manifest !== undefined &&
      domain.backups.isOurs(organizationId, backup.manifest),
  );
  const paths = [...new Set([...logged, ...found].map(({ path }) => path))];
  if (paths.length === 0) return [];
  return [
    check.warning(
      `${paths.length} have a time in the future and are ignored: ${paths[0]}`,
      "check the clock; if it is right now, it was wrong when the backups were made: keep or remove them by hand",
    ),
  ];
}
