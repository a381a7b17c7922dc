// Checks of `doctor` and `config check`: whether the replica is up to date, what a failure now would lose, and whether a restore
// succeeded recently.
import { accessSync, constants, existsSync } from "node:fs";
import { resolve } from "node:path";
import type { JobView } from "../../domain/system/jobs.ts";
import { type Clock, HOUR_MS, toRfc3339 } from "../../platform/clock.ts";
import { commandWith } from "../../platform/config/command-hint.ts";
import type { Config } from "../../platform/config/config.ts";
import { type DataDirectory, placesIn } from "../../platform/data-directory/data-directory.ts";
import type { Examined } from "../doctor/domain-checks.ts";
import { type Check, examine, type Finding } from "../doctor/finding.ts";
import { isLeaseHeldHere } from "./lease/lease-file.ts";
import { findOwnTerm } from "./own-term.ts";
import { examineReplica, type ReplicaState } from "./replica/replica-state.ts";
import { resetCommands } from "./replica/reset.ts";
import { replicaStoreOf } from "./standby.ts";
import { takenOver } from "./start.ts";
import { listTerms, numberOf } from "./terms.ts";
import { RESTORE_CHECK_JOB } from "./watch.ts";

/** Maximum age of the last test restore; the job runs daily. */
export const RESTORE_CHECK_AGE_MS = 26 * HOUR_MS;
const READ_LOG = "check that Litestream runs, and read its log; for an example: quartermaster help standby";

/** @returns the finding of `checkReplica`; undefined without a replica, or if this user may not read the data directory */
export async function replicaFinding(config: Config, clock: Clock): Promise<Finding | undefined> {
  const directory = placesIn(resolve(config.get("data_dir")));
  if (!config.has("standby.replica") || !isReadable(directory)) return undefined;
  const [finding] = await examine("replica", (check) => checkReplica(check, directory, { config, clock }));
  return finding;
}

function isReadable({ path, standby }: DataDirectory): boolean {
  try {
    accessSync(path, constants.R_OK | constants.X_OK);
    if (existsSync(standby)) accessSync(standby, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** @throws DomainError if the store is unreachable */
export async function checkReplica(
  check: Check,
  directory: DataDirectory,
  { config, clock }: { config: Config; clock: Clock },
): Promise<Finding> {
  const own = findOwnTerm(directory);
  if (!own) return check.warning("no term of the replica has begun", "start the service");
  const store = replicaStoreOf(config, { clock });
  if (!store) return check.ok("no replica is configured");
  const terms = await listTerms(store);
  const newest = terms.at(-1);
  if (newest !== undefined && newest !== own.term && numberOf(newest) >= numberOf(own.term)) {
    const { message, hint = "" } = await takenOver(directory, { config, store, terms, term: own.term });
    return check.failed(message, hint);
  }
  return replicaLagFinding(check, await examineReplica(store, { ...directory, term: own.term, clock }), {
    config,
    nowMs: clock.nowMs(),
  });
}

/** @param isServiceRunning on this data directory */
export function checkLease(check: Check, directory: DataDirectory, isServiceRunning: boolean): Finding {
  if (isLeaseHeldHere(directory)) return check.ok("this machine holds the lease and accepts changes");
  return isServiceRunning
    ? check.failed(
        "this machine does not hold the lease, so every change is refused",
        "check the store of the replica; the log has standby.lease_not_renewed with the reason",
      )
    : check.ok("no service runs here, so this machine holds no lease");
}

/** @returns the writes that would be lost if this machine failed now */
export function replicaLagFinding(
  check: Check,
  state: ReplicaState,
  { config, nowMs }: { config: Config; nowMs: number },
): Finding {
  const { position, missingSinceMs, missingTransactions } = state;
  if (position === undefined) return check.failed("the store has no files of this database", READ_LOG);
  const has = `the replica is complete up to ${toRfc3339(position.atMs)}`;
  if (missingSinceMs === undefined) return check.ok(`${has}; nothing would be lost now`);
  const count = missingTransactions ? `${missingTransactions} transactions` : "writes";
  const seconds = Math.max(0, Math.round((nowMs - missingSinceMs) / 1000));
  return check.failed(
    `${has}; ${count} of the last ${seconds} seconds would be lost now`,
    `${READ_LOG}; if it runs and does not catch up, recreate the replica: ${resetCommands(config)}`,
  );
}

export function checkReplicaRestore(check: Check, { config, domain, nowMs }: Examined): Finding {
  if (!config.has("standby.replica")) return check.ok("no replica is configured");
  const { doubtful_since } = findOwnTerm(placesIn(resolve(config.get("data_dir")))) ?? {};
  return restoreCheckFinding(check, domain.jobs.list(), { nowMs, config, doubtfulSince: doubtful_since });
}

/** @param jobs of the service */
export function restoreCheckFinding(
  check: Check,
  jobs: readonly JobView[],
  { config, nowMs, doubtfulSince }: { config: Config; nowMs: number; doubtfulSince: string | undefined },
): Finding {
  const job = jobs.find(({ name }) => name === RESTORE_CHECK_JOB);
  const run = commandWith(config, `jobs run ${RESTORE_CHECK_JOB}`);
  const remedy = `run it now, and read its result: ${run}; ${commandWith(config, "jobs list")}`;
  if (!job?.finishedAtMs) return check.warning("the replica has not been restored for a test yet", remedy);
  const at = toRfc3339(job.finishedAtMs);
  if (job.outcome !== "succeeded")
    return check.failed(
      `the test restore of ${at} ended with ${job.outcome}: ${job.error ?? "no reason"}`,
      `if the reason is not on this machine, recreate the replica: ${resetCommands(config)}; then restore it again: ${run}`,
    );
  if (doubtfulSince !== undefined)
    return check.warning(
      `the service was killed before ${doubtfulSince}, and the replica has not been restored for a test since`,
      `wait some minutes for the test restore, or ${remedy}`,
    );
  if (nowMs - job.finishedAtMs > RESTORE_CHECK_AGE_MS)
    return check.failed(`the last test restore was at ${at}`, remedy);
  return check.ok(`restored and verified at ${at}`);
}
