// Makes this machine the active one: takes the lease, restores the newest replica, verifies it, and begins its own
// term. The former data is kept aside.
import { existsSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { createAudit } from "../../domain/audit/service.ts";
import { firstOrganization } from "../../domain/identity/store.ts";
import { secretsOf } from "../../domain/sealed-values.ts";
import type { Actor } from "../../domain/shared/actor.ts";
import { type Clock, toRfc3339 } from "../../platform/clock.ts";
import { commandWith } from "../../platform/config/command-hint.ts";
import type { Config } from "../../platform/config/config.ts";
import { openSealing } from "../../platform/crypto/sealing.ts";
import { SealingKeyFiles } from "../../platform/crypto/sealing-keys.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { type Connection, openDatabase } from "../../platform/database/database.ts";
import { assertUnused, stagingIn } from "../../platform/database/maintenance/data-swap.ts";
import { DomainError, invariant } from "../../platform/errors.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import type { TaskOptions } from "../backup/backup-task.ts";
import { inspectBackup, restoreBackup } from "../backup/restore.ts";
import { verifyBackup } from "../backup/verify.ts";
import { LeaseKeeper } from "./lease/lease-keeper.ts";
import type { Lease } from "./lease/lease-object.ts";
import { refuseWithoutLitestream, restoreReplica } from "./litestream.ts";
import { endOfLog, type LogEnd } from "./log-end.ts";
import { findOwnTerm, type OwnTerm, writeOwnTerm } from "./own-term.ts";
import { resetCommands } from "./replica/reset.ts";
import type { ReplicaStore } from "./replica-store.ts";
import { leaseObjectOf } from "./service-standby.ts";
import { replicaStoreOf } from "./standby.ts";
import { newTerm } from "./start.ts";
import { type FoundTail, restoredEnd, tailAfter } from "./tail.ts";
import {
  createRecord,
  listTerms,
  newestPosition,
  numberOf,
  type Position,
  type RestoredEnd,
  replaceRecord,
  restoredFrom,
} from "./terms.ts";

export interface Source {
  store: ReplicaStore;
  /** the newest term with a replica */
  term: string;
  position: Position;
  /** newer terms without a replica, from a machine that failed before it replicated anything, or from a failed takeover */
  skipped: readonly string[];
  /** number of the new term */
  nextNumber: number;
}

export interface TakeoverOptions extends TaskOptions {
  config: Config;
  clock: Clock;
  ids: Ids;
  log: Log;
  /** locked by the caller */
  directory: DataDirectory;
  operator: Omit<Actor, "organizationId">;
  source: Source;
}

export interface TakenOver {
  term: string;
  /** the end of the restored audit log */
  restored: LogEnd;
  /** the last lease of the other machine; undefined if there was none */
  formerLease: Lease | undefined;
  /** folder with the former data; undefined if there was none */
  aside: string | undefined;
  /** data in that folder that the restored data lacks */
  tail: FoundTail | undefined;
  /** ids of sealing keys that the restored data needs and this machine lacks */
  missingKeys: readonly string[];
}

/** Number of terms to search for a replica, because a machine may fail before it replicates anything. */
const TERMS_TRIED = 10;

/**
 * Finds the replica to restore. Changes nothing.
 * @throws DomainError `standby.off`, `standby.no_replica`; `unavailable` if the store is unreachable
 */
export async function findSource(
  { config, clock }: Pick<TakeoverOptions, "config" | "clock">,
  directory: Pick<DataDirectory, "standby">,
): Promise<Source> {
  const store = replicaStoreOf(config, { clock });
  if (!store) throw withoutReplica();
  const terms = await listTerms(store);
  const last = Math.max(0, ...terms.map(numberOf), numberOf(findOwnTerm(directory)?.term ?? ""));
  const skipped: string[] = [];
  for (const term of terms.toReversed().slice(0, TERMS_TRIED)) {
    const position = await newestPosition(store, term);
    if (position) return { store, term, position, skipped, nextNumber: last + 1 };
    skipped.push(term);
  }
  throw noReplica(store);
}

/**
 * @throws DomainError `standby.*`, `object_store.*`, `backup.*`, `schema.*`, `storage.*`, without a change of the local
 * data; the signal's reason
 */
export async function takeOver(options: TakeoverOptions): Promise<TakenOver> {
  const { config, clock, ids, directory, source, signal } = options;
  assertTakeoverPossible(options);
  await assertRestorable(options); // may fail, so it runs before the term of the other machine ends
  const own = newTerm(source.nextNumber, ids);
  const formerLease = config.get("standby.lease") ? await takeLease(own, options) : undefined;
  const record = {
    term: own.term,
    from_term: source.term,
    machine: hostname(),
    began_at: toRfc3339(clock.nowMs()),
  };
  if (!(await createRecord(source.store, { ...record, restored: null }))) throw alreadyBegun(own.term);
  const folder = stagingIn(directory, ids.uuid());
  try {
    const target = join(folder, "replica.db");
    const { database } = directory;
    await restoreReplica({ config, database, term: source.term, target, folder, signal });
    const restored = endOfLog(target);
    const end = restoredEnd(target, restored);
    const tail = existsSync(database)
      ? tailAfter(directory, (await restoredFromOwn(directory, source)) ?? end)
      : undefined;
    const backup = inspectBackup(target, { directory, config, ids, keys: undefined });
    const { aside } = await restoreBackup({ ...options, backup, keys: undefined, revokeLogins: false });
    const missingKeys = await recordTakeover(options, { own, restored, formerLease });
    writeOwnTerm(directory, own);
    await replaceRecord(source.store, { ...record, restored: end });
    return { term: own.term, restored, formerLease, aside, tail, missingKeys };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Restores and reads the whole replica once, and removes the copy, because a machine with intact data must not lose its
 * term to a damaged replica.
 */
async function assertRestorable(options: TakeoverOptions): Promise<void> {
  const { config, ids, directory, source, signal } = options;
  const folder = stagingIn(directory, ids.uuid());
  try {
    const target = join(folder, "replica.db");
    await restoreReplica({ config, database: directory.database, term: source.term, target, folder, signal });
    await verifyBackup(target, options);
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    const isDamaged = error.kind === "unverified" || error.reason === "storage.damaged";
    throw isDamaged ? damagedReplica(options, error) : error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns the end of the local data that another machine has restored; undefined if none has, or if this term is being restored */
async function restoredFromOwn(
  directory: DataDirectory,
  { store, term: source }: Source,
): Promise<RestoredEnd | undefined> {
  const term = findOwnTerm(directory)?.term;
  if (term === undefined || term === source) return undefined;
  return await restoredFrom(store, { terms: await listTerms(store), term });
}

/** The next service here has the same term and holder, so it need not wait for the lease. */
async function takeLease(
  own: OwnTerm,
  { config, clock, log, signal }: TakeoverOptions,
): Promise<Lease | undefined> {
  const object = leaseObjectOf(config, clock);
  const stop = signal ?? new AbortController().signal;
  const keeper = new LeaseKeeper({
    object,
    own,
    machine: hostname(),
    log,
    command: (words) => commandWith(config, words),
    onLost: () => {},
  });
  await keeper.take(stop);
  return keeper.replaced;
}

/** @returns ids of the sealing keys that are missing */
async function recordTakeover(
  { directory, clock, ids, operator, config }: TakeoverOptions,
  { own, restored, formerLease }: Pick<TakenOver, "restored" | "formerLease"> & { own: OwnTerm },
): Promise<readonly string[]> {
  const db = openDatabase(directory.database, { replicated: config.get("database.replicated") });
  try {
    const organization = firstOrganization(db.read);
    invariant(organization, "a restored database has an organization");
    const actor = { ...operator, organizationId: organization.id };
    const after = {
      machine: hostname(),
      restored_up_to: restored.id,
      restored_at: toRfc3339(restored.atMs),
      former_machine: formerLease?.machine ?? null,
    };
    const audit = createAudit({ clock });
    await db.write((tx) => audit.record(tx, { actor, action: "standby.take_over", target: own.term, after }));
    return missingKeysIn(db.read, { directory, config, ids });
  } finally {
    await db.close();
  }
}

function missingKeysIn(
  connection: Connection,
  { directory, config, ids }: Pick<TakeoverOptions, "directory" | "config" | "ids">,
): string[] {
  const provided = config.get("keys.sealing_key");
  const sealing = openSealing({ directory: directory.keys, ids, provided, isNew: false });
  const available = new Set(sealing.keys().map(({ id }) => id));
  const needed = new Set(secretsOf({ sealing }).flatMap(({ count }) => [...count(connection).keys()]));
  return [...needed].filter((id) => !available.has(id));
}

/**
 * Finds problems that would stop a takeover after it has ended the term of the other machine.
 * @throws DomainError `standby.no_litestream`, `standby.no_keys`; `unavailable` while another program has the database open
 */
export function assertTakeoverPossible({
  config,
  directory,
  ids,
}: Pick<TakeoverOptions, "config" | "directory" | "ids">): void {
  refuseWithoutLitestream(config);
  assertUnused(directory);
  // Without the keys, the restored data could be opened, but not its secrets.
  if (config.has("keys.sealing_key")) return;
  if (existsSync(directory.keys) && new SealingKeyFiles(directory.keys, ids).list().length > 0) return;
  throw new DomainError("conflict", "standby.no_keys", `there is no sealing key in ${directory.keys}`, {
    hint: "copy the keys of the other machine here first: its folder keys/, or a file of `backup create --with-keys`",
  });
}

/** @throws DomainError `standby.off` */
export function refuseWithoutReplica(config: Config): void {
  if (!config.has("standby.replica")) throw withoutReplica();
}

const withoutReplica = (): DomainError =>
  new DomainError("invalid", "standby.off", "standby.replica is not set", {
    hint: "set standby.replica, or pass the configuration file of the service with --config",
  });

const noReplica = ({ url }: ReplicaStore): DomainError =>
  new DomainError("not_found", "standby.no_replica", `${url} has no replica`, {
    hint: "check standby.replica, and that Litestream has run on the other machine",
  });

const damagedReplica = (
  { config, source: { store, term } }: TakeoverOptions,
  cause: DomainError,
): DomainError =>
  new DomainError(
    "unverified",
    "standby.replica_damaged",
    `the replica of term ${term} in ${store.url} cannot be used: ${cause.message}`,
    {
      hint: `nothing was changed: if the data of the other machine is intact, start the service there, and run there: ${resetCommands(config)}; otherwise put the last good backup in force: ${commandWith(config, "backup restore FILE")}`,
      cause,
    },
  );

const alreadyBegun = (term: string): DomainError =>
  new DomainError("conflict", "standby.already_begun", `another machine has begun the term ${term}`, {
    hint: "run takeover on one machine only",
  });
