// Overrides of packages by the harnesses of a document: an override belongs to its package and ends with it.
import { ownMember } from "../../../platform/json/json-object.ts";
import { HARNESS_KEYS } from "../../harnesses/harnesses.ts";
import { type GovernanceConfig, type HarnessPolicy, NO_POLICY } from "../model.ts";

type Overrides = HarnessPolicy["package_overrides"];

/** @returns the document without overrides of packages that it does not have */
export function withoutStrayOverrides(document: GovernanceConfig): GovernanceConfig {
  const ids = packageIds(document);
  return withoutOverrides(document, (id) => !ids.has(id));
}

/** @returns the document without overrides of packages that only the former one has */
export function withoutFormerOverrides(
  document: GovernanceConfig,
  former: Pick<GovernanceConfig, "packages">,
): GovernanceConfig {
  const gone = packageIds(former).difference(packageIds(document));
  return gone.size === 0 ? document : withoutOverrides(document, (id) => gone.has(id));
}

/**
 * @param owners by package id
 * @returns the document with each package's overrides from the package's owner
 */
export function withOwnOverrides(
  document: GovernanceConfig,
  owners: ReadonlyMap<string, Pick<GovernanceConfig, "harnesses">>,
): GovernanceConfig {
  if (owners.size === 0) return document;
  const harnesses = { ...document.harnesses };
  for (const key of HARNESS_KEYS) {
    const overrides = withOwnRules(overridesIn(document.harnesses[key]), owners, (owner) =>
      overridesIn(owner.harnesses[key]),
    );
    const policy = harnesses[key] ?? NO_POLICY;
    if (harnesses[key] || Object.keys(overrides).length > 0)
      harnesses[key] = { ...policy, package_overrides: overrides };
  }
  return { ...document, harnesses };
}

/**
 * @param merged by package id, as the result
 * @param owners by package id
 * @returns the overrides of each package, from its owner if it has one
 */
export function withOwnRules<Rule, Owner>(
  merged: Readonly<Record<string, Rule>>,
  owners: ReadonlyMap<string, Owner>,
  rulesOf: (owner: Owner) => Readonly<Record<string, Rule>>,
): Readonly<Record<string, Rule>> {
  const shared = Object.entries(merged).filter(([id]) => !owners.has(id));
  const own = [...owners].flatMap(([id, owner]): [string, Rule][] => {
    const rule = ownMember(rulesOf(owner), id);
    return rule === undefined ? [] : [[id, rule]];
  });
  return Object.fromEntries([...shared, ...own]);
}

export const packageIds = ({ packages }: Pick<GovernanceConfig, "packages">): Set<string> =>
  new Set(packages.map(({ id }) => id));

const overridesIn = (policy: HarnessPolicy | undefined): Overrides => policy?.package_overrides ?? {};

function withoutOverrides(document: GovernanceConfig, isGone: (id: string) => boolean): GovernanceConfig {
  const harnesses = Object.entries(document.harnesses).map(([key, policy]: [string, HarnessPolicy]) => {
    const overrides = Object.entries(policy.package_overrides).filter(([id]) => !isGone(id));
    return [key, { ...policy, package_overrides: Object.fromEntries(overrides) }];
  });
  return { ...document, harnesses: Object.fromEntries(harnesses) };
}
