// Whom a change of the policy would reach: workstations that become outdated or are refused, and people who gain or lose a
// package. Every workstation is counted, in steps.
import { compare } from "semver";
import type { Db } from "../../../platform/database/database.ts";
import type { Steps } from "../../../platform/steps.ts";
import type { Governance, GovernanceConfig, PackageAudience, Revision } from "../../governance/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { Identity, User } from "../../identity/service.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import { overSpans } from "../../shared/page-steps.ts";
import type { UserGroups } from "../../shared/user-groups.ts";
import { reportPlaces } from "../inventory/inventory-store.ts";
import type { CheckVersion } from "../verdict/expectations.ts";
import { type InstalledKind, installedKinds } from "./impact-store.ts";

/** Refused versions that are named for one harness. */
export const REFUSED_VERSIONS_MAX = 20;
/** People who are named among those who gain or lose a package. */
export const PEOPLE_NAMED_MAX = 10;

type Policy = Pick<Revision, "document" | "audiences">;

/** A version that the change refuses. */
interface RefusedVersion {
  /** as reported; empty if none could be read */
  version: string;
  clients: number;
  reason: string;
}

export interface HarnessImpact {
  harness: HarnessKey;
  /** workstations that have it installed */
  installed: number;
  /** of these, those whose version is allowed now and would be refused */
  refused: number;
  /** of these, those whose version is refused now and would be allowed */
  admitted: number;
  /** of these, those whose version would be allowed, whether it is allowed now or not */
  allowed: number;
  /** the most frequent first, at most REFUSED_VERSIONS_MAX */
  versions: readonly RefusedVersion[];
}

interface People {
  count: number;
  /** addresses of the first ones, if they are fewer than everybody */
  named: readonly string[];
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
    total: number;
    /** those that follow the current revision, and have to fetch the new one */
    outdated: number;
    /** those on which a harness that may run now would be refused */
    refused: number;
    /** those whose client is older than the change demands, and not older than is demanded now */
    clientTooOld: number;
    /** those whose last report is from an older service, and not judged again yet */
    uncounted: number;
  };
  /** harnesses that workstations have installed */
  harnesses: readonly HarnessImpact[];
  /** packages that change */
  packages: readonly PackageImpact[];
}

interface ImpactDependencies {
  db: Db;
  governance: Pick<Governance, "revisions">;
  checkVersion: CheckVersion;
  identity: Pick<Identity, "users" | "findUserById">;
  userGroups: Pick<UserGroups, "members">;
}

/** @returns the effect of publishing `after` in place of `before` */
export function* impactOf(
  dependencies: ImpactDependencies,
  organizationId: string,
  { before, after }: { before: Policy; after: Policy },
): Steps<PolicyImpact> {
  const { db, governance } = dependencies;
  const inForce = governance.revisions.current(organizationId)?.id ?? null;
  const tally = new Tally(dependencies.checkVersion, before.document, after.document);
  const kindsIn = installedKinds(db.read, { organizationId, inForce });
  const kinds = new Map<string, InstalledKind>();
  yield* overSpans({ placeAhead: reportPlaces(db.read, organizationId) }, (span) => {
    for (const kind of kindsIn(span)) addKind(kinds, kind);
    return true;
  });
  for (const kind of kinds.values()) {
    tally.add(kind);
    yield;
  }
  return {
    workstations: tally.workstations,
    harnesses: tally.harnesses(),
    packages: yield* packagesOf(dependencies, organizationId, { before, after }),
  };
}

/** Many workstations have the same versions; what the policies say to these is worked out once. */
function addKind(kinds: Map<string, InstalledKind>, kind: InstalledKind): void {
  const key = `${kind.clientVersion} ${kind.versions}`;
  const known = kinds.get(key);
  if (known) {
    known.clients += kind.clients;
    known.current += kind.current;
  } else kinds.set(key, kind);
}

interface HarnessTally extends Omit<HarnessImpact, "versions"> {
  byVersion: Map<string, RefusedVersion>;
}

/** Adds up what workstations have installed. */
class Tally {
  readonly workstations = { total: 0, outdated: 0, refused: 0, clientTooOld: 0, uncounted: 0 };
  readonly #harnesses = new Map<HarnessKey, HarnessTally>();
  readonly #known = new Map<string, { now: string | undefined; next: string | undefined }>();

