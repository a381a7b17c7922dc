// `takeover`: prints the plan, makes this machine the active one, and prints the lost changes.
import { existsSync } from "node:fs";
import { basename, resolve } from "node:path";
import { type FoundTail, tailAmounts } from "../../../src/app/standby/tail.ts";
import {
  assertTakeoverPossible,
  findSource,
  refuseWithoutReplica,
  type Source,
  type TakenOver,
  takeOver,
} from "../../../src/app/standby/takeover.ts";
import { DATABASE_NAME } from "../../../src/domain/backup/model.ts";
import { toRfc3339 } from "../../../src/platform/clock.ts";
import {
  type DataDirectory,
  lockForServer,
  openDataDirectory,
  placesIn,
} from "../../../src/platform/data-directory/data-directory.ts";
import { finishSwap } from "../../../src/platform/database/maintenance/data-swap.ts";
import { restoreCommand } from "../../../src/platform/database/schema/schema.ts";
import { DomainError } from "../../../src/platform/errors.ts";
import { createLog } from "../../../src/platform/observe/log.ts";
import { type UnitStarter, unitStarter } from "../../../src/platform/systemd/units.ts";
import type { SettingsCall } from "../../data-directory/in-domain.ts";
import { operatorName } from "../../data-directory/with-domain.ts";
import { isNameConfirmed, type Plan } from "../../input/prompt.ts";
import { watchTask } from "../backup/progress.ts";

const UNITS = ["quartermaster", "quartermaster-litestream"];
const NEXT = `systemctl enable --now ${UNITS.join(" ")}`;

/** @throws DomainError `standby.*`, `data_dir.in_use` while the service runs, `confirmation.*`, `backup.*`, `schema.*` */
export async function takeover(call: SettingsCall): Promise<void> {
  const { context, config, has } = call;
  const label = operatorName(context); // before opening, which may switch to the owner of the directory
  const places = placesIn(resolve(config.get("data_dir")));
  refuseWithoutReplica(config); // before any other question
  if (!config.get("standby.lease") && !has("oldMachineIsOff") && !has("dryRun")) throw notConfirmedOff();
  using starter = starterFor(call); // before opening, too
  if (has("dryRun")) {
    const source = await findSource({ config, clock: context.clock }, places);
    assertTakeoverPossible({ config, directory: places, ids: context.ids });
    await confirm(call, places, { source, starter });
    return;
  }
  const directory = openDataDirectory(places.path);
  const outcome = await takeOverLocked(call, directory, { label, starter });
  if (!outcome) return;
  const isComplete = outcome.taken.missingKeys.length === 0; // without them, the service would fail later
  const failure = isComplete ? await starter?.start() : undefined;
  report(call, directory, { ...outcome, isStarted: isComplete && starter !== undefined && !failure });
  if (failure) throw notStarted(failure);
}

/** Only root may start units. */
const starterFor = ({ context: { env, userId }, command }: SettingsCall): UnitStarter | undefined =>
  userId === 0 && command.opts().start === true ? unitStarter(UNITS, env.PATH ?? "") : undefined;

/** @returns undefined if the operator does not confirm */
async function takeOverLocked(
  call: SettingsCall,
  directory: DataDirectory,
  { label, starter }: { label: string; starter: UnitStarter | undefined },
): Promise<Outcome | undefined> {
  const { context, config } = call;
  const lock = lockForServer(directory, context.clock);
  try {
    finishSwap(directory);
    const source = await findSource({ config, clock: context.clock }, directory);
    if (existsSync(directory.database) && !(await confirm(call, directory, { source, starter }))) return;
    using watch = watchTask(context, "taking over");
    const taken = await takeOver({
      config,
      clock: context.clock,
      ids: context.ids,
      directory,
      source,
      log: createLog({ level: "error", format: "text", write: () => {}, clock: context.clock }),
      operator: { kind: "operator", id: null, label, requestId: context.runId },
      signal: watch.signal,
      onProgress: watch.onProgress,
      perform: watch.perform,
    });
    return { source, taken };
  } finally {
    lock.release();
  }
}

interface Intended {
  source: Source;
  starter: UnitStarter | undefined;
}

function confirm(call: SettingsCall, directory: DataDirectory, intended: Intended): Promise<boolean> {
  const plan = planOf(call, directory, intended);
  return isNameConfirmed(call.context, call.command, { name: basename(directory.path), ...plan });
}

function planOf(
  { config }: SettingsCall,
  { path, database }: DataDirectory,
  { source, starter }: Intended,
): Plan {
  const { term, position, store, skipped } = source;
  return {
    action: `restore ${store.url} (term ${term}, complete up to ${toRfc3339(position.atMs)}) into ${path}, and begin a new term`,
    details: [
      config.get("standby.lease")
        ? "The takeover waits until the lease of the other machine has ended, at most 15 seconds after its last renewal."
        : "The other machine must be off.",
      ...skipped.map(skippedText),
      ...(existsSync(database)
        ? [`The present data is kept for ${config.get("backup.keep_replaced")} days in a folder replaced-….`]
        : []),
      ...(starter
        ? [`At the end the takeover starts ${UNITS.join(" and ")}, unless --no-start is given.`]
        : []),
    ],
  };
}

