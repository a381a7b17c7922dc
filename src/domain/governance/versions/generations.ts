// The generations of harnesses with parsed bounds: the generation of a version, and the versions that a policy allows.
// harnesses.ts is the registry.

import { compare, type SemVer } from "semver";
import { invariant } from "../../../platform/errors.ts";
import type { Harness, HarnessGeneration, HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import type { HarnessPolicy } from "../model.ts";
import { parseRequirement, type Requirement } from "./requirement.ts";

/** `introduced` is included, `before` excluded; null means no end. */
export interface Interval {
  readonly introduced: SemVer;
  readonly before: SemVer | null;
}

export interface BoundedGeneration extends Interval {
  readonly facts: HarnessGeneration;
  /** excluded */
  readonly verifiedBefore: SemVer;
}

/** @returns a version that is known to be valid: from the registry, or from a checked package */
export const knownVersion = (text: string): SemVer => {
  const version = parseVersion(text);
  invariant(version, `${text} is a version`);
  return version;
};

const bounded = (facts: HarnessGeneration): BoundedGeneration => ({
  facts,
  introduced: knownVersion(facts.introduced),
  before: facts.before === null ? null : knownVersion(facts.before),
  verifiedBefore: knownVersion(facts.verifiedBefore),
});

const boundedIn = new WeakMap<readonly Harness[], ReadonlyMap<HarnessKey, readonly BoundedGeneration[]>>();

const byHarness = (harnesses: readonly Harness[]): ReadonlyMap<HarnessKey, readonly BoundedGeneration[]> => {
  const found = boundedIn.get(harnesses);
  if (found) return found;
  const made = new Map(harnesses.map(({ key, generations }) => [key, generations.map(bounded)]));
  boundedIn.set(harnesses, made);
  return made;
};

/** @returns whether the version is in the interval by SemVer order, where a pre-release precedes its release */
export const isWithin = ({ introduced, before }: Interval, version: SemVer): boolean =>
  compare(version, introduced) >= 0 && (before === null || compare(version, before) < 0);

/** @returns the generations of a harness, oldest first */
export const generationsOf = (harnesses: readonly Harness[], key: HarnessKey): readonly BoundedGeneration[] =>
  byHarness(harnesses).get(key) ?? [];

/** @returns the generation of the version; a pre-release of a boundary belongs to the older generation */
export const generationOf = (
  harnesses: readonly Harness[],
  key: HarnessKey,
  version: SemVer,
): BoundedGeneration | undefined =>
  generationsOf(harnesses, key).find((generation) => isWithin(generation, version));

/** The versions of one harness that a policy requires. */
export interface VersionRule {
  /** absent: every version */
  readonly requirement: Requirement | undefined;
  readonly allowsUnverified: boolean;
}

/** @param policy already checked: its requirement is valid */
export const versionRuleOf = (policy: HarnessPolicy | undefined): VersionRule => {
  const text = policy?.version_requirement;
  return {
    requirement: text === undefined ? undefined : parseRequirement(text),
    allowsUnverified: policy?.allow_unverified_versions === true,
  };
};

/** @returns whether the policy certifies or tolerates this version of the generation, regardless of its range */
export const isBelowCeiling = (
  { verifiedBefore }: BoundedGeneration,
  { allowsUnverified }: VersionRule,
  version: SemVer,
): boolean => allowsUnverified || compare(version, verifiedBefore) < 0;
