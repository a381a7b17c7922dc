// Estimates the effect of a policy change: workstations that become outdated or are refused, and users who gain or lose a
// package. In a large fleet it counts only the workstations seen last. It works in steps.
import { isDeepStrictEqual } from "node:util";
import { compare } from "semver";
import type { Steps } from "../../../platform/steps.ts";
import type { Governance, GovernanceConfig } from "../../governance/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import { overSpans } from "../../shared/page-steps.ts";
import type { Inventory } from "../inventory/inventory.ts";
import { reportPlaces } from "../inventory/inventory-store.ts";
import type { CheckVersion } from "../verdict/expectations.ts";
import { type InstalledKind, installedKinds } from "./impact-store.ts";
import {
  countPeople,
  offersOf,
  type People,
  type PeopleSource,
  type Policy,
  type PolicyChange,
} from "./people.ts";

/** How long its steps may block the event loop: a step takes up to two milliseconds, and the longest turn must stay below ten. */
export const IMPACT_TURN_MS = 3;
/** Number of workstations to count: those seen last. */
export const WORKSTATIONS_COUNTED_MAX = 5_000;
/** These records have lists of software, which take several times as long to read as a position in a list. */
const REPORTS_PER_STEP = 250;
/** Maximum number of refused versions to list for one harness. */
export const REFUSED_VERSIONS_MAX = 20;
/** The reason for every version of a harness that may not run at all. */
export const HARNESS_NOT_ALLOWED = "the harness is not allowed";
interface RefusedVersion {
  /** as reported; empty if unreadable */
  version: string;
  clients: number;
  reason: string;
}

export interface HarnessImpact {
  harness: HarnessKey;
  /** number of workstations that have it installed */
  installed: number;
  /** those of them whose version is allowed now and would be refused */
  refused: number;
  /** those of them whose version is refused now and would be allowed */
  admitted: number;
  /** those of them whose version would be allowed, whether or not it is allowed now */
  allowed: number;
  /** the most frequent first, at most REFUSED_VERSIONS_MAX */
  versions: readonly RefusedVersion[];
}

export interface PackageImpact {
  id: string;
  /** undefined if it is new */
  from: string | undefined;
  /** undefined if it is removed */
  to: string | undefined;
  gaining: People;
  losing: People;
}

export interface PolicyImpact {
  workstations: {
    /** all workstations of the organization */
    total: number;
    /** basis of all other figures: at most WORKSTATIONS_COUNTED_MAX */
    counted: number;
    /** workstations that follow the current revision and would fetch the new one */
    outdated: number;
    /** those on which a harness that may run now would be refused */
    refused: number;
    /** those whose client is older than the change requires, but not older than required now */
    clientTooOld: number;
    /** those whose last report this version has not evaluated yet */
    uncounted: number;
  };
  /** harnesses that workstations have installed */
  harnesses: readonly HarnessImpact[];
  /** packages that change */
  packages: readonly PackageImpact[];
  /** gateway keys whose use starts or ends, because the change turns gateway mode in the policy on or off */
  gatewayKeys: number;
}

interface ImpactDependencies extends PeopleSource {
  governance: Pick<Governance, "revisions">;
  inventory: Pick<Inventory, "totalInSteps">;
  checkVersion: CheckVersion;
  /** @returns the number of all users' keys at the gateway */
  countKeys(): number;
}

/** @returns the effect of replacing `before` with `after` */
export function* impactOf(
  dependencies: ImpactDependencies,
  organizationId: string,
  { before, after }: PolicyChange,
): Steps<PolicyImpact> {
  const { db, governance, inventory } = dependencies;
  const inForce = governance.revisions.current(organizationId)?.id ?? null;
  const tally = new Tally(dependencies.checkVersion, before.document, after.document);
  const kindsIn = installedKinds(db.read, { organizationId, inForce });
  // Many workstations have the same software, so the policies are evaluated once per combination.
  const clients = new Map<string, number>();
  let [counted, outdated] = [0, 0];
  const reports = { placeAhead: reportPlaces(db.read, organizationId), stepRows: REPORTS_PER_STEP };
  yield* overSpans(reports, (span) => {
    const { kinds, current } = kindsIn(span);
    for (const kind of kinds) clients.set(kind, (clients.get(kind) ?? 0) + 1);
    counted += kinds.length;
    outdated += current;
    return counted < WORKSTATIONS_COUNTED_MAX;
  });
  for (const [kind, count] of clients) {
    tally.add(JSON.parse(kind), count);
    yield;
  }
  const total = Math.max(counted, yield* inventory.totalInSteps(organizationId));
  return {
    workstations: { ...tally.workstations, total, counted, outdated },
    harnesses: tally.harnesses(),
    packages: yield* packagesOf(dependencies, organizationId, { before, after }),
    gatewayKeys: isGatewaySame(before, after) ? 0 : dependencies.countKeys(),
  };
}

