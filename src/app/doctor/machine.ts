// Checks the machine around the database: files, disk space, clock, certificate. Opens nothing for writing.

import { lstatSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Clock, DAY_MS, SECOND_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Listen } from "../../platform/config/addresses.ts";
import { CLOCK_TOLERANCE_SECONDS } from "../../platform/crypto/signing.ts";
import {
  assertAccessible,
  type DataDirectory,
  findServer,
  permissionRemedy,
} from "../../platform/data-directory/data-directory.ts";
import { permissionsText } from "../../platform/files/data-files.ts";
import { bytesText, type DiskSpace } from "../../platform/files/disk.ts";
import { reserveSizeOf } from "../../platform/files/disk-reserve.ts";
import { healthFault } from "../../platform/files/unix-socket.ts";
import { nameList } from "../../platform/text/name-list.ts";
import { BUILD_TIME } from "../../platform/version.ts";
import { readCertificate, type TlsFiles } from "../../server/listener/tls.ts";
import { assertClockPlausible } from "../service/start-checks.ts";
import type { Check, Finding } from "./finding.ts";

/** Minimum free share of the disk without a warning. */
export const FREE_SHARE_MIN = 0.1;
/** Minimum free bytes for the next checkpoint or backup. */
export const FREE_SPACE_BYTES_MIN = 64 * 1024 * 1024;
/** Number of days before expiry at which a certificate should be renewed. */
export const CERTIFICATE_DAYS_MIN = 14;
/** Token checks tolerate the same skew. */
const CLOCK_SKEW_MS = CLOCK_TOLERANCE_SECONDS * SECOND_MS;
const OTHERS = 0o077;
const OWNER_ENTERS = 0o700;
const OWNER_READS = 0o400;

/**
 * @returns whether a server is running and, for a socket, whether it listens there; a stopped server is a warning only
 * @throws DomainError `data_dir.not_permitted`
 */
export async function checkService(
  check: Check,
  directory: DataDirectory,
  { listen, hasTls }: { listen: Listen; hasTls: boolean },
): Promise<Finding> {
  assertAccessible(directory);
  const server = findServer(directory);
  if (server === undefined)
    return check.warning(
      "no service runs on this data directory",
      "start it: systemctl start quartermaster, or quartermaster serve",
    );
  const fault = listen.kind === "unix" ? await healthFault(listen.path, { hasTls }) : undefined;
  if (listen.kind === "unix" && fault !== undefined)
    return check.failed(
      `a service runs, but it does not answer on ${listen.path} (${fault})`,
      "restart the service; if server.listen was changed, callers must use the new address",
    );
  if (server === "unknown") return check.ok("a service runs");
  return check.ok(`process ${server.processId} has run since ${toRfc3339(server.sinceMs)}`);
}

/**
 * Checks that the owner of the data directory owns every file, and that nobody else can read them.
 * @throws DomainError `data_dir.not_permitted`
 */
export function checkFiles(check: Check, directory: DataDirectory): Finding {
  const { path, keys, backups, artifacts } = directory;
  const owner = statSync(path).uid;
  const files = [path, ...[path, keys, backups, artifacts].flatMap(entriesOf)];
  const wrong = files.flatMap((file) => wrongWith(file, owner) ?? []);
  if (wrong.length === 0) assertAccessible(directory);
  if (wrong.length === 0)
    return check.ok(`${files.length} files and folders, all accessible only to user id ${owner}`);
  return check.failed(`wrong owner or permissions: ${nameList(wrong)}`, permissionRemedy(path, owner));
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return []; // the folder does not exist yet; an unreadable data directory was rejected earlier
  }
}

/**
 * A file may disappear during the check. Sockets and links hold no data of ours.
 * @returns the file with its mode and owner if either is wrong
 */
function wrongWith(file: string, owner: number): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || !(found.isFile() || found.isDirectory())) return undefined;
  const needed = found.isDirectory() ? OWNER_ENTERS : OWNER_READS;
  const isRight = found.uid === owner && (found.mode & OTHERS) === 0 && (found.mode & needed) === needed;
  return isRight ? undefined : `${file} (${permissionsText(found)})`;
}

export function checkDiskSpace(check: Check, { availableBytes, sizeBytes }: DiskSpace): Finding {
  const share = availableBytes / Math.max(sizeBytes, 1);
  const detail = `${bytesText(availableBytes)} free, ${Math.floor(share * 100)} % of the file system`;
  const remedy =
    "free some space, for example with fewer backups (backup.keep), or move the data to a larger disk";
  if (availableBytes < FREE_SPACE_BYTES_MIN) return check.failed(detail, remedy);
  return share < FREE_SHARE_MIN ? check.warning(detail, remedy) : check.ok(detail);
}

/** @throws DomainError `data_dir.foreign_reserve`, which says what to remove */
export function checkReserve(check: Check, { reserve }: DataDirectory): Finding {
  const bytes = reserveSizeOf(reserve);
  return check.ok(bytes === undefined ? "none yet" : `${bytesText(bytes)} kept for sign-ins and deletions`);
}

/**
 * @param newestMs time of the newest record; undefined if there is none
 * @throws DomainError `clock.before_build`
 */
export function checkClock(check: Check, clock: Clock, newestMs: number | undefined): Finding {
  assertClockPlausible(clock, BUILD_TIME);
  const nowMs = clock.nowMs();
  const backMs = (newestMs ?? nowMs) - nowMs;
  if (backMs <= CLOCK_SKEW_MS) return check.ok(`${toRfc3339(nowMs)}, later than all records`);
  return check.failed(
    `the clock shows ${toRfc3339(nowMs)}, ${Math.round(backMs / SECOND_MS)} s before the newest record: it was set back, or it was fast earlier`,
    "set the clock; logins and tokens created with a fast clock expire later by the same time",
  );
}

/**
 * @param files undefined if TLS is off
 * @throws DomainError `listen.*`
 */
export function checkCertificate(check: Check, files: TlsFiles | undefined, nowMs: number): Finding {
  if (!files) return check.ok("the service does not serve TLS itself");
  const { expiresAtMs } = readCertificate(files);
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS);
  const remedy = `renew ${files.cert}, then reload the service: systemctl reload quartermaster`;
  if (days < 0) return check.failed(`it expired at ${toRfc3339(expiresAtMs)}`, remedy);
  const detail = `it expires at ${toRfc3339(expiresAtMs)}, in ${days} days`;
  return days < CERTIFICATE_DAYS_MIN ? check.warning(detail, remedy) : check.ok(detail);
}
