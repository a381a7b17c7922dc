// What one revision demands of a workstation, put so that a report is compared fast: a revision never changes, and most
// workstations report on the same one. Comparing is verdict.ts's.

import type {
  GovernanceConfig,
  HarnessPolicy,
  PackageAudiences,
  Revision,
} from "../../governance/service.ts";
import type { HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";

/** @returns why the version does not do, a clause; nothing when it does. Governance provides it. */
export type CheckVersion = (
  policy: HarnessPolicy | undefined,
  harness: HarnessKey,
  version: string,
) => string | undefined;

export interface ExpectedPackage {
  version: string;
  /** undefined: for everybody */
  users: ReadonlySet<string> | undefined;
  /** @returns digests in lower case, each of which will do; none where no archive is for that platform */
  digestsFor(platform: string, architecture: string | null): ReadonlySet<string>;
}

export interface HarnessExpectations {
  /** by id */
  packages: ReadonlyMap<string, ExpectedPackage>;
  /** @param text a version, or what names one: `codex-cli 0.145.0` holds a version as good as `0.145.0` */
  versionFault(text: string): string | undefined;
}

/** By canonical key; only harnesses that may run. */
export type Expectations = ReadonlyMap<string, HarnessExpectations>;

/** Versions of one harness whose answer is kept; a fleet has few, and a hostile client could make up any number. */
export const VERSIONS_KEPT_MAX = 256;

/** @returns what the revision demands; worked out once for each revision */
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
    .filter(({ id, adapters }) => adapters[harness] !== undefined && overrides[id]?.enabled !== false)
    .map(({ id, version, ...archive }): [string, ExpectedPackage] => {
      const audience = audiences[id];
      const users = audience?.scope === "users" ? new Set(audience.user_ids) : undefined;
      return [id, { version, users, digestsFor: digestsOf(archive) }];
    });
  return new Map(expected);
}

type Archives = Pick<GovernanceConfig["packages"][number], "sha256" | "platform_sources">;

/** Where there are archives for platforms, the common one does not count (control-api.md section 10.2 step 6). */
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
  const known = new Map<string, string | undefined>();
  return (text) => {
    if (known.has(text)) return known.get(text);
    if (known.size >= VERSIONS_KEPT_MAX) known.clear();
    const fault = check(text);
    known.set(text, fault);
    return fault;
  };
}

const VERSION_IN_TEXT = /(?<![\w.])v?(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?)/;

const versionIn = (text: string): string =>
  parseVersion(text) ? text : (VERSION_IN_TEXT.exec(text)?.[1] ?? text);
