// Watches the replica while the service runs: what it lacks, whether its store answers, and whether another machine has taken over.

import { setTimeout as sleep } from "node:timers/promises";
import { Gauge, type Registry } from "prom-client";
import type { AuditLog } from "../../domain/audit/log.ts";
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, toRfc3339 } from "../../platform/clock.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { Scheduler } from "../../platform/scheduler/scheduler.ts";
import { doubtReplica, findOwnTerm, trustReplica } from "./own-term.ts";
import { examineReplica, type ReplicaState } from "./replica/replica-state.ts";
import { resetCommands } from "./replica/reset.ts";
import type { ReplicaStore } from "./replica-store.ts";
import { checkRestore } from "./restore-check.ts";
import { takenOver } from "./start.ts";
import { listTerms, numberOf } from "./terms.ts";

const WATCH = { everyMs: MINUTE_MS, jitterMs: 5 * SECOND_MS, timeLimitMs: 10 * MINUTE_MS };
const CHECK = { everyMs: DAY_MS, jitterMs: HOUR_MS, timeLimitMs: 4 * HOUR_MS };
export const RESTORE_CHECK_JOB = "replica-check";
const WATCH_JOB = "replica-watch";

export interface WatchOptions {
  config: Config;
  clock: Clock;
  ids: Ids;
  log: Log;
  directory: DataDirectory;
  auditLog: Pick<AuditLog, "entryAfter">;
  /** of this data directory */
  term: string;
  /** undefined for a replica that only Litestream can read */
  store: ReplicaStore | undefined;
  /** called when another machine has taken over */
  onTakenOver(error: DomainError): void;
}

/** Registers the jobs of a replica. @returns what is known about it; undefined for a replica that only Litestream can read */
export function watchReplica(
  scheduler: Pick<Scheduler, "register">,
  options: WatchOptions,
): WatchedReplica | undefined {
  const { store } = options;
  const watch = store && new ReplicaWatch({ ...options, store });
  if (watch) scheduler.register({ ...WATCH, name: WATCH_JOB, run: (signal) => watch.check(signal) });
  const check = new RestoreCheck(options);
  scheduler.register({
    ...CHECK,
    name: RESTORE_CHECK_JOB,
    isUrgent: () => check.isUrgent,
    run: (signal) => check.run(signal),
  });
  return watch;
}

/** Wait before each attempt after a crash, because Litestream may still be making a complete copy. */
const ATTEMPTS_MS = [MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS];

/** Restores the replica for a test: within minutes after a kill of the service or its inference proxy, otherwise daily. */
export class RestoreCheck {
  /** start of the last doubt that a run has examined */
  #examined: string | undefined;

  constructor(
    private readonly options: WatchOptions,
    private readonly attemptsMs: readonly number[] = ATTEMPTS_MS,
  ) {}

  /** Whether a doubt is new. The process that only forwards inference may record one at any time. */
  get isUrgent(): boolean {
    const doubt = this.#doubt();
    return doubt !== undefined && doubt !== this.#examined;
  }

  async run(signal: AbortSignal): Promise<void> {
    const attemptsMs = this.isUrgent ? this.attemptsMs : []; // a later run, such as one by an operator, does not wait
    this.#examined = this.#doubt();
    for (const [at, waitMs] of attemptsMs.entries()) {
      await sleep(waitMs, undefined, { signal });
      if (at === attemptsMs.length - 1) break;
      const error = await this.#attempt(signal).then(() => undefined, failureOf);
      if (error === undefined) return;
      this.options.log.warning("standby.replica_not_restored", { message: error.message });
    }
    await this.#attempt(signal);
  }

