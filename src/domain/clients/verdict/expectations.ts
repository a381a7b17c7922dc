// What one revision expects of a workstation, indexed for fast comparison in verdict.ts. The index is reusable, because a
// revision never changes and most workstations report the same one.

import { LRUCache } from "lru-cache";
import { ownMember } from "../../../platform/json/json-object.ts";
import {
  type GovernanceConfig,
  type HarnessPolicy,
  membershipIn,
  type PackageAudiences,
  type Person,
  type Revision,
} from "../../governance/service.ts";
import type { HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";

/** @returns why the version is not allowed, as a clause; undefined when it is allowed. Governance provides this function. */
export type CheckVersion = (
  policy: HarnessPolicy | undefined,
  harness: HarnessKey,
  version: string,
) => string | undefined;

export interface ExpectedPackage {
  version: string;
  /** @returns whether the user gets the package */
  isFor(user: Person): boolean;
  /** @returns accepted digests in lower case; empty when no archive exists for the platform */
  digestsFor(platform: string, architecture: string | null): ReadonlySet<string>;
}

export interface HarnessExpectations {
  /** by id */
  packages: ReadonlyMap<string, ExpectedPackage>;
  /** @param text a version, or text that contains one, such as `codex-cli 0.145.0` */
  versionFault(text: string): string | undefined;
}

/** By canonical key; allowed harnesses only. */
export type Expectations = ReadonlyMap<string, HarnessExpectations>;

/** Version checks cached per harness. A fleet runs few versions, but a hostile client could invent any number. */
const VERSIONS_KEPT_MAX = 256;

/** @returns what the revision expects. verdict-cache.ts caches the result per revision. */
export function expectationsOf(
  { document, audiences }: Pick<Revision, "document" | "audiences">,
  checkVersion: CheckVersion,
): Expectations {
  return new Map(
    document.allowed_harnesses.map((harness) => {
      const policy = document.harnesses[harness];
      const versionFault = cachedVersionProblems((text) => checkVersion(policy, harness, versionIn(text)));
      return [harness, { packages: packagesFor(document, audiences, harness), versionFault }];
    }),
  );
}

function packagesFor(
  { packages, harnesses }: GovernanceConfig,
  audiences: PackageAudiences,
  harness: HarnessKey,
): Map<string, ExpectedPackage> {
  const overrides = harnesses[harness]?.package_overrides ?? {};
  const expected = packages
    .filter(
      ({ id, adapters }) => adapters[harness] !== undefined && ownMember(overrides, id)?.enabled !== false,
    )
    .map(({ id, version, ...archive }): [string, ExpectedPackage] => {
      return [id, { version, isFor: membershipIn(ownMember(audiences, id)), digestsFor: digestsOf(archive) }];
    });
  return new Map(expected);
}

type Archives = Pick<GovernanceConfig["packages"][number], "sha256" | "platform_sources">;

/** A package with platform archives ignores the common archive. */
function digestsOf({ sha256, platform_sources: sources = {} }: Archives): ExpectedPackage["digestsFor"] {
  const common = new Set([sha256.toLowerCase()]);
  const byPlatform = Object.entries(sources).map(
    ([key, source]) => [key, source.sha256.toLowerCase()] as const,
  );
  if (byPlatform.length === 0) return () => common;
  const digestsWhere = (fits: (key: string) => boolean): ReadonlySet<string> =>
    new Set(byPlatform.filter(([key]) => fits(key)).map(([, digest]) => digest));
  const exact = new Map(byPlatform.map(([key]) => [key, digestsWhere((other) => other === key)]));
  return (platform, architecture) =>
    architecture === null
      ? digestsWhere((key) => key.startsWith(`${platform}-`))
      : (exact.get(`${platform}-${architecture}`) ?? NO_DIGESTS);
}

const NO_DIGESTS: ReadonlySet<string> = new Set();

function cachedVersionProblems(
  check: (text: string) => string | undefined,
): HarnessExpectations["versionFault"] {
  const known = new LRUCache<string, { fault: string | undefined }>({
    max: VERSIONS_KEPT_MAX,
    memoMethod: (text) => ({ fault: check(text) }),
  });
  return (text) => known.memo(text).fault;
}

const VERSION_IN_TEXT = /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)/;

const versionIn = (text: string): string =>
  parseVersion(text) ? text : (VERSION_IN_TEXT.exec(text)?.[1] ?? text);
