// Backups that administrators ask for while the service runs. src/app/backup makes, lists and verifies them; a request waits for
// a limited time, and the work continues after it.

import type { Actor } from "../../domain/shared/actor.ts";
import type {
  BackupCheck,
  BackupFileView,
  BackupListView,
  BackupOperations,
} from "../../domain/system/operations.ts";
import { type Clock, SECOND_MS, toRfc3339, within } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Log } from "../../platform/observe/log.ts";
import { quoted } from "../../platform/text/problem-list.ts";
import { backupFolder, makeBackup } from "../backup/backup.ts";
import { type FoundBackup, listBackups } from "../backup/backup-folder.ts";
import type { PerformTask } from "../backup/backup-task.ts";
import { warnOfBackupProblems } from "../backup/jobs.ts";
import { verifyBackup } from "../backup/verify.ts";
import type { Installation } from "../installation/installation.ts";

/** How long a request waits for the work that it started. */
const WAIT_MS = 10 * SECOND_MS;

interface Parts {
  config: Config;
  clock: Clock;
  log: Pick<Log, "info" | "warning" | "error">;
  /** does the tasks of a backup; a thread does each when left out */
  perform?: PerformTask | undefined;
}

export class BackupWork implements BackupOperations {
  readonly #stop = new AbortController();
  readonly #folder: string;
  #making = false;
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
    return { folder: this.#folder, making: this.#making, failure: this.#failure, items };
  }

  async create(actor: Actor): Promise<BackupFileView | undefined> {
    if (this.#making) throw alreadyMaking();
    this.#making = true;
    const name = await within(WAIT_MS, this.#make(actor));
    return name === undefined ? undefined : this.list().items.find(({ id }) => id === name);
  }

  /** @returns the name of the file */
  async #make(actor: Actor): Promise<string | undefined> {
    const { directory, domain } = this.installation;
    const { config, clock, log, perform } = this.parts;
    const keyIdsIn = domain.sealingKeys.idsIn.bind(domain.sealingKeys);
    try {
      const { manifest, differences, ...made } = await makeBackup({
        kind: "manual",
        withSessions: config.get("backup.sessions"),
        ...{ directory, clock, folder: this.#folder, keyIdsIn, signal: this.#stop.signal, perform },
      });
      await domain.backups.recordMade(actor, made);
      this.#failure = null;
      const { path, sizeBytes, durationMs } = made;
      log.info("backup.created", { path, size_bytes: sizeBytes, duration_ms: durationMs, removed: 0 });
      warnOfBackupProblems({ manifest, differences }, log);
      return listBackups(this.#folder).find((found) => found.path === path)?.name;
    } catch (error) {
      this.#failure = { at: toRfc3339(clock.nowMs()), detail: detailOf(error) };
      log.error("backup.failed", { error: detailOf(error) });
      throw error;
    } finally {
      this.#making = false;
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
  new DomainError("conflict", "backup.running", "a backup is being made already", {
    hint: "list the backups again when it is done",
  });

const backupNotFound = (id: string): DomainError =>
  new DomainError("not_found", "backup.not_found", `the folder of backups has no file ${quoted(id)}`, {
    hint: "take the id from the list of backups",
  });

const stopping = (): DomainError =>
  new DomainError(
    "unavailable",
    "backup.interrupted",
    "the service is stopping, so the backup was not finished",
  );
