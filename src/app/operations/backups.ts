// Backups that administrators request while the service runs. src/app/backup makes, lists and verifies them. A request
// waits for a limited time, and the work continues afterwards.

import type { Actor } from "../../domain/shared/actor.ts";
import type {
  BackupCheck,
  BackupFileView,
  BackupListView,
  BackupOperations,
} from "../../domain/system/operations.ts";
import { type Clock, SECOND_MS, toRfc3339, within } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { Connection } from "../../platform/database/database.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import { backupFolder, makeBackup } from "../backup/backup.ts";
import { type FoundBackup, listBackups } from "../backup/backup-folder.ts";
import type { PerformTask } from "../backup/backup-task.ts";
import { warnOfBackupProblems } from "../backup/jobs.ts";
import { verifyBackup } from "../backup/verify.ts";
import type { Installation } from "../installation/installation.ts";

/** How long a request waits for its work. */
const WAIT_MS = 10 * SECOND_MS;

interface Parts {
  config: Config;
  clock: Clock;
  log: Pick<Log, "info" | "warning" | "error">;
  /** runs the tasks of a backup; default: each in a thread */
  perform?: PerformTask | undefined;
}

/** The backup in progress, and its request. */
interface Making {
  key: string | undefined;
  actorId: string | null;
  path: Promise<string>;
}

export class BackupWork implements BackupOperations {
  readonly #stop = new AbortController();
  readonly #folder: string;
  #making: Making | undefined;
  #failure: BackupListView["failure"] = null;
  readonly #checks = new Map<string, BackupCheck>();

  constructor(
    private readonly installation: Pick<Installation, "directory" | "domain">,
    private readonly parts: Parts,
  ) {
    this.#folder = backupFolder(parts.config, installation.directory);
  }

  stop(): void {
    this.#stop.abort(stopping());
  }

  list(): BackupListView {
    const items = listBackups(this.#folder).map((found) => this.#viewOf(found));
    return { folder: this.#folder, making: this.#making !== undefined, failure: this.#failure, items };
  }

  async create(actor: Actor, idempotencyKey?: string): Promise<BackupFileView | undefined> {
    const earlier = this.installation.domain.backups.madeFor(actor, idempotencyKey);
    if (earlier !== undefined) return this.#found(earlier);
    const path = await within(WAIT_MS, this.#begin(actor, idempotencyKey));
    return path === undefined ? undefined : this.#found(path);
  }

  /** @returns the path of the file in progress; a repeated request waits for the same file */
  #begin(actor: Actor, key: string | undefined): Promise<string> {
    const running = this.#making;
    if (running && (key === undefined || running.key !== key || running.actorId !== actor.id))
      throw alreadyMaking();
    if (running) return running.path;
    const path = this.#make(actor, key);
    this.#making = { key, actorId: actor.id, path };
    return path;
  }

  #found(path: string): BackupFileView {
    const view = this.list().items.find((item) => item.path === path);
    if (!view) throw backupRemoved(path);
    return view;
  }

  /** @returns the path of the file */
  async #make(actor: Actor, key: string | undefined): Promise<string> {
    const { directory, domain } = this.installation;
    const { config, clock, log, perform } = this.parts;
    const keyIdsIn = (connection: Connection) => domain.sealingKeys.idsIn(connection);
    try {
      const { manifest, differences, ...made } = await makeBackup({
        kind: "manual",
        withSessions: config.get("backup.sessions"),
        directory,
        clock,
        folder: this.#folder,
        keyIdsIn,
        signal: this.#stop.signal,
        perform,
      });
      await domain.backups.recordMade(actor, made, key);
      this.#failure = null;
      const { path, sizeBytes, durationMs } = made;
      log.info("backup.created", { path, size_bytes: sizeBytes, duration_ms: durationMs, removed: 0 });
      warnOfBackupProblems({ manifest, differences }, log);
      return path;
    } catch (error) {
      this.#failure = { at: toRfc3339(clock.nowMs()), detail: detailOf(error) };
      log.error("backup.failed", { error: detailOf(error) });
      throw error;
    } finally {
      this.#making = undefined;
    }
  }

  async verify(id: string): Promise<BackupCheck> {
    const found = listBackups(this.#folder).find(({ name }) => name === id);
    if (!found) throw backupNotFound(id);
    const running = this.#checks.get(id);
    if (running?.state === "running") return running;
    const begun: BackupCheck = { state: "running", at: toRfc3339(this.parts.clock.nowMs()), problem: null };
    this.#checks.set(id, begun);
    return (await within(WAIT_MS, this.#verify(found))) ?? begun;
  }

  async #verify({ name, path }: FoundBackup): Promise<BackupCheck> {
    const { clock, perform } = this.parts;
    const verifying = verifyBackup(path, { clock, signal: this.#stop.signal, perform });
    const problem = await verifying.then(() => null, detailOf);
    const at = toRfc3339(clock.nowMs());
    const check: BackupCheck = { state: problem === null ? "intact" : "damaged", at, problem };
    this.#checks.set(name, check);
    return check;
  }

  #viewOf({
    name,
    path,
    kind,
    createdAtMs,
    sizeBytes,
    schema,
    manifest,
    problem,
  }: FoundBackup): BackupFileView {
    return {
      id: name,
      path,
      kind,
      created_at: createdAtMs === undefined ? null : toRfc3339(createdAtMs),
      size_bytes: sizeBytes,
      schema: schema ?? null,
      version: manifest?.version ?? null,
      sealing_key_ids: manifest?.sealing_key_ids ?? [],
      problem: problem ?? null,
      verification: this.#checks.get(name) ?? null,
    };
  }
}

const detailOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const alreadyMaking = (): DomainError =>
  new DomainError("conflict", "backup.running", "another backup is in progress", {
    hint: "list the backups again when it is finished",
  });

const backupNotFound = (id: string): DomainError =>
  new DomainError("not_found", "backup.not_found", `the folder of backups has no file ${quoted(id)}`, {
    hint: "take the id from the list of backups",
  });

const backupRemoved = (path: string): DomainError =>
  new DomainError("conflict", "backup.removed", `the backup ${quoted(path)} was made, but its file is gone`, {
    hint: "list the backups; make another one with a new request",
  });

const stopping = (): DomainError =>
  new DomainError(
    "unavailable",
    "backup.interrupted",
    "the service is stopping, so the backup was not finished",
  );