  #doubt(): string | undefined {
    return findOwnTerm(this.options.directory)?.doubtful_since;
  }

  async #attempt(signal: AbortSignal): Promise<void> {
    const { directory, log, clock } = this.options;
    const doubt = this.#doubt();
    try {
      if (doubt !== undefined) await this.#refuseStalled(signal);
      const { id, atMs } = await checkRestore({ ...this.options, signal });
      if (doubt !== undefined) trustReplica(directory, doubt);
      log.info("standby.replica_restored", { audit_id: id, audit_at: toRfc3339(atMs) });
    } catch (error) {
      const own = findOwnTerm(directory);
      if (own && own.doubtful_since === undefined && isAboutReplica(error)) {
        this.#examined = toRfc3339(clock.nowMs());
        doubtReplica(directory, own, this.#examined);
      }
      throw error;
    }
  }

  /** Litestream may also wait forever for the end of a commit that was never completed. A restore does not show that. */
  async #refuseStalled(signal: AbortSignal): Promise<void> {
    const { config, store, directory, term, clock } = this.options;
    if (!store) return;
    const { missingSinceMs } = await examineReplica(store, { ...directory, term, clock, signal });
    if (missingSinceMs === undefined) return;
    throw new DomainError(
      "unverified",
      "standby.replica_behind",
      `the replica lacks the writes since ${toRfc3339(missingSinceMs)}`,
      { hint: `if Litestream runs and does not catch up, recreate the replica: ${resetCommands(config)}` },
    );
  }
}

/** @throws any error but a DomainError: a bug, or the end of the run */
function failureOf(error: unknown): DomainError {
  if (error instanceof DomainError) return error;
  throw error;
}

/** @returns whether a complete copy may help, because the reason is not on this machine */
const isAboutReplica = (error: unknown): boolean =>
  error instanceof DomainError &&
  (error.kind === "unverified" || ["storage.damaged", "standby.restore_failed"].includes(error.reason));

/** The result of the last check. */
export interface WatchedReplica {
  /** undefined before the first check */
  readonly state: ReplicaState | undefined;
  /** whether the store answered */
  readonly isReached: boolean;
}

class ReplicaWatch implements WatchedReplica {
  state: ReplicaState | undefined;
  isReached = false;
  /** the reason that was logged last */
  #failure: string | undefined;

  constructor(private readonly options: WatchOptions & { store: ReplicaStore }) {}

  /** A failure of the store is logged once; the metrics show how long it lasts. */
  async check(signal: AbortSignal): Promise<void> {
    const { store, directory, term, clock, log } = this.options;
    try {
      await this.#refuseFormer();
      this.state = await examineReplica(store, { ...directory, term, clock, signal });
      this.isReached = true;
      if (this.#failure !== undefined) log.info("standby.store_reached");
      this.#failure = undefined;
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      this.isReached = false;
      if (error.message !== this.#failure)
        log.warning("standby.store_unreachable", { message: error.message });
      this.#failure = error.message;
    }
  }

  async #refuseFormer(): Promise<void> {
    const { config, store, term, directory, onTakenOver } = this.options;
    const terms = await listTerms(store);
    const newest = terms.at(-1);
    if (newest === undefined || newest === term || numberOf(newest) < numberOf(term)) return;
    onTakenOver(await takenOver(directory, { config, store, terms, term }));
  }
}

/** @param replica undefined if there is nothing to watch; the metrics then show no problem */
export function addReplicaMetrics(
  metrics: Registry,
  { clock, replica }: { clock: Clock; replica: WatchedReplica | undefined },
): void {
  const registers = [metrics];
  new Gauge({
    name: "quartermaster_replica_reached",
    help: "1 if the store of the replica answered the last request, otherwise 0; 1 without a replica",
    registers,
    collect() {
      this.set((replica?.isReached ?? true) ? 1 : 0);
    },
  });
  new Gauge({
    name: "quartermaster_replica_lag_seconds",
    help: "Known age of the oldest write that the replica lacks; 0 if it is complete",
    registers,
    collect() {
      const since = replica?.state?.missingSinceMs;
      this.set(since === undefined ? 0 : Math.max(0, clock.nowMs() - since) / SECOND_MS);
    },
  });
  new Gauge({
    name: "quartermaster_replica_position_timestamp_seconds",
    help: "Time at which the store received the newest write, in seconds since 1970; 0 if it has none",
    registers,
    collect() {
      this.set((replica?.state?.position?.atMs ?? 0) / SECOND_MS);
    },
  });
}
