// Handles the replica at a start: begins the first term, and refuses data that another machine has taken over.
import { hostname } from "node:os";
import { type Clock, SECOND_MS, toRfc3339, within } from "../../platform/clock.ts";
import { commandWith } from "../../platform/config/command-hint.ts";
import type { Config } from "../../platform/config/config.ts";
import type { DataDirectory } from "../../platform/data-directory/data-directory.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Ids } from "../../platform/ids.ts";
import type { Log } from "../../platform/observe/log.ts";
import { findOwnTerm, type OwnTerm, writeOwnTerm } from "./own-term.ts";
import type { ReplicaStore } from "./replica-store.ts";
import { replicaStoreOf } from "./standby.ts";
import { tailAfter, tailText } from "./tail.ts";
import { createRecord, listTerms, numberOf, readRecord, restoredFrom, termName } from "./terms.ts";

/** Time limit, so that a slow store does not delay a start. */
const STORE_WAIT_MS = 5 * SECOND_MS;

export interface StandbyStart {
  config: Config;
  clock: Clock;
  ids: Ids;
  log: Log;
}

/**
 * Call it under the server's lock, before the database is opened.
 * @returns the term of this data directory; undefined without a replica
 * @throws DomainError `standby.taken_over`, `standby.other_machine`, `standby.term_unreadable`; `standby.store_unreachable` before
 *   the first term, which needs the store
 */
export async function claimTerm(directory: DataDirectory, start: StandbyStart): Promise<OwnTerm | undefined> {
  const { config, clock, ids, log } = start;
  if (!config.has("standby.replica")) return undefined;
  const own = findOwnTerm(directory);
  const store = replicaStoreOf(config, { clock });
  const terms = store && (await termsIn(store, log));
  if (store && terms) await refuseFormer(directory, { config, own, terms, store });
  if (own) return own;
  if (store && !terms) throw storeUnreachable(config, store);
  const first = newTerm(1, ids);
  const record = { term: first.term, from_term: null, machine: hostname(), restored: null };
  if (store) await createRecord(store, { ...record, began_at: toRfc3339(clock.nowMs()) });
  writeOwnTerm(directory, first);
  log.info("standby.term_began", { term: first.term });
  return first;
}

/** @returns a term that no machine has used, and a new name for its holder */
export const newTerm = (number: number, ids: Ids): OwnTerm => ({
  term: termName(number, Buffer.from(ids.bytes(3)).toString("hex")),
  holder: ids.uuid(),
});

/** @returns undefined if the store is unreachable, which does not prevent a start */
async function termsIn(store: ReplicaStore, log: Log): Promise<readonly string[] | undefined> {
  try {
    const terms = await within(STORE_WAIT_MS, listTerms(store));
    if (terms === undefined) log.warning("standby.store_unreachable", { message: "no response in time" });
    return terms;
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.warning("standby.store_unreachable", { message: error.message });
    return undefined;
  }
}

interface Claim {
  config: Config;
  own: OwnTerm | undefined;
  /** in ascending order */
  terms: readonly string[];
  store: ReplicaStore;
}

async function refuseFormer(directory: DataDirectory, { config, own, terms, store }: Claim): Promise<void> {
  const newest = terms.at(-1);
  if (newest === undefined || newest === own?.term) return;
  if (!own) throw otherMachine(config, store, newest);
  if (numberOf(newest) < numberOf(own.term)) return; // the store lost our record, or is another one
  throw await takenOver(directory, { config, store, terms, term: own.term });
}

/** @param over `terms` in ascending order @returns the error of a machine whose term has ended */
export async function takenOver(
  directory: DataDirectory,
  {
    config,
    store,
    terms,
    term,
  }: Pick<StandbyStart, "config"> & { store: ReplicaStore; terms: readonly string[]; term: string },
): Promise<DomainError> {
  const newest = terms.at(-1) ?? term;
  const record = await readRecord(store, newest);
  const who = record ? `${record.machine} took over at ${record.began_at}` : "another machine took over";
  // Later terms contain more than the data restored from this one.
  const restored = (await restoredFrom(store, { terms, term })) ?? record?.restored;
  const tail = restored ? tailText(tailAfter(directory, restored)) : undefined;
  return new DomainError(
    "conflict",
    "standby.taken_over",
    `${who} (term ${newest}), so this data of term ${term} accepts no change${tail === undefined ? "" : `; ${tail}`}`,
    {
      hint: `keep the data until the lost changes are known; to make this machine the active one again, stop the other one and run here: ${commandWith(config, "takeover")}`,
    },
  );
}

const otherMachine = (config: Config, { url }: ReplicaStore, newest: string): DomainError =>
  new DomainError(
    "conflict",
    "standby.other_machine",
    `${url} has the replica of another data directory (term ${newest})`,
    {
      hint: `to continue that installation here: ${commandWith(config, "takeover")}; to replicate this one, name an empty place with standby.replica`,
    },
  );

const storeUnreachable = (config: Config, { url }: ReplicaStore): DomainError =>
  new DomainError(
    "unavailable",
    "standby.store_unreachable",
    `${url} is unreachable, and the first start with a replica needs it`,
    { hint: `check the store: ${commandWith(config, "config show --outgoing")}` },
  );
