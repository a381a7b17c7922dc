// The replica and the lease of the running service: claimed before the database is opened, watched while it runs, released at
// the end.
import { hostname } from "node:os";
import { Gauge, type Registry } from "prom-client";
import type { Domain } from "../../domain/domain.ts";
import { toRfc3339 } from "../../platform/clock.ts";
import { commandWith } from "../../platform/config/command-hint.ts";
import type { Config } from "../../platform/config/config.ts";
import { placeOf } from "../../platform/config/standby/replica.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { resetIndex } from "../../platform/database/maintenance/log-index.ts";
import { type DomainError, invariant } from "../../platform/errors.ts";
import { createOutbound } from "../../platform/outbound/outbound.ts";
import type { Scheduler } from "../../platform/scheduler/scheduler.ts";
import { needed } from "../installation/needed-setting.ts";
import { Buckets, storeDestinations } from "../object-store/buckets.ts";
import { removeLeaseFile, writeLeaseFile } from "./lease/lease-file.ts";
import { LeaseKeeper } from "./lease/lease-keeper.ts";
import { type LeaseObject, leaseObjectIn } from "./lease/lease-object.ts";
import { doubtReplica, findOwnTerm, type OwnTerm } from "./own-term.ts";
import { resetCommands } from "./replica/reset.ts";
import { replicaStoreOf } from "./standby.ts";
import { claimTerm, type StandbyStart } from "./start.ts";
import { addReplicaMetrics, watchReplica } from "./watch.ts";

export interface ServiceStandby {
  /** undefined without a lease, when every change is admitted */
  admit: (() => void) | undefined;
  /** whether changes are accepted */
  isActive(): boolean;
  /** resolves with the error that ends this service after another machine has taken over */
  invalidated: Promise<DomainError>;
  /** Registers the jobs and the metrics. */
  watch(scheduler: Scheduler, domain: Pick<Domain, "auditLog">, metrics: Registry): void;
}

/**
 * Call it under the server's lock, before the database is opened. `undo` ends everything after the database is closed.
 * @throws DomainError `standby.*`, `object_store.*`: why this data directory is not usable now
 */
export async function openStandby(
  directory: DataDirectory,
  start: StandbyStart & { undo: AsyncDisposableStack },
): Promise<ServiceStandby> {
  const { config, clock, undo } = start;
  const own = await claimTerm(directory, start);
  const invalidation = Promise.withResolvers<DomainError>();
  const onTakenOver = invalidation.resolve;
  const lease =
    own && config.get("standby.lease") ? takeLease(directory, own, { ...start, onTakenOver }) : undefined;
  const keeper = await lease;
  if (keeper) undo.defer(() => keeper.release());
  return {
    admit: keeper && (() => keeper.admit()),
    isActive: () => keeper?.isHeld ?? true,
    invalidated: invalidation.promise,
    watch(scheduler, { auditLog }, metrics) {
      keeper?.report(() => auditLog.lastEntry());
      addLeaseFigure(metrics, keeper);
      const store = own && replicaStoreOf(config, { clock });
      const replica =
        own && watchReplica(scheduler, { ...start, ...own, directory, auditLog, store, onTakenOver });
      addReplicaMetrics(metrics, { clock, replica });
    },
  };
}

/**
 * Distrusts the replica after a former process was killed. Call it before the database is opened, and before a lock of the
 * directory is taken: that removes the record of the killed process, which a start that fails later still needs.
 * @throws DomainError `standby.term_unreadable`
 */
export function followCrash(
  directory: DataDirectory,
  { config, clock, log }: Pick<StandbyStart, "config" | "clock" | "log">,
): void {
  // Litestream may have taken a commit that was never completed.
  if (config.get("database.replicated")) resetIndex(directory.database);
  const own = config.has("standby.replica") ? findOwnTerm(directory) : undefined;
  if (!own) return;
  doubtReplica(directory, own, toRfc3339(clock.nowMs()));
  log.warning("standby.replica_doubtful", { term: own.term, next: resetCommands(config) });
}

async function takeLease(
  directory: DataDirectory,
  own: OwnTerm,
  {
    config,
    clock,
    log,
    undo,
    onTakenOver,
  }: StandbyStart & { undo: AsyncDisposableStack; onTakenOver(error: DomainError): void },
): Promise<LeaseKeeper> {
  const keeper = new LeaseKeeper({
    object: leaseObjectOf(config, clock),
    own,
    machine: hostname(),
    log,
    command: (words) => commandWith(config, words),
    onRenewed: (untilMs) => writeLeaseFile(directory, untilMs),
    onLost: onTakenOver,
  });
  undo.defer(() => removeLeaseFile(directory));
  await keeper.take(new AbortController().signal);
  keeper.start();
  log.info("standby.lease_taken", { term: own.term });
  return keeper;
}

/** @returns the lease next to a replica at s3:// */
export function leaseObjectOf(config: Config, clock: StandbyStart["clock"]): LeaseObject {
  const place = placeOf(needed(config, "standby.replica"));
  const { standby } = new Buckets(config, {
    clock,
    outbound: createOutbound({ allowed: storeDestinations(config) }),
  });
  invariant(place.kind === "s3" && standby, "the settings allow a lease only for a replica at s3://");
  return leaseObjectIn(standby, place.prefix);
}

function addLeaseFigure(metrics: Registry, keeper: LeaseKeeper | undefined): void {
  new Gauge({
    name: "quartermaster_standby_lease_held",
    help: "1 if this machine holds the lease and accepts changes, otherwise 0; 1 without a lease",
    registers: [metrics],
    collect() {
      this.set((keeper?.isHeld ?? true) ? 1 : 0);
    },
  });
}
