// Checks the file of the request log: that it can be read, and whether rows were dropped recently.
import { lstatSync } from "node:fs";
import { FileSource } from "../../domain/inference/log/file-source.ts";
import { MOVE_AWAY } from "../../domain/inference/log/log-file-store.ts";
import type { DropCause, Gap } from "../../domain/inference/log/model.ts";
import { type Clock, DAY_MS, toRfc3339 } from "../../platform/clock.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import { bytesText } from "../../platform/files/disk.ts";
import { type Check, checkOf, type Finding } from "./finding.ts";
import { openReadable } from "./readable-database.ts";

/** Older gaps are not reported; the list of requests shows them. */
const RECENT_MS = 7 * DAY_MS;

const REMEDIES: Readonly<Record<DropCause, string>> = {
  queue_full: "raise gateway.request_logs.queue_rows, or find other writers on this disk",
  disk_full: "free some space on the file system of the data directory: df -h",
  broken: "look for request_log.not_written in the log of the service",
};

/** Changes nothing: the log of a killed service is read in a copy. */
export async function checkRequestLog(
  check: Check,
  directory: DataDirectory,
  clock: Clock,
): Promise<Finding> {
  const file = directory.requestLogs;
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || (found.isFile() && found.size === 0)) return check.ok("no requests are recorded");
  const { size: logSize = 0 } = lstatSync(`${file}-wal`, { throwIfNoEntry: false }) ?? {};
  using readable = openReadable({ ...directory, database: file });
  try {
    const source = new FileSource(readable.directory.database, { untouched: true });
    const { oldestMs, gaps } = await source.figures(clock.nowMs() - RECENT_MS);
    return requestLogFinding(check, { oldestMs, gaps, sizeBytes: found.size + logSize });
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    return checkOf("request_log").failed(
      `${error.message}; requests are forwarded, but not recorded`,
      MOVE_AWAY,
    );
  }
}

function requestLogFinding(
  check: Check,
  { oldestMs, gaps, sizeBytes }: { oldestMs: number | null; gaps: readonly Gap[]; sizeBytes: number },
): Finding {
  const [last] = gaps;
  if (!last) {
    const since = oldestMs === null ? "no rows" : `rows since ${toRfc3339(oldestMs)}`;
    return check.ok(`${bytesText(sizeBytes)}, ${since}, no gaps in the last 7 days`);
  }
  const dropped = gaps.reduce((sum, { count }) => sum + count, 0);
  return check.warning(
    `${dropped} rows were dropped in the last 7 days, the last at ${toRfc3339(last.toMs)}: ${last.cause}`,
    REMEDIES[last.cause],
  );
}
