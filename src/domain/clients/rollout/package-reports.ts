// Counts on how many workstations each package is applied, and where it fails. Reads whole reports, in steps. The counts of a
// large fleet are cached for a while, because it reports all the time.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import { isJsonObject } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { Revision } from "../../governance/service.ts";
import { overSpans } from "../../shared/page-steps.ts";
import { reportPlaces } from "../inventory/inventory-store.ts";
import { APPLIED } from "../verdict/verdict.ts";
import * as store from "./package-reports-store.ts";

/** Number of records that one step reads; each has up to 256 KiB. */
export const RECORDS_PER_STEP = 100;
/** How long counts that took several steps are reused although workstations keep reporting. */
export const COUNTS_KEPT_SECONDS = 60;
/** Maximum number of different failures of one package that are counted separately. */
export const FAILURE_KINDS_MAX = 50;
/** Characters of a reported text to compare and show. */
const TEXT_CHARACTERS = 300;

/** On how many workstations a package is installed. */
export interface PackageCounts {
  /** number of workstations that report it, in any version and state */
  reported: number;
  /** those of them that have applied the policy's version */
  applied: number;
}

/** A reported failure of a package. */
interface PackageFailure {
  harness: string;
  version: string;
  state: string;
  error: string;
  clients: number;
  /** one of these workstations */
  example: { id: string; hostname: string | null };
}

export interface PackageFailures {
  /** most frequent first, at most FAILURE_KINDS_MAX */
  failures: readonly PackageFailure[];
  /** number of reports with other failures */
  more: number;
}

interface Kept {
  counts: ReadonlyMap<string, PackageCounts>;
  /** until when they are reused although workstations report */
  untilMs: number;
  /** revision of the topic `clients` */
  revision: number;
  /** id of the policy's revision */
  policy: string;
}

export class PackageReports {
  readonly #kept = new Map<string, Kept>();

  constructor(private readonly parts: { db: Db; clock: Clock }) {}

  /** @returns counts by id of the packages of a policy; packages that no workstation reports are absent */
  *counts({
    id: policy,
    organizationId,
    document: { packages },
  }: Pick<Revision, "id" | "organizationId" | "document">): Steps<ReadonlyMap<string, PackageCounts>> {
    const { clock, db } = this.parts;
    const revision = db.revision("clients");
    const kept = this.#kept.get(organizationId);
    const nowMs = clock.nowMs();
    if (kept?.policy === policy && (kept.revision === revision || nowMs < kept.untilMs)) return kept.counts;
    const tally = new Tally(new Map(packages.map(({ id, version }) => [id, version])));
    const kindsIn = store.packagesKinds(db.read, organizationId);
    const places = { placeAhead: reportPlaces(db.read, organizationId), stepRows: RECORDS_PER_STEP };
    let steps = 0;
    yield* overSpans(places, (span) => {
      for (const kind of kindsIn(span)) tally.add(kind);
      steps += 1;
      return true;
    });
    const untilMs = nowMs + (steps > 1 ? COUNTS_KEPT_SECONDS * SECOND_MS : 0);
    this.#kept.set(organizationId, { counts: tally.counts, untilMs, revision, policy });
    return tally.counts;
  }

  /** @returns how a package fails on workstations, for all its versions */
  *failures(organizationId: string, packageId: string): Steps<PackageFailures> {
    const { read } = this.parts.db;
    const rowsIn = store.faultyRows(read, { organizationId, packageId });
    const kinds = new Map<string, PackageFailure>();
    let more = 0;
    const places = { placeAhead: reportPlaces(read, organizationId), stepRows: RECORDS_PER_STEP };
    yield* overSpans(places, (span) => {
      for (const row of rowsIn(span))
        for (const failure of failuresIn(row, packageId)) if (!addFailure(kinds, failure)) more += 1;
      return true;
    });
    return { failures: [...kinds.values()].sort((one, other) => other.clients - one.clients), more };
  }
}

/** Counts workstations by package. */
class Tally {
  readonly counts = new Map<string, PackageCounts>();

  constructor(private readonly versions: ReadonlyMap<string, string>) {}

  add({ packages, clients }: store.PackagesKind): void {
    const isApplied = new Map<string, boolean>();
    for (const { id, version, state } of entriesIn(packages)) {
      if (typeof id !== "string" || !this.versions.has(id)) continue;
      const isRight = state === APPLIED && version === this.versions.get(id);
      isApplied.set(id, isRight && (isApplied.get(id) ?? true));
    }
    for (const [id, isRight] of isApplied) {
      const known = this.counts.get(id) ?? { reported: 0, applied: 0 };
      const applied = known.applied + (isRight ? clients : 0);
      this.counts.set(id, { reported: known.reported + clients, applied });
    }
  }
}

type Entry = Readonly<Record<string, unknown>>;

const entriesIn = (packages: string): Entry[] => {
  const list: unknown[] = JSON.parse(packages);
  return list.filter(isJsonObject);
};

const failuresIn = ({ id, hostname, packages }: store.FaultyRow, packageId: string): PackageFailure[] =>
  entriesIn(packages)
    .filter((entry) => entry.id === packageId && entry.state !== APPLIED)
    .map(({ harness, version, state, error }) => ({
      harness: textOf(harness),
      version: textOf(version),
      state: textOf(state),
      error: textOf(error),
      clients: 1,
      example: { id, hostname },
    }));

const textOf = (value: unknown): string =>
  typeof value === "string" ? value.trim().slice(0, TEXT_CHARACTERS) : "";

/** @returns whether this failure can still be counted separately */
function addFailure(kinds: Map<string, PackageFailure>, failure: PackageFailure): boolean {
  const { harness, version, state, error } = failure;
  const key = JSON.stringify([harness, version, state, error]);
  const known = kinds.get(key);
  if (known) known.clients += 1;
  else if (kinds.size < FAILURE_KINDS_MAX) kinds.set(key, failure);
  else return false;
  return true;
}
