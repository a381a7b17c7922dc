// The operations of a running service besides the domain, for its API and console: settings, the checks of doctor, and
// backups.
import type {
  Diagnosis,
  Examination,
  MachineFacts,
  Operations,
  Setting,
} from "../../domain/system/operations.ts";
import { type Clock, SECOND_MS, within } from "../../platform/clock.ts";
import { type Config, describe } from "../../platform/config/config.ts";
import { settingOf } from "../../platform/config/table.ts";
import { programSchema } from "../../platform/database/schema/schema.ts";
import { DomainError } from "../../platform/errors.ts";
import { diskSpace, fileSizeOf } from "../../platform/files/disk.ts";
import type { Log } from "../../platform/observe/log.ts";
import { COMMIT, VERSION } from "../../platform/version.ts";
import type { PerformTask } from "../backup/backup-task.ts";
import type { Finding } from "../doctor/finding.ts";
import type { Installation } from "../installation/installation.ts";
import { RELOADABLE_SETTINGS, RELOADABLE_TLS_SETTINGS } from "../service/configuration/settings-reload.ts";
import { BackupWork } from "./backups.ts";
import { diagnoseInThread, examineInThread } from "./doctor-thread.ts";

/** Cache time of findings, because every page of the console shows the number of problems. */
const DIAGNOSIS_KEPT_MS = 15_000;

/** How long a request waits for its examination. */
const WAIT_MS = 5 * SECOND_MS;

/** @returns the findings of every check; rejected when the signal is aborted */
type Examine = (signal: AbortSignal) => Promise<Finding[]>;

/**
 * The deep checks of doctor while the service runs. A request waits for a limited time; the examination continues after it, and
 * ends with the service.
 */
class ExaminationWork {
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;
  #last: Examination["last"];
  #problem: string | null = null;

  constructor(
    private readonly examine: Examine,
    private readonly parts: { clock: Clock; log: Pick<Log, "info" | "error"> },
  ) {}

  state(): Examination {
    return { isRunning: this.#running !== undefined, last: this.#last, problem: this.#problem };
  }

  async start(): Promise<Examination> {
    this.#running ??= this.#run();
    await within(WAIT_MS, this.#running);
    return this.state();
  }

  stop(): void {
    this.#stop.abort(stopping());
  }

  async #run(): Promise<void> {
    const { clock, log } = this.parts;
    try {
      const findings = await this.examine(this.#stop.signal);
      this.#last = { atMs: clock.nowMs(), findings };
      this.#problem = null;
      const failed = findings.filter(({ result }) => result === "failed").length;
      log.info("doctor.examined", { checks: findings.length, failed });
    } catch (error) {
      this.#problem = error instanceof Error ? error.message : String(error);
      log.error("doctor.examination_failed", { error: this.#problem });
    } finally {
      this.#running = undefined;
    }
  }
}

const stopping = (): DomainError =>
  new DomainError("unavailable", "service.stopping", "the service stopped before the examination ended");

export interface OperationsOptions {
  /** in force since the start */
  config: Config;
  clock: Clock;
  log: Pick<Log, "info" | "warning" | "error">;
  /** runs the checks of doctor; in a thread if omitted */
  diagnose?: () => Promise<Finding[]>;
  /** runs every check; in a thread if omitted */
  examine?: Examine;
  /** runs the tasks of a backup; default: each in a thread */
  perform?: PerformTask | undefined;
}

export interface ServiceOperations extends Operations, Disposable {
  /** Replaces the shown settings after a reload, as far as a reload applies them. */
  useSettings(fresh: Config | undefined): void;
}

/** @returns the operations of a service; disposing them ends a running backup and a running examination */
export function createOperations(
  installation: Pick<Installation, "directory" | "domain" | "outbound">,
  options: OperationsOptions,
): ServiceOperations {
  const { config, clock } = options;
  const startedAtMs = clock.nowMs();
  const backups = new BackupWork(installation, options);
  const { examine = (signal: AbortSignal) => examineInThread(config, signal) } = options;
  const examination = new ExaminationWork(examine, options);
  let fresh = config;
  return {
    backups,
    settings: () => ({ file: config.file ?? null, items: settingsOf(config, fresh) }),
    machine: () => ({ ...machineOf(installation), startedAtMs }),
    diagnose: keepingDiagnosis(options),
    examine: () => examination.start(),
    examination: () => examination.state(),
    useSettings(read = fresh) {
      fresh = read;
    },
    [Symbol.dispose]() {
      backups.stop();
      examination.stop();
    },
  };
}

const machineOf = ({
  directory,
  outbound,
}: Pick<Installation, "directory" | "outbound">): Omit<MachineFacts, "startedAtMs"> => ({
  version: VERSION,
  commit: COMMIT,
  schema: programSchema(),
  directory: directory.path,
  disk: diskSpace(directory.path),
  databaseBytes: fileSizeOf(directory.database),
  walBytes: fileSizeOf(`${directory.database}-wal`),
  requestLogBytes: fileSizeOf(directory.requestLogs),
  destinations: outbound.list(),
});

const isReloadable = (name: Setting["key"]): boolean =>
  [...RELOADABLE_SETTINGS, ...RELOADABLE_TLS_SETTINGS].some((reloadable) => reloadable === name);

/** @param fresh has the values from a reload */
const settingsOf = (config: Config, fresh: Config): Setting[] =>
  describe(config).map(({ key, doc }) => {
    const { value, origin } = (isReloadable(key) ? fresh : config).rowOf(key);
    const secret = settingOf(key).credential !== undefined;
    return { key, value, origin, about: doc, secret, needs_restart: !isReloadable(key) };
  });

/** @returns a function that runs the checks at most once in DIAGNOSIS_KEPT_MS; callers in the meantime get the same findings */
function keepingDiagnosis({
  config,
  clock,
  diagnose = () => diagnoseInThread(config),
}: OperationsOptions): () => Promise<Diagnosis> {
  let kept: { untilMs: number; diagnosis: Promise<Diagnosis> } | undefined;
  return () => {
    if (kept && performance.now() < kept.untilMs) return kept.diagnosis;
    const diagnosis = diagnose().then((findings) => ({ atMs: clock.nowMs(), findings }));
    const own = { untilMs: Number.POSITIVE_INFINITY, diagnosis };
    kept = own;
    diagnosis.then(
      () => {
        own.untilMs = performance.now() + DIAGNOSIS_KEPT_MS;
      },
      () => {
        own.untilMs = 0;
      },
    );
    return diagnosis;
  };
}
