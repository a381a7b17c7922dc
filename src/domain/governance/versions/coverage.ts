// Checks whether the packages of a document serve every version of a harness that the policy allows, without conflicts
// (handbook: policy-file, Packages and harnesses). Only allowed harnesses are checked.

import { compare, type SemVer } from "semver";
import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { ownMember } from "../../../platform/json/json-object.ts";
import { ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import type { ManagedPackage } from "../../catalog/model.ts";
import { componentsOf } from "../../catalog/service.ts";
import { getHarness, type Harness, type HarnessKey, refusalsOf } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig } from "../model.ts";
import { type Allowed, allowedVersions } from "./allowed-versions.ts";
import { generationsOf, type Interval } from "./generations.ts";
import { type LayoutInterval, layoutIntervalsOf } from "./layout-selection.ts";

/** A package that applies to a harness. */
interface Part {
  readonly managed: ManagedPackage;
  readonly pointer: string;
  readonly stretches: readonly LayoutInterval[];
}

interface Served {
  readonly harnesses: readonly Harness[];
  readonly key: HarnessKey;
  readonly allowed: Allowed;
}

const partsOf = ({ packages, harnesses }: GovernanceConfig, key: HarnessKey): Part[] =>
  packages.flatMap((managed, index) => {
    const adapter = managed.adapters[key];
    const overrides = harnesses[key]?.package_overrides ?? {};
    const isDisabled = ownMember(overrides, managed.id)?.enabled === false;
    if (!adapter || isDisabled) return [];
    return [
      {
        managed,
        pointer: pointerOf(["packages", index, "adapters", key]),
        stretches: layoutIntervalsOf(adapter),
      },
    ];
  });

/** @returns the intersection; undefined if it is empty */
const overlapOf = (one: Interval, other: Interval): Interval | undefined => {
  const introduced = compare(one.introduced, other.introduced) < 0 ? other.introduced : one.introduced;
  const ends = [one.before, other.before].flatMap((end) => end ?? []).toSorted(compare);
  const before = ends[0] ?? null;
  return before !== null && compare(before, introduced) <= 0 ? undefined : { introduced, before };
};

interface Finding {
  readonly version: SemVer;
  /** why the package cannot serve this version; undefined if it can */
  readonly fault: string | undefined;
}

/** @returns an allowed version for every interval and generation that has one, lowest first */
const findingsOf = ({ stretches }: Part, { harnesses, key, allowed }: Served): Finding[] =>
  stretches.flatMap((stretch) => {
    const components = stretch.layout && componentsOf(stretch.layout);
    return generationsOf(harnesses, key).flatMap((generation) => {
      const interval = overlapOf(stretch, generation);
      const version = interval && allowed.lowestIn(interval);
      if (!version) return [];
      const refusals = components
        ? refusalsOf(generation.facts, components)
        : ["it has no layout for this version"];
      return [{ version, fault: refusals.length > 0 ? refusals.join(", ") : undefined }];
    });
  });

/** Reports the lowest allowed version that is not served, once for each package. */
const checkServed = (problems: ProblemList, part: Part, harness: Served): void => {
  const findings = findingsOf(part, harness);
  const unserved = findings.find(({ fault }) => fault !== undefined);
  if (!unserved) return;
  const served = findings[findings.findLastIndex(({ fault }) => fault !== undefined) + 1];
  const example = served ? `, such as >=${served.version.raw}` : "";
  const { label } = getHarness(harness.key);
  problems.add(
    part.pointer,
    `${label} ${unserved.version.raw} may run, but package ${part.managed.id} cannot serve it: ${unserved.fault}; ` +
      `set harnesses.${harness.key}.version_requirement to the versions that it serves${example}, or do not let ${label} use the package`,
  );
};

interface Exposure extends Interval {
  readonly part: Part;
}

const exposuresByName = (parts: readonly Part[]): Map<string, Exposure[]> => {
  const byName = new Map<string, Exposure[]>();
  for (const part of parts)
    for (const { introduced, before, layout } of part.stretches)
      for (const name of Object.keys(layout?.helpers ?? {})) {
        const exposures = byName.get(name) ?? [];
        exposures.push({ introduced, before, part });
        byName.set(name, exposures);
      }
  return byName;
};

const endsLater = (one: Interval, other: Interval): boolean =>
  one.before === null || (other.before !== null && compare(one.before, other.before) > 0);

/**
 * Reports commands that two packages provide for the same version. Packages are ordered by their first version, so each is
 * compared only with the one whose versions reach furthest.
 */
const checkHelpers = (problems: ProblemList, parts: readonly Part[], { key, allowed }: Served): void => {
  for (const [name, exposures] of exposuresByName(parts)) {
    let furthest: Exposure | undefined;
    for (const exposure of exposures.toSorted((one, other) => compare(one.introduced, other.introduced))) {
      const overlap = furthest && overlapOf(furthest, exposure);
      const version = overlap && allowed.lowestIn(overlap);
      if (furthest && version)
        problems.add(
          exposure.part.pointer,
          `the command ${quoted(name)} also comes with package ${furthest.part.managed.id}, for ` +
            `${getHarness(key).label} ${version.raw}; rename one, or disable one of the packages there`,
        );
      if (!furthest || endsLater(exposure, furthest)) furthest = exposure;
    }
  }
};

/** Reports a requirement that no certified version satisfies. */
const checkReach = (
  problems: ProblemList,
  document: GovernanceConfig,
  { harnesses, key, allowed }: Served,
): void => {
  if (allowed.isAny) return;
  const text = document.harnesses[key]?.version_requirement;
  problems.add(
    `/harnesses/${key}/version_requirement`,
    `no certified version of ${getHarness(key).label} satisfies ${text}; the newest are below ` +
      `${generationsOf(harnesses, key).at(-1)?.facts.verifiedBefore}, others need allow_unverified_versions`,
  );
};

const servedOf = (document: GovernanceConfig, harnesses: readonly Harness[]): Served[] =>
  document.allowed_harnesses.map((key) => ({
    harnesses,
    key,
    allowed: allowedVersions(harnesses, document.harnesses[key], key),
  }));

/**
 * Checks the ranges of a document against the currently certified versions. An administrator's document must pass. At startup a
 * problem is only reported, so that an old policy does not prevent the start.
 * @returns a problem for every allowed harness whose requirement allows no version
 * @source handbook: policy-file, Versions
 */
export const checkRanges = (document: GovernanceConfig, harnesses: readonly Harness[]): Problem[] => {
  const problems = new ProblemList();
  for (const served of servedOf(document, harnesses)) checkReach(problems, document, served);
  return problems.list();
};

/** @returns a problem for every allowed harness with versions that the package does not serve, with pointers into the package */
export const unservedBy = (
  managed: ManagedPackage,
  document: GovernanceConfig,
  harnesses: readonly Harness[],
): Problem[] => {
  const problems = new ProblemList();
  for (const served of servedOf(document, harnesses))
    for (const part of partsOf({ ...document, packages: [managed] }, served.key))
      checkServed(problems, { ...part, pointer: pointerOf(["adapters", served.key]) }, served);
  return problems.list();
};

/** Reports versions of allowed harnesses that packages do not serve, and commands that two packages provide. */
export const checkCoverage = (
  problems: ProblemList,
  document: GovernanceConfig,
  harnesses: readonly Harness[],
): void => {
  for (const served of servedOf(document, harnesses)) {
    const parts = partsOf(document, served.key);
    if (parts.length > 0) checkReach(problems, document, served);
    for (const part of parts) checkServed(problems, part, served);
    checkHelpers(problems, parts, served);
  }
};
