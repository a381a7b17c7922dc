// Which versions of a harness a policy lets run, without listing them all: ranges, generations and layouts change at few
// places only, so looking around those places finds a version wherever there is one.

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

/** The versions of one harness that may run. */
export interface Allowed {
  /** whether there are any */
  readonly isAny: boolean;
  /** @returns a version in the interval that may run, the lowest of those looked at; nothing when there is none */
  lowestIn(interval: Interval): SemVer | undefined;
}

/** @returns the version and what follows it next in each way */
const around = ({ version, major, minor, patch, prerelease }: SemVer): SemVer[] =>
  [
    version,
    `${major}.${minor}.${patch}`,
    ...(prerelease.length > 0 ? [`${version}.0`] : []),
    `${major}.${minor}.${patch + 1}`,
    `${major}.${minor + 1}.0`,
    `${major + 1}.0.0`,
  ].flatMap((text) => parseVersion(text) ?? []);

/** @param policy checked; absent when the document has none for the harness */
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
  const known = [...starts, ...endpoints.flatMap(around)].filter(isAllowed).toSorted(compare);
  return {
    isAny: known.length > 0,
    lowestIn: (interval) => {
      const inside = (version: SemVer): boolean => isWithin(interval, version);
      const near = around(interval.introduced).filter((version) => inside(version) && isAllowed(version));
      const first = known.find(inside);
      return [...near, ...(first ? [first] : [])].toSorted(compare)[0];
    },
  };
};
