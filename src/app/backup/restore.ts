// Puts a backup in force: reads and checks it in full beside the data, brings it to this program's schema, then swaps the
// database while nobody uses it and keeps the old one. What a backup holds is domain/backup; the swap itself is data-swap.ts.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { revokeEverything } from "../../domain/access/logins/logins.ts";
import { createAudit } from "../../domain/audit/service.ts";
import { Backups } from "../../domain/backup/service.ts";
import { firstOrganization } from "../../domain/identity/store.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { type Clock, toStamp } from "../../platform/clock.ts";
import type { KeptKeys } from "../../platform/crypto/key-file.ts";
import { markInstallation } from "../../platform/data-directory/installation-marker.ts";
import { openConnection } from "../../platform/database/connection.ts";
import { openDatabase } from "../../platform/database/database.ts";
import { isSwapPending, stagingIn, swapIn } from "../../platform/database/maintenance/data-swap.ts";
import { invariant } from "../../platform/errors.ts";
import { flushToDisk } from "../../platform/own-files.ts";
import type { KeyPlace } from "./backup-keys.ts";
import { importKeys, sealingKeysAt } from "./backup-keys.ts";
import type { TaskOptions } from "./backup-task.ts";
import { type BackupFile, inspectFile, readBackup } from "./read-backup.ts";

export interface Restorable extends BackupFile {
  /** ids of sealing keys that something in it lies under and that are not at hand */
  missingKeys: readonly string[];
}

export interface RestoreRequest extends TaskOptions, KeyPlace {
  backup: Restorable;
  clock: Clock;
  /** whoever runs the command; the organization is that of the backup */
  operator: Omit<Actor, "organizationId">;
  /** keys that are put beside the database first */
  keys: KeptKeys | undefined;
  revokeLogins: boolean;
}

export interface Restored {
  /** folder with the old database; undefined where there was none */
  aside: string | undefined;
  schema: number;
  revoked: { loginSessions: number; grants: number; deviceLogins: number } | undefined;
}

/**
 * Looks at a backup and at the keys that are at hand, without changing anything.
 * @throws DomainError see inspectFile
 */
export function inspectBackup(path: string, place: KeyPlace & { keys: KeptKeys | undefined }): Restorable {
  const file = inspectFile(path);
  const atHand = new Set([...sealingKeysAt(place), ...(place.keys?.sealing ?? [])].map(({ id }) => id));
  const needed = file.manifest?.sealing_key_ids ?? [];
  return { ...file, missingKeys: needed.filter((id) => !atHand.has(id)) };
}

/**
 * Restores a backup. Call it under the server's lock; cut short at any moment, it has either done nothing or is finished by
 * whoever opens the directory next.
 * @throws DomainError `backup.damaged`, `data_dir.busy`, `schema.*`, `storage.*`; the signal's reason before the swap
 */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const { directory, clock, ids, keys, signal } = request;
  const staging = stagingIn(directory, ids.uuid());
  try {
    const read = { ...request, folder: staging, artifacts: join(staging, "artifacts") };
    const { database, schema } = await readBackup(read);
    const settled = await settle(request, database);
    truncateWriteAheadLog(database);
    signal?.throwIfAborted();
    if (keys) importKeys({ directory, ids }, keys);
    moveArtifacts(join(staging, "artifacts"), directory.artifacts);
    const aside = swapIn(directory, { staging, stamp: toStamp(clock.nowMs()) });
    if (settled) markInstallation(directory, { organizationId: settled.organizationId, clock });
    return { aside, schema, revoked: settled?.revoked };
  } finally {
    // Not where the swap was begun and cut short: then whoever comes next needs it.
    if (!isSwapPending(directory)) rmSync(staging, { recursive: true, force: true });
  }
}

/** What has to be in the database when it comes in force. */
async function settle(
  { backup, clock, ids, operator, revokeLogins }: RestoreRequest,
  file: string,
): Promise<{ organizationId: string; revoked: Restored["revoked"] } | undefined> {
  const db = openDatabase(file);
  try {
    const organization = firstOrganization(db.read);
    if (!organization) return undefined;
    const actor = { ...operator, organizationId: organization.id };
    const audit = createAudit({ clock });
    await new Backups({ db, clock, ids, audit }).recordRestored(actor, backup);
    const revoked = revokeLogins ? await revokeEverything({ db, clock, audit }, actor) : undefined;
    return { organizationId: organization.id, revoked };
  } finally {
    await db.close();
  }
}

/**
 * Compiled statements keep a closed connection, and with it the write-ahead log, until they are collected: only the database
 * file itself is swapped in.
 */
function truncateWriteAheadLog(file: string): void {
  const connection = openConnection(file, {});
  try {
    const [row] = connection.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").all();
    invariant(row?.busy === 0, "nobody reads a database that is made ready");
  } finally {
    connection.close();
  }
}

/** They have the names of their digests: what is there already is the same, or damaged and better replaced. */
function moveArtifacts(from: string, to: string): void {
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