interface Outcome {
  source: Source;
  taken: TakenOver;
}

function report(
  { config, output }: SettingsCall,
  directory: DataDirectory,
  {
    source,
    taken: { term, restored, formerLease, aside, tail, missingKeys },
    isStarted,
  }: Outcome & { isStarted: boolean },
): void {
  const lost = lostOf(restored, formerLease);
  const undo = aside === undefined ? undefined : restoreCommand(`${aside}/${DATABASE_NAME}`, directory.path);
  const document = {
    term,
    from_term: source.term,
    replica_complete_up_to: toRfc3339(source.position.atMs),
    skipped_terms: source.skipped,
    restored: { audit_id: restored.id, audit_at: toRfc3339(restored.atMs) },
    former_lease: formerLease
      ? { machine: formerLease.machine, released: formerLease.released, renewed_at: formerLease.renewed_at }
      : null,
    lost_audit_entries: lost ?? null,
    replaced: aside ?? null,
    tail_of_replaced: tailDocument(tail),
    undo: undo ?? null,
    missing_sealing_key_ids: missingKeys,
    started: isStarted,
    next: isStarted ? null : NEXT,
  };
  const lines = [
    `restored the replica of term ${source.term}, which ends with audit entry ${restored.id} of ${toRfc3339(restored.atMs)}; this machine has begun term ${term}`,
    lostText(lost, { restored, formerLease, source }),
    ...(aside === undefined
      ? []
      : [
          `the former data is kept in ${aside} for ${config.get("backup.keep_replaced")} days (backup.keep_replaced); ${replacedText(tail)}`,
        ]),
    isStarted ? `started ${UNITS.join(" and ")}` : `next: ${NEXT}`,
  ];
  output.result(document, lines.join("\n"));
  for (const skipped of source.skipped) output.warning(skippedText(skipped));
  for (const id of missingKeys) output.warning(missingText(id, directory));
}

const notStarted = (failure: string): DomainError =>
  new DomainError("unavailable", "standby.not_started", `this machine took over, but ${failure}`, {
    hint: `see journalctl -u ${UNITS[0]}, then run: ${NEXT}`,
  });

/** The former data is not merged. */
function replacedText(tail: FoundTail | undefined): string {
  if (tail === undefined) return "the restored data contains all of it";
  if (tail === "unrelated") return "it has nothing in common with the restored data";
  if (tail === "unreadable") return "it cannot be read";
  return `it contains data that the restored data lacks: ${tailAmounts(tail)}`;
}

function tailDocument(tail: FoundTail | undefined) {
  if (tail === undefined || tail === "unrelated" || tail === "unreadable") return tail ?? null;
  return { audit_entries: tail.audit?.entries ?? 0, ...tail.rows };
}

const skippedText = (term: string): string =>
  `The newer term ${term} has no replica: its writes are not restored.`;

const missingText = (id: string, { keys }: DataDirectory): string =>
  `The sealing key ${id} is missing: secrets sealed with it cannot be read. Copy it from the other machine to ${keys} before you start the service.`;

interface Lost {
  from_id: number;
  to_id: number;
  up_to: string;
}

/** A holder reports its last audit entry with each renewal of the lease. */
function lostOf(restored: TakenOver["restored"], lease: TakenOver["formerLease"]): Lost | undefined {
  if (!lease?.audit || lease.audit.id <= restored.id) return undefined;
  return { from_id: restored.id + 1, to_id: lease.audit.id, up_to: lease.audit.at };
}

function lostText(
  lost: Lost | undefined,
  { restored, formerLease, source }: Pick<TakenOver, "restored" | "formerLease"> & { source: Source },
): string {
  const after = toRfc3339(source.position.atMs);
  if (lost)
    return `lost: the audit entries ${lost.from_id} to ${lost.to_id} of ${formerLease?.machine}, up to ${lost.up_to}; and every other write after ${after}`;
  if (formerLease?.released) return `no audit entry was lost: ${formerLease.machine} ended normally`;
  if (formerLease?.audit)
    return `no audit entry up to the last renewal of the lease by ${formerLease.machine} at ${formerLease.renewed_at} was lost; other writes after ${after} may be lost`;
  return `writes of the other machine after ${after} are lost, and its audit entries after ${restored.id}`;
}

const notConfirmedOff = (): DomainError =>
  new DomainError(
    "invalid",
    "standby.not_off",
    "without a lease, nothing shows that the other machine has stopped",
    {
      hint: "stop it or cut its power, and add --old-machine-is-off; or set standby.lease to on, on both machines",
    },
  );
