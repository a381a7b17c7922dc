// Which layout of an adapter serves an installed version (control-api.md section 8.3).

import type { SemVer } from "semver";
import type { PackageAdapter, PackageLayout } from "../../catalog/model.ts";
import { componentsOf } from "../../catalog/service.ts";
import { parseVersion } from "../../exact-version.ts";
import { type Interval, isWithin, knownVersion } from "./generations.ts";

/** An adapter or variant with its bounds ready to compare. */
export interface PlacedLayout extends Interval {
  readonly layout: PackageLayout;
}

/** A checked adapter, ready to be asked about many versions. */
export interface PlacedAdapter extends PlacedLayout {
  readonly variants: readonly PlacedLayout[];
  /** what the adapter itself holds also serves the versions without a variant */
  readonly hasFallback: boolean;
}

const place = (
  { introduced, before }: { introduced?: string; before?: string },
  layout: PackageLayout,
): PlacedLayout => ({
  introduced: knownVersion(introduced ?? "0.0.0"),
  before: before === undefined ? null : knownVersion(before),
  layout,
});

/** @param adapter checked: its bounds are versions and its variants do not overlap */
export const placeAdapter = (adapter: PackageAdapter): PlacedAdapter => {
  const variants = adapter.variants ?? [];
  return {
    ...place(adapter, adapter),
    variants: variants.map((variant) => place(variant, variant)),
    hasFallback: variants.length === 0 || componentsOf(adapter).size > 0,
  };
};

/** @returns the variant that holds the version, else the fallback; nothing when neither serves it */
export const layoutAt = (adapter: PlacedAdapter, version: SemVer): PackageLayout | undefined => {
  if (!isWithin(adapter, version)) return undefined;
  const variant = adapter.variants.find((one) => isWithin(one, version));
  return variant?.layout ?? (adapter.hasFallback ? adapter.layout : undefined);
};

/** @param version full SemVer @returns nothing when the adapter does not serve this version */
export const layoutFor = (adapter: PackageAdapter, version: SemVer | string): PackageLayout | undefined => {
  const parsed = typeof version === "string" ? parseVersion(version) : version;
  return parsed ? layoutAt(placeAdapter(adapter), parsed) : undefined;
};
