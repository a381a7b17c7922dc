// What lists and pages say about the packages of a policy: what each installs, for which harnesses and people, whether the catalog
// offers another version, and what the draft of the reader makes of it.
import { isDeepStrictEqual } from "node:util";
import {
  contentOf,
  type ManagedPackage,
  type PackageContent,
  type PackageVersion,
  updateOf,
} from "../../catalog/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig, PackageAudience, Revision } from "../model.ts";

/** What a draft makes of a package of the policy. */
type DraftState = "same" | "added" | "changed" | "removed";

export interface PackageView extends PackageContent, Pick<ManagedPackage, "id" | "name" | "version"> {
  /** of `harnesses`: those that have it turned off */
  disabledFor: readonly HarnessKey[];
  audience: PackageAudience;
  /** whether the catalog has a package with this id */
  isFromCatalog: boolean;
  /** what the catalog offers in its place */
  update: PackageVersion | undefined;
  draft: DraftState;
}

type Policy = Pick<Revision, "document" | "audiences">;

/**
 * @param draft of the reader, if there is one
 * @param offered versions of the catalog by id
 * @returns the packages of the policy in its order, and behind them those that only the draft has
 */
export function packageViews(
  policy: Policy,
  { draft, offered }: { draft: Policy | undefined; offered: ReadonlyMap<string, PackageVersion> },
): PackageView[] {
  const inDraft = draft && sayingsOf(draft);
  const known = new Set(policy.document.packages.map(({ id }) => id));
  const added = draft?.document.packages.filter(({ id }) => !known.has(id)) ?? [];
  const stateOf = (managed: ManagedPackage): DraftState => {
    if (!inDraft) return "same";
    const next = inDraft.get(managed.id);
    if (!next) return "removed";
    return isDeepStrictEqual(next(), sayingOf(policy, managed)) ? "same" : "changed";
  };
  return [
    ...policy.document.packages.map((managed) => ({
      ...viewOf(policy, managed, offered),
      draft: stateOf(managed),
    })),
    ...(draft
      ? added.map((managed) => ({ ...viewOf(draft, managed, offered), draft: "added" as const }))
      : []),
  ];
}

function viewOf(
  policy: Policy,
  managed: ManagedPackage,
  offered: ReadonlyMap<string, PackageVersion>,
): Omit<PackageView, "draft"> {
  const { id, name, version } = managed;
  const content = contentOf(managed);
  return {
    ...{ id, version, ...content },
    ...(name !== undefined && { name }),
    disabledFor: content.harnesses.filter((key) => isDisabled(policy.document, key, id)),
    audience: audienceOf(policy, id),
    isFromCatalog: offered.has(id),
    update: updateOf(managed, offered),
  };
}

const isDisabled = ({ harnesses }: GovernanceConfig, key: HarnessKey, id: string): boolean =>
  ownMember(harnesses[key]?.package_overrides ?? {}, id)?.enabled === false;

/** @returns who gets the package */
const audienceOf = ({ audiences }: Pick<Policy, "audiences">, id: string): PackageAudience =>
  ownMember(audiences, id) ?? { scope: "organization", user_ids: [] };

/** @returns everything that a policy says about a package */
const sayingOf = (policy: Policy, managed: ManagedPackage) => [
  managed,
  audienceOf(policy, managed.id),
  HARNESS_KEYS.map((key) => ownMember(policy.document.harnesses[key]?.package_overrides ?? {}, managed.id)),
];

const sayingsOf = (policy: Policy): ReadonlyMap<string, () => unknown> =>
  new Map(policy.document.packages.map((managed) => [managed.id, () => sayingOf(policy, managed)]));

/** A package may be named `constructor`. */
const ownMember = <Value>(members: Readonly<Record<string, Value>>, name: string): Value | undefined =>
  Object.hasOwn(members, name) ? members[name] : undefined;
