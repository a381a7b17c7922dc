// Applies changes of one package to the content of a draft. Each function returns all extensions of the draft, because edits.ts
// checks and replaces them together.
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { AudienceInput } from "../delivery/audiences.ts";
import type { GovernanceConfig, PackageOverride } from "../model.ts";
import { noPackage } from "./draft-errors.ts";
import type { DraftContent } from "./draft-model.ts";
import type { ExtensionsInput } from "./edits.ts";

type Content = Pick<DraftContent, "document" | "audiences">;

/** How one harness uses a package. */
export interface PackageUse {
  harness: HarnessKey;
  isEnabled: boolean;
  /** settings that replace those of the package, member by member */
  settings: Readonly<Record<string, unknown>>;
}

/** An unchecked package. */
export type PackageInput = Readonly<Record<string, unknown>> & { id: string };

/** @returns the packages and MCP servers of the draft */
const extensionsOf = ({ document, audiences }: Content): ExtensionsInput => ({
  packages: document.packages,
  packageAudiences: audiences,
  packageOverrides: membersOf(document, "package_overrides"),
  mcp: membersOf(document, "mcp"),
});

/** Adds a package after the others, or replaces the package with its id, whose audience and overrides stay. */
export function withPackage(content: Content, managed: PackageInput): ExtensionsInput {
  const { packages } = content.document;
  const isKnown = packages.some(({ id }) => id === managed.id);
  return {
    ...extensionsOf(content),
    packages: isKnown
      ? packages.map((former) => (former.id === managed.id ? managed : former))
      : [...packages, managed],
  };
}

/** @throws DomainError `policy_draft.no_package` */
export function withoutPackage(content: Content, id: string): ExtensionsInput {
  assertPackage(content, id);
  const extensions = extensionsOf(content);
  return {
    ...extensions,
    packages: content.document.packages.filter((managed) => managed.id !== id),
    packageAudiences: without(extensions.packageAudiences, id),
    packageOverrides: Object.fromEntries(
      overridesOf(content).map(([key, overrides]) => [key, without(overrides, id)]),
    ),
  };
}

/** @throws DomainError `policy_draft.no_package` */
export function withAudience(content: Content, id: string, audience: AudienceInput): ExtensionsInput {
  assertPackage(content, id);
  const extensions = extensionsOf(content);
  return { ...extensions, packageAudiences: { ...extensions.packageAudiences, [id]: audience } };
}

/** Sets an override; an enabled package without settings of its own needs none. @throws DomainError `policy_draft.no_package` */
export function withPackageUse(content: Content, id: string, use: PackageUse): ExtensionsInput {
  assertPackage(content, id);
  const { harness, isEnabled, settings } = use;
  const override: PackageOverride = { ...(isEnabled ? {} : { enabled: false }), settings };
  const isNeeded = !isEnabled || Object.keys(settings).length > 0;
  const overrides = new Map(overridesOf(content));
  const others = without(overrides.get(harness), id);
  overrides.set(harness, isNeeded ? { ...others, [id]: override } : others);
  return { ...extensionsOf(content), packageOverrides: Object.fromEntries(overrides) };
}

/** @returns the values of that member for every harness of the document */
const membersOf = <Name extends "mcp" | "package_overrides">(
  { harnesses }: GovernanceConfig,
  name: Name,
): Record<string, unknown> =>
  Object.fromEntries(
    HARNESS_KEYS.flatMap((key) => {
      const policy = harnesses[key];
      return policy ? [[key, policy[name]]] : [];
    }),
  );

type Overrides = Readonly<Record<string, PackageOverride>>;

const overridesOf = ({ document: { harnesses } }: Content): [HarnessKey, Overrides][] =>
  HARNESS_KEYS.flatMap((key): [HarnessKey, Overrides][] => {
    const policy = harnesses[key];
    return policy ? [[key, policy.package_overrides]] : [];
  });

const without = <Value>(members: Readonly<Record<string, Value>> = {}, name: string): Record<string, Value> =>
  Object.fromEntries(Object.entries(members).filter(([key]) => key !== name));

function assertPackage({ document: { packages } }: Content, id: string): void {
  if (!packages.some((managed) => managed.id === id)) throw noPackage(id);
}
