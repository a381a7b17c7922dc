// Restores a backup: reads and checks it in full beside the data, upgrades it to this program's schema, then swaps the database
// while no process uses it and keeps the old one. domain/backup defines the content of a backup; data-swap.ts does the swap.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { revokeEverything } from "../../domain/access/logins/logins.ts";
import type { EndedAccess } from "../../domain/access/service.ts";
import { createAudit } from "../../domain/audit/service.ts";
import { recordRestored } from "../../domain/backup/service.ts";
import { firstOrganization } from "../../domain/identity/store.ts";
import { type MissingBytes, recordMissingBytes } from "../../domain/sessions/service.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { type Clock, toStamp } from "../../platform/clock.ts";
import type { KeyFileContent } from "../../platform/crypto/key-file.ts";
import { markInstallation } from "../../platform/data-directory/installation-marker.ts";
import { openConnection } from "../../platform/database/connection.ts";
import { openDatabase } from "../../platform/database/database.ts";
import { isSwapPending, stagingIn, swapIn } from "../../platform/database/maintenance/data-swap.ts";
import { invariant } from "../../platform/errors.ts";
import { flushToDisk } from "../../platform/files/data-files.ts";
import type { KeyPlace } from "./backup-keys.ts";
import { importKeys, sealingKeysAt } from "./backup-keys.ts";
import type { TaskOptions } from "./backup-task.ts";
import { type BackupFile, inspectFile, readBackup } from "./read-backup.ts";

export interface Restorable extends BackupFile {
  /** ids of sealing keys that its data needs and that are not available */
  missingKeys: readonly string[];
}

export interface RestoreRequest extends TaskOptions, KeyPlace {
  backup: Restorable;
  clock: Clock;
  /** the user who runs the command, in the organization of the backup */
  operator: Omit<Actor, "organizationId">;
  /** keys to add to the data directory before the swap */
  keys: KeyFileContent | undefined;
  revokeLogins: boolean;
}

export interface Restored {
  /** folder with the old database; undefined if there was none */
  aside: string | undefined;
  schema: number;
  revoked: EndedAccess | undefined;
  /** captured sessions whose bytes are not in the data directory */
  absent: MissingBytes;
}

/**
 * Reads the facts about a backup and compares its keys with the available ones. Changes nothing.
 * @throws DomainError see inspectFile
 */
export function inspectBackup(
  path: string,
  place: KeyPlace & { keys: KeyFileContent | undefined },
): Restorable {
  const file = inspectFile(path);
  const atHand = new Set([...sealingKeysAt(place), ...(place.keys?.sealing ?? [])].map(({ id }) => id));
  const needed = file.manifest?.sealing_key_ids ?? [];
  return { ...file, missingKeys: needed.filter((id) => !atHand.has(id)) };
}

/**
 * Restores a backup. Requires the server's lock. If it is interrupted, either nothing has changed, or the next process that opens
 * the directory finishes it.
 * @throws DomainError `backup.damaged`, `data_dir.busy`, `schema.*`, `storage.*`; the signal's reason before the swap
 */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const { directory, clock, ids, keys, signal } = request;
  const staging = stagingIn(directory, ids.uuid());
  try {
    const files = { artifacts: join(staging, "artifacts"), sessions: join(staging, "sessions") };
    const { database, schema } = await readBackup({ ...request, ...files, folder: staging });
    const sizeOf = (digest: string) => sizeIn(files.sessions, digest) ?? sizeIn(directory.sessions, digest);
    const { organizationId, ...settled } = await settle(request, { file: database, sizeOf });
    truncateWriteAheadLog(database);
    signal?.throwIfAborted();
    if (keys) importKeys({ directory, ids }, keys);
    moveFiles(files.artifacts, directory.artifacts);
    moveFiles(files.sessions, directory.sessions);
    const aside = swapIn(directory, { staging, stamp: toStamp(clock.nowMs()) });
    markInstallation(directory, { organizationId, clock });
    return { aside, schema, ...settled };
  } finally {
    // An interrupted swap still needs this folder: the next process finishes it.
    if (!isSwapPending(directory)) rmSync(staging, { recursive: true, force: true });
  }
}

/**
 * Makes the changes that the database needs before it goes live.
 * @param sizeOf see recordMissingBytes
 */
async function settle(
  { backup, clock, operator, revokeLogins }: RestoreRequest,
  { file, sizeOf }: { file: string; sizeOf: (digest: string) => number | undefined },
): Promise<Pick<Restored, "revoked" | "absent"> & { organizationId: string }> {
  const db = openDatabase(file);
  try {
    const organization = firstOrganization(db.read);
    invariant(organization, "a database without an organization is refused when it is read");
    const actor = { ...operator, organizationId: organization.id };
    const audit = createAudit({ clock });
    await recordRestored({ db, audit }, actor, backup);
    const revoked = revokeLogins ? await revokeEverything({ db, clock, audit }, actor) : undefined;
    const absent = await recordMissingBytes({ db, clock, audit }, actor, sizeOf);
    return { organizationId: organization.id, revoked, absent };
  } finally {
    await db.close();
  }
}

/**
 * Empties the write-ahead log, because only the database file itself is swapped in. Compiled statements keep a closed connection,
 * and with it the log, until they are garbage-collected.
 */
function truncateWriteAheadLog(file: string): void {
  using connection = openConnection(file, {});
  const [row] = connection.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").all();
  invariant(row?.busy === 0, "nothing reads a database that is being prepared");
}

/** @param digest 64 hexadecimal digits @returns bytes of the file; undefined if there is none */
const sizeIn = (folder: string, digest: string): number | undefined =>
  statSync(join(folder, "sha256", digest.slice(0, 2), digest), { throwIfNoEntry: false })?.size;

/** Files are named by digest, so replacing an existing one changes nothing or repairs it. */
function moveFiles(from: string, to: string): void {
  const root = join(from, "sha256");
  if (!existsSync(root)) return;
  for (const shard of readdirSync(root)) {
    const folder = join(to, "sha256", shard);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    for (const digest of readdirSync(join(root, shard)))
      renameSync(join(root, shard, digest), join(folder, digest));
    flushToDisk(folder);
  }
  flushToDisk(join(to, "sha256"));
}
