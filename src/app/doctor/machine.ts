// Checks of the machine around the database: files, room, clock, certificate. Nothing is opened for writing.
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
import { bytesText, type DiskSpace } from "../../platform/files/disk.ts";
import { connectTo } from "../../platform/files/unix-socket.ts";
import { permissionsText } from "../../platform/own-files.ts";
import { BUILD_TIME } from "../../platform/version.ts";
import { readCertificate, type TlsFiles } from "../../server/listener/tls.ts";
import { assertClockPlausible } from "../service/start-checks.ts";
import type { Check, Finding } from "./finding.ts";

/** Below this share the disk is filling up. */
export const FREE_SHARE_MIN = 0.1;
/** Below this, in bytes, the next checkpoint or backup may already fail. */
export const FREE_SPACE_BYTES_MIN = 64 * 1024 * 1024;
/** A certificate should be renewed this long before it expires. */
export const CERTIFICATE_DAYS_MIN = 14;
/** Token checks allow as much (operator-experience.md SVC-11). */
const CLOCK_SKEW_MS = CLOCK_TOLERANCE_SECONDS * SECOND_MS;
/** Files that are told by name. */
export const FILES_NAMED_MAX = 5;
const OTHERS = 0o077;
const OWNER_ENTERS = 0o700;
const OWNER_READS = 0o400;

/** @returns whether a server runs, and listens where it should if that is a socket; commands work without one */
export async function checkService(check: Check, directory: DataDirectory, listen: Listen): Promise<Finding> {
  const server = findServer(directory);
  if (server === undefined)
    return check.warning(
      "no service runs on this data directory",
      "start it: systemctl start quartermaster, or quartermaster serve",
    );
  const outcome = listen.kind === "unix" ? await connectTo(listen.path) : "connected";
  if (listen.kind === "unix" && outcome !== "connected")
    return check.failed(
      `a service runs, and nothing listens on ${listen.path} (${outcome})`,
      "restart the service; if server.listen was changed, callers must use the new place",
    );
  if (server === "unknown") return check.ok("a service runs");
  return check.ok(`process ${server.processId} runs since ${toRfc3339(server.sinceMs)}`);
}

/**
 * Every file belongs to the owner of the data directory, and nobody else may look into it (SVC-6, CLI-20).
 * @throws DomainError `data_dir.not_permitted`
 */
export function checkFiles(check: Check, directory: DataDirectory): Finding {
  const { path, keys, backups, artifacts } = directory;
  const owner = statSync(path).uid;
  const files = [path, ...[path, keys, backups, artifacts].flatMap(entriesOf)];
  const wrong = files.flatMap((file) => wrongWith(file, owner) ?? []);
  if (wrong.length === 0) assertAccessible(directory);
  if (wrong.length === 0)
    return check.ok(`${files.length} files and folders, all for user id ${owner} alone`);
  const named = wrong.slice(0, FILES_NAMED_MAX).join(", ");
  const more = wrong.length > FILES_NAMED_MAX ? `, and ${wrong.length - FILES_NAMED_MAX} more` : "";
  return check.failed(
    `others own them or may look in, or their owner may not: ${named}${more}`,
    permissionRemedy(path, owner),
  );
}

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder)
      .sort()
      .map((name) => join(folder, name));
  } catch {
    return []; // there is no such folder yet; a data directory that cannot be read was refused before
  }
}

/**
 * A file may go while it is looked at; sockets and links have no content of ours.
 * @returns the file with its mode and owner, where either is wrong
 */
function wrongWith(file: string, owner: number): string | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (!found || !(found.isFile() || found.isDirectory())) return undefined;
  const needed = found.isDirectory() ? OWNER_ENTERS : OWNER_READS;
  const isRight = found.uid === owner && (found.mode & OTHERS) === 0 && (found.mode & needed) === needed;
  return isRight ? undefined : `${file} (${permissionsText(found)})`;
}

/** @returns whether there is room for what comes */
export function checkDiskSpace(check: Check, { availableBytes, sizeBytes }: DiskSpace): Finding {
  const share = availableBytes / Math.max(sizeBytes, 1);
  const detail = `${bytesText(availableBytes)} free, ${Math.floor(share * 100)} % of the file system`;
  const remedy = "make room, for example with fewer backups (backup.keep), or move the data to a larger disk";
  if (availableBytes < FREE_SPACE_BYTES_MIN) return check.failed(detail, remedy);
  return share < FREE_SHARE_MIN ? check.warning(detail, remedy) : check.ok(detail);
}

/** @param newestMs time of the newest thing that was recorded; undefined where nothing was @throws DomainError `clock.before_build` */
export function checkClock(check: Check, clock: Clock, newestMs: number | undefined): Finding {
  assertClockPlausible(clock, BUILD_TIME);
  const nowMs = clock.nowMs();
  const backMs = (newestMs ?? nowMs) - nowMs;
  if (backMs <= CLOCK_SKEW_MS) return check.ok(`${toRfc3339(nowMs)}, later than all that was recorded`);
  return check.failed(
    `it shows ${toRfc3339(nowMs)}, ${Math.round(backMs / SECOND_MS)} s before the newest record: it moved backwards, or was ahead before`,
    "set the clock; logins and tokens that were made in that time last as much longer",
  );
}

/** @param files undefined where TLS is off @throws DomainError `listen.*` */
export function checkCertificate(check: Check, files: TlsFiles | undefined, nowMs: number): Finding {
  if (!files) return check.ok("own TLS is off");
  const { expiresAtMs } = readCertificate(files);
  const days = Math.floor((expiresAtMs - nowMs) / DAY_MS);
  const remedy = `renew ${files.cert}, then have the service read it: systemctl reload quartermaster`;
  if (days < 0) return check.failed(`it expired at ${toRfc3339(expiresAtMs)}`, remedy);
  const detail = `it expires at ${toRfc3339(expiresAtMs)}, in ${days} days`;
  return days < CERTIFICATE_DAYS_MIN ? check.warning(detail, remedy) : check.ok(detail);
}
