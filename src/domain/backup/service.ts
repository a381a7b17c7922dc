// Backups as the data directory remembers them: which was made last, for metrics and `status`, and the audit log's entries
// about making, removing and restoring them. The files are made by src/app/backup/backup.ts and put in force by src/app/backup/restore.ts.
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import type { Db } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { type BackupKind, FUTURE_TOLERANCE_MS, type Manifest } from "./model.ts";
import * as store from "./store.ts";

/** Newest backups that are remembered. */
export const REMEMBERED_MAX = 100;

export interface MadeBackup {
  kind: BackupKind;
  path: string;
  /** UTC milliseconds at which it was begun: nothing later is in it */
  createdAtMs: number;
  durationMs: number;
  sizeBytes: number;
  databaseSha256: string;
}

export interface BackupsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
}

export class Backups {
  constructor(private readonly own: BackupsDependencies) {}

  /** @returns the backup that was made last, wherever its file is now; none that a wrong clock dated into the future */
  last(): MadeBackup | undefined {
    return store.lastBackup(this.own.db.read, this.own.clock.nowMs() + FUTURE_TOLERANCE_MS);
  }

  /** @returns those that are remembered, newest first, wherever their files are now */
  made(): readonly MadeBackup[] {
    return store.newestBackups(this.own.db.read, REMEMBERED_MAX);
  }

  /** @returns whether this installation made the backup; one that does not say whose it is must be remembered */
  isOurs(organizationId: string, { organization_id, database }: Manifest): boolean {
    return organization_id === undefined
      ? store.isRemembered(this.own.db.read, database.sha256)
      : organization_id === organizationId;
  }

  /** Remembers one whose file is whole. */
  async recordMade(actor: Actor, backup: MadeBackup): Promise<void> {
    const { db, ids, audit } = this.own;
    const id = ids.uuid();
    await db.write((tx) => {
      store.addBackup(tx, { id, ...backup }, REMEMBERED_MAX);
      const after = {
        kind: backup.kind,
        created_at: toRfc3339(backup.createdAtMs),
        size_bytes: backup.sizeBytes,
        database_sha256: backup.databaseSha256,
      };
      audit.record(tx, { actor, action: "backup.create", target: backup.path, after });
    }, "unobserved");
  }

  /** Tells of files that the schedule keeps no longer. */
  async recordRemoved(actor: Actor, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { db, audit } = this.own;
    await db.write(
      (tx) => audit.recordAll(tx, { actor, action: "backup.remove", targets: paths }),
      "unobserved",
    );
  }

  /** Tells, in the database that is about to be put in force, from where it is. */
  async recordRestored(
    actor: Actor,
    { path, manifest }: { path: string; manifest: Manifest | undefined },
  ): Promise<void> {
    const after = manifest && { created_at: manifest.created_at, database_sha256: manifest.database.sha256 };
    await this.own.db.write((tx) =>
      this.own.audit.record(tx, { actor, action: "backup.restore", target: path, ...(after && { after }) }),
    );
  }
}
