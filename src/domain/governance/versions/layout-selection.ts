// Selects the layout of an adapter for an installed version.

import { compare, type SemVer } from "semver";
import type { PackageAdapter, PackageLayout } from "../../catalog/model.ts";
import { componentsOf } from "../../catalog/service.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import { type Interval, isWithin, knownVersion } from "./generations.ts";

/** An interval of versions with their layout, if any. */
export interface LayoutInterval extends Interval {
  readonly layout: PackageLayout | undefined;
}

const FIRST_VERSION = knownVersion("0.0.0");

/**
 * Divides all versions from 0.0.0: variants have their intervals. The adapter's own layout has the gaps if it has components or
 * there are no variants. Versions outside the availability have no layout.
 * @param adapter already checked: its bounds are versions, its variants ascend and do not overlap
 */
export const layoutIntervalsOf = (adapter: PackageAdapter): LayoutInterval[] => {
  const { variants = [] } = adapter;
  const intervals: LayoutInterval[] = [];
  let reached: SemVer | null = FIRST_VERSION;
  const reach = (before: SemVer | null, layout: PackageLayout | undefined): void => {
    if (reached === null || (before !== null && compare(before, reached) <= 0)) return;
    intervals.push({ introduced: reached, before, layout });
    reached = before;
  };
  const fallback = variants.length === 0 || componentsOf(adapter).size > 0 ? adapter : undefined;
  reach(knownVersion(adapter.introduced ?? FIRST_VERSION.raw), undefined);
  for (const variant of variants) {
    reach(knownVersion(variant.introduced), fallback);
    reach(variant.before === undefined ? null : knownVersion(variant.before), variant);
  }
  reach(adapter.before === undefined ? null : knownVersion(adapter.before), fallback);
  reach(null, undefined);
  return intervals;
};

/** @param version full SemVer @returns undefined if the adapter does not serve this version */
export const layoutFor = (adapter: PackageAdapter, version: SemVer | string): PackageLayout | undefined => {
  const parsed = typeof version === "string" ? parseVersion(version) : version;
  return parsed ? layoutIntervalsOf(adapter).find((stretch) => isWithin(stretch, parsed))?.layout : undefined;
};
