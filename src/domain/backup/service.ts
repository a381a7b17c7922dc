// The records of backups in the data directory: the newest ones, for metrics and `status`, and audit entries for creating,
// removing and restoring them. src/app/backup/backup.ts writes the files and src/app/backup/restore.ts restores them.
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import type { Db, Tx } from "../../platform/database/database.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Audit } from "../audit/service.ts";
import type { Idempotency, ResponseForm } from "../idempotency/service.ts";
import type { Actor } from "../shared/actor.ts";
import { type BackupKind, FUTURE_TOLERANCE_MS, type Manifest } from "./model.ts";
import * as store from "./store.ts";

/** Number of newest backups that are recorded. */
export const REMEMBERED_MAX = 100;

export interface BackupRecord {
  kind: BackupKind;
  path: string;
  /** UTC milliseconds of its start: it contains nothing later */
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
  idempotency: Pick<Idempotency, "once" | "find">;
}

/** The response to a request for a backup: the path of its file. */
const PATH_FORM: ResponseForm<string> = { write: (path) => path, read: (text) => text };
const REQUEST = ["backup"];

export class Backups {
  constructor(private readonly dependencies: BackupsDependencies) {}

  /** @returns the newest backup, wherever its file is now; backups dated in the future by a wrong clock do not count */
  last(): BackupRecord | undefined {
    return store.lastBackup(this.dependencies.db.read, this.dependencies.clock.nowMs() + FUTURE_TOLERANCE_MS);
  }

  /** @returns the recorded backups, newest first, wherever their files are now */
  made(): readonly BackupRecord[] {
    return store.newestBackups(this.dependencies.db.read, REMEMBERED_MAX);
  }

  /** @returns whether this installation created the backup; a backup without an installation id must be recorded */
  isOurs(organizationId: string, { organization_id, database }: Manifest): boolean {
    return organization_id === undefined
      ? store.isRemembered(this.dependencies.db.read, database.sha256)
      : organization_id === organizationId;
  }

  /**
   * @param idempotencyKey key of a request for a backup
   * @returns the path of the backup that an earlier request with this key created
   * @throws DomainError those of Idempotency.find
   */
  madeFor(actor: Actor, idempotencyKey: string | undefined): string | undefined {
    return this.dependencies.idempotency.find(actor, {
      key: idempotencyKey,
      request: REQUEST,
      form: PATH_FORM,
    });
  }

  /**
   * Records a backup whose file is complete.
   * @param idempotencyKey key of the request for it
   * @throws DomainError those of Idempotency.once
   */
  async recordMade(actor: Actor, backup: BackupRecord, idempotencyKey?: string): Promise<void> {
    const { db, ids, audit, idempotency } = this.dependencies;
    const id = ids.uuid();
    const once = { key: idempotencyKey, request: REQUEST, form: PATH_FORM };
    const create = (tx: Tx): string => {
      store.addBackup(tx, { id, ...backup }, REMEMBERED_MAX);
      const after = {
        kind: backup.kind,
        created_at: toRfc3339(backup.createdAtMs),
        size_bytes: backup.sizeBytes,
        database_sha256: backup.databaseSha256,
      };
      audit.record(tx, { actor, action: "backup.create", target: backup.path, after });
      return backup.path;
    };
    await db.write((tx) => idempotency.once(tx, actor, { ...once, create: () => create(tx) }), "unobserved");
  }

  /** Records files that the schedule removed. */
  async recordRemoved(actor: Actor, paths: readonly string[]): Promise<void> {
    if (paths.length === 0) return;
    const { db, audit } = this.dependencies;
    await db.write(
      (tx) => audit.recordAll(tx, { actor, action: "backup.remove", targets: paths }),
      "unobserved",
    );
  }
}

/** Records the origin of a restore in the database that is about to be restored. */
export function recordRestored(
  { db, audit }: Pick<BackupsDependencies, "db" | "audit">,
  actor: Actor,
  { path, manifest }: { path: string; manifest: Manifest | undefined },
): Promise<void> {
  const after = manifest && { created_at: manifest.created_at, database_sha256: manifest.database.sha256 };
  return db.write((tx) =>
    audit.record(tx, { actor, action: "backup.restore", target: path, ...(after && { after }) }),
  );
}
