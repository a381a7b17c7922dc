// Puts a backup in force: reads and checks it in full beside the data, brings it to this program's schema, then swaps the
// database while nobody uses it and keeps the old one. What a backup holds is domain/backup; the swap itself is data-swap.ts.
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { runTask, type TaskOptions } from "../backup-task.ts";
import { revokeEverything } from "../domain/access/logins.ts";
import type { Actor } from "../domain/actor.ts";
import { createAudit } from "../domain/audit/service.ts";
import { damaged, noRoom } from "../domain/backup/errors.ts";
import { DATABASE_NAME, type Manifest } from "../domain/backup/model.ts";
import { Backups } from "../domain/backup/service.ts";
import { readManifest } from "../domain/backup/unpack.ts";
import { DomainError, invariant } from "../domain/errors.ts";
import { firstOrganization } from "../domain/identity/store.ts";
import { type Clock, toStamp } from "../platform/clock.ts";
import type { KeptKeys } from "../platform/crypto/key-file.ts";
import { type DataDirectory, flushToDisk } from "../platform/data-directory.ts";
import { openConnection } from "../platform/database/connection.ts";
import { isDatabaseFile } from "../platform/database/copy.ts";
import { isSwapPending, stagingIn, swapIn } from "../platform/database/data-swap.ts";
import { openDatabase } from "../platform/database/database.ts";
import { migrate } from "../platform/database/migrate.ts";
import { programSchema, schemaIn } from "../platform/database/schema.ts";
import { fileSizeOf, roomOf } from "../platform/disk.ts";
import { markInstallation } from "../platform/installation-marker.ts";
import { VERSION } from "../platform/version.ts";
import type { KeyPlace } from "./kept-keys.ts";
import { adoptKeys, sealingKeysAt } from "./kept-keys.ts";

/** What is known of a file before it is read in full. */
export interface Restorable {
  path: string;
  /** undefined for a copy of the database alone, such as an upgrade makes */
  manifest: Manifest | undefined;
  schema: number;
  sizeBytes: number;
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
 * Looks at the beginning of a backup, without changing anything.
 * @throws DomainError `backup.*`, `file.*`, `schema.newer` for one that only a newer program reads
 */
export function lookAtBackup(path: string, place: KeyPlace & { keys: KeptKeys | undefined }): Restorable {
  if (isDatabaseFile(path))
    return {
      path,
      manifest: undefined,
      schema: schemaIn(path),
      sizeBytes: fileSizeOf(path),
      missingKeys: [],
    };
  const { fileBytes, ...manifest } = readManifest(path);
  if (manifest.schema > programSchema()) throw newerBackup(path, manifest);
  const atHand = new Set([...sealingKeysAt(place), ...(place.keys?.sealing ?? [])].map(({ id }) => id));
  const missingKeys = manifest.sealing_key_ids.filter((id) => !atHand.has(id));
  return { path, manifest, schema: manifest.schema, sizeBytes: fileBytes, missingKeys };
}

/**
 * Restores a backup. Call it under the server's lock; cut short at any moment, it has either done nothing or is finished by
 * whoever opens the directory next.
 * @throws DomainError `backup.damaged`, `data_dir.busy`, `schema.*`, `storage.*`; the signal's reason before the swap
 */
export async function restoreBackup(request: RestoreRequest): Promise<Restored> {
  const { backup, directory, clock, ids, keys, signal } = request;
  refuseWithoutRoom(directory, backup);
  const staging = stagingIn(directory, ids.uuid());
  const database = join(staging, DATABASE_NAME);
  try {
    await unpack(request, { staging, database });
    const { to: schema } = migrate(database, { clock, version: VERSION, backupDirectory: staging });
    const settled = await settle(request, database);
    foldLog(database);
    signal?.throwIfAborted();
    if (keys) adoptKeys({ directory, ids }, keys);
    moveArtifacts(join(staging, "artifacts"), directory.artifacts);
    const aside = swapIn(directory, { staging, stamp: toStamp(clock.nowMs()) });
    if (settled) markInstallation(directory, { organizationId: settled.organizationId, clock });
    return { aside, schema, revoked: settled?.revoked };
  } finally {
    // Not where the swap was begun and cut short: then whoever comes next needs it.
    if (!isSwapPending(directory)) rmSync(staging, { recursive: true, force: true });
  }
}

async function unpack(
  { backup: { path, manifest }, signal, onProgress }: RestoreRequest,
  { staging, database }: { staging: string; database: string },
): Promise<void> {
  if (manifest) {
    const artifacts = join(staging, "artifacts");
    await runTask("unpack", { path, database, artifacts }, { signal, onProgress });
    return;
  }
  const { problems } = await runTask("copy", { from: path, to: database }, { signal });
  if (problems.length > 0) throw damaged(path, `it fails the integrity check: ${problems[0]}`);
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
function foldLog(file: string): void {
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

function refuseWithoutRoom({ path }: DataDirectory, { manifest, sizeBytes }: Restorable): void {
  const needed = manifest ? manifest.database.size_bytes + manifest.artifacts.size_bytes : sizeBytes;
  const { availableBytes: available } = roomOf(path);
  if (available < needed) throw noRoom(path, { needed, available });
}

const newerBackup = (path: string, { schema, version }: Manifest): DomainError =>
  new DomainError(
    "conflict",
    "schema.newer",
    `${path} has schema ${schema} (made by version ${version}); this program knows up to ${programSchema()}`,
    { hint: `restore it with version ${version} or newer` },
  );