  constructor(
    private readonly checkVersion: CheckVersion,
    private readonly before: GovernanceConfig,
    private readonly after: GovernanceConfig,
  ) {}

  add({ versions, clientVersion, clients, current }: InstalledKind): void {
    this.workstations.total += clients;
    this.workstations.outdated += current;
    if (versions === null) this.workstations.uncounted += clients;
    const pairs: [string, string][] = versions === null ? [] : JSON.parse(versions);
    const refused = pairs.filter(([harness, version]) => this.#addHarness(harness, version, clients));
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
    if (!document.allowed_harnesses.includes(harness)) return "the harness is not allowed";
    return this.checkVersion(document.harnesses[harness], harness, version);
  }
}

const emptyTally = (harness: HarnessKey): HarnessTally => ({
  ...{ harness, installed: 0, refused: 0, admitted: 0, allowed: 0 },
  byVersion: new Map(),
});

function isBelow(clientVersion: string, { minimum_client_version: minimum }: GovernanceConfig): boolean {
  const [own, least] = [parseVersion(clientVersion), parseVersion(minimum ?? "")];
  return own !== null && least !== null && compare(own, least) < 0;
}

function* packagesOf(
  { db, identity, userGroups }: ImpactDependencies,
  organizationId: string,
  { before, after }: { before: Policy; after: Policy },
): Steps<PackageImpact[]> {
  const [had, has] = [offersOf(before), offersOf(after)];
  const active = (yield* identity.users.listInSteps(organizationId, { status: "active", perPage: 1 })).total;
  const find = (id: string) => identity.findUserById(db.read, id);
  const everybody = { active, find, userGroups };
  const impacts: PackageImpact[] = [];
  for (const id of new Set([...had.keys(), ...has.keys()])) {
    const [from, to] = [had.get(id), has.get(id)];
    const gaining = yield* peopleIn(to?.audience, from?.audience, everybody);
    const losing = yield* peopleIn(from?.audience, to?.audience, everybody);
    const isSame = from?.version === to?.version && gaining.count === 0 && losing.count === 0;
    if (!isSame) impacts.push({ id, from: from?.version, to: to?.version, gaining, losing });
    yield;
  }
  return impacts;
}

interface Offer {
  version: string;
  audience: PackageAudience;
}

/** @returns the packages of a policy by id, with whom it gives them */
const offersOf = ({ document, audiences }: Policy): ReadonlyMap<string, Offer> =>
  new Map(
    document.packages.map(({ id, version }) => {
      const audience = Object.hasOwn(audiences, id) ? audiences[id] : undefined;
      return [id, { version, audience: audience ?? { scope: "organization", user_ids: [] } }];
    }),
  );

interface Everybody extends Pick<ImpactDependencies, "userGroups"> {
  /** number of active users */
  active: number;
  find(id: string): User | undefined;
}

/** @returns the active users of the one audience who are not in the other */
function* peopleIn(
  audience: PackageAudience | undefined,
  other: PackageAudience | undefined,
  everybody: Everybody,
): Steps<People> {
  if (!audience || other?.scope === "organization") return { count: 0, named: [] };
  const others = yield* namedIn(other, everybody);
  if (audience.scope === "organization")
    return { count: everybody.active - (yield* activeOf(others, everybody)).length, named: [] };
  const wanted = (yield* namedIn(audience, everybody)).difference(others);
  const found = yield* activeOf(wanted, everybody);
  return { count: found.length, named: found.slice(0, PEOPLE_NAMED_MAX).map(({ email }) => email) };
}

/** @returns the ids of the users whom the audience names, and of the members of its groups */
function* namedIn(
  audience: PackageAudience | undefined,
  { userGroups }: Pick<Everybody, "userGroups">,
): Steps<Set<string>> {
  const ids = new Set(audience?.user_ids);
  for (const group of audience?.group_ids ?? [])
    for (const id of yield* userGroups.members(group)) ids.add(id);
  return ids;
}

function* activeOf(ids: Iterable<string>, { find }: Everybody): Steps<User[]> {
  const found: User[] = [];
  for (const id of ids) {
    const user = find(id);
    if (user?.status === "active") found.push(user);
    yield;
  }
  return found;
}