const isGatewaySame = ({ document: before }: Policy, { document: after }: Policy): boolean =>
  isDeepStrictEqual(before.gateway, after.gateway);

interface HarnessTally extends Omit<HarnessImpact, "versions"> {
  byVersion: Map<string, RefusedVersion>;
}

/** Adds up what workstations have installed. */
class Tally {
  readonly workstations = { refused: 0, clientTooOld: 0, uncounted: 0 };
  readonly #harnesses = new Map<HarnessKey, HarnessTally>();
  readonly #known = new Map<string, { now: string | undefined; next: string | undefined }>();

  constructor(
    private readonly checkVersion: CheckVersion,
    private readonly before: GovernanceConfig,
    private readonly after: GovernanceConfig,
  ) {}

  add([clientVersion, versions]: InstalledKind, clients: number): void {
    if (versions === null) this.workstations.uncounted += clients;
    const refused = (versions ?? []).filter(([harness, version]) =>
      this.#addHarness(harness, version, clients),
    );
    if (refused.length > 0) this.workstations.refused += clients;
    if (isBelow(clientVersion, this.after) && !isBelow(clientVersion, this.before))
      this.workstations.clientTooOld += clients;
  }

  harnesses(): HarnessImpact[] {
    return HARNESS_KEYS.flatMap((key) => {
      const tally = this.#harnesses.get(key);
      if (!tally) return [];
      const { byVersion, ...counted } = tally;
      const frequent = [...byVersion.values()].sort((one, other) => other.clients - one.clients);
      return [{ ...counted, versions: frequent.slice(0, REFUSED_VERSIONS_MAX) }];
    });
  }

  /** @returns whether the change refuses the version */
  #addHarness(name: string, version: string, clients: number): boolean {
    const harness = HARNESS_KEYS.find((key) => key === name);
    if (!harness) return false;
    const tally = this.#harnesses.get(harness) ?? emptyTally(harness);
    this.#harnesses.set(harness, tally);
    tally.installed += clients;
    const { now, next } = this.#faultsOf(harness, version);
    if (next === undefined) tally.allowed += clients;
    if (now !== undefined && next === undefined) tally.admitted += clients;
    if (now !== undefined || next === undefined) return false;
    tally.refused += clients;
    const known = tally.byVersion.get(version);
    tally.byVersion.set(version, { version, reason: next, clients: (known?.clients ?? 0) + clients });
    return true;
  }

  #faultsOf(harness: HarnessKey, version: string) {
    const key = `${harness} ${version}`;
    const known = this.#known.get(key);
    if (known) return known;
    const faults = {
      now: this.#faultIn(this.before, harness, version),
      next: this.#faultIn(this.after, harness, version),
    };
    this.#known.set(key, faults);
    return faults;
  }

  #faultIn(document: GovernanceConfig, harness: HarnessKey, version: string): string | undefined {
    if (!document.allowed_harnesses.includes(harness)) return HARNESS_NOT_ALLOWED;
    return this.checkVersion(document.harnesses[harness], harness, version);
  }
}

const emptyTally = (harness: HarnessKey): HarnessTally => ({
  harness,
  installed: 0,
  refused: 0,
  admitted: 0,
  allowed: 0,
  byVersion: new Map(),
});

function isBelow(clientVersion: string, { minimum_client_version: minimum }: GovernanceConfig): boolean {
  const [own, least] = [parseVersion(clientVersion), parseVersion(minimum ?? "")];
  return own !== null && least !== null && compare(own, least) < 0;
}

function* packagesOf(
  dependencies: ImpactDependencies,
  organizationId: string,
  { before, after }: PolicyChange,
): Steps<PackageImpact[]> {
  const [had, has] = [offersOf(before), offersOf(after)];
  const { users } = dependencies.identity;
  const active = yield* users.activeTotal(organizationId);
  const impacts: PackageImpact[] = [];
  for (const id of new Set([...had.keys(), ...has.keys()])) {
    const [from, to] = [had.get(id), has.get(id)];
    const gaining = yield* countPeople(dependencies, [to?.audience, from?.audience], active);
    const losing = yield* countPeople(dependencies, [from?.audience, to?.audience], active);
    const isSame = from?.version === to?.version && gaining.count === 0 && losing.count === 0;
    if (!isSame) impacts.push({ id, from: from?.version, to: to?.version, gaining, losing });
    yield;
  }
  return impacts;
}
