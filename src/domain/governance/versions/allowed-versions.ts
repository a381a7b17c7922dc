// Finds versions of a harness that a policy allows, without listing all. Ranges, generations and layouts change at few
// versions, so checking their neighbors finds an allowed version if one exists.

import { compare, type SemVer } from "semver";
import type { Harness, HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import type { HarnessPolicy } from "../model.ts";
import {
  generationOf,
  generationsOf,
  type Interval,
  isBelowCeiling,
  isWithin,
  versionRuleOf,
} from "./generations.ts";

/** The allowed versions of one harness. */
export interface Allowed {
  /** whether any version is allowed */
  readonly isAny: boolean;
  /** @returns an allowed version in the interval, the lowest of the candidates; undefined if there is none */
  lowestIn(interval: Interval): SemVer | undefined;
}

/** @returns the version and its next version in each direction */
export const neighboringVersions = ({ version, major, minor, patch, prerelease }: SemVer): SemVer[] =>
  [
    version,
    `${major}.${minor}.${patch}`,
    ...(prerelease.length > 0 ? [`${version}.0`] : []),
    `${major}.${minor}.${patch + 1}`,
    `${major}.${minor + 1}.0`,
    `${major + 1}.0.0`,
  ].flatMap((text) => parseVersion(text) ?? []);

/** @param policy already checked; absent if the document has none for the harness */
export const allowedVersions = (
  harnesses: readonly Harness[],
  policy: HarnessPolicy | undefined,
  key: HarnessKey,
): Allowed => {
  const rule = versionRuleOf(policy);
  const isAllowed = (version: SemVer): boolean => {
    const generation = generationOf(harnesses, key, version);
    if (!generation || !isBelowCeiling(generation, rule, version)) return false;
    return rule.requirement?.isSatisfiedBy(version) ?? true;
  };
  const endpoints = rule.requirement?.endpoints() ?? [];
  const starts = generationsOf(harnesses, key).map(({ introduced }) => introduced);
  const known = [...starts, ...endpoints.flatMap(neighboringVersions)].filter(isAllowed).toSorted(compare);
  return {
    isAny: known.length > 0,
    lowestIn: (interval) => {
      const inside = (version: SemVer): boolean => isWithin(interval, version);
      const near = neighboringVersions(interval.introduced).filter(
        (version) => inside(version) && isAllowed(version),
      );
      const first = known.find(inside);
      return [...near, ...(first ? [first] : [])].toSorted(compare)[0];
    },
  };
};
