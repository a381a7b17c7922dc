// Describes the packages of a policy for lists and pages: what each installs, for which harnesses and users, whether the
// catalog has another version, and how the reader's draft changes it.
import { isDeepStrictEqual } from "node:util";
import { ownMember } from "../../../platform/json/json-object.ts";
import type { Steps } from "../../../platform/steps.ts";
import {
  contentOf,
  type ManagedPackage,
  type PackageContent,
  type PackageVersion,
  updateOf,
} from "../../catalog/service.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig, PackageAudience, Revision } from "../model.ts";

/** The effect of a draft on a package of the policy. */
type DraftState = "same" | "added" | "changed" | "removed";

export interface PackageView extends PackageContent, Pick<ManagedPackage, "id" | "name" | "version"> {
  /** those of `harnesses` that have it turned off */
  disabledFor: readonly HarnessKey[];
  audience: PackageAudience;
  /** whether the catalog has a package with this id */
  isFromCatalog: boolean;
  /** the catalog's version, if different */
  update: PackageVersion | undefined;
  draft: DraftState;
}

type Policy = Pick<Revision, "document" | "audiences">;

interface ComparedSources {
  /** the reader's draft, if there is one */
  draft: Policy | undefined;
  /** versions of the catalog by id */
  offered: ReadonlyMap<string, PackageVersion>;
}

/** @returns the packages of the policy in its order, followed by those that only the draft has */
export function* packageViews(policy: Policy, { draft, offered }: ComparedSources): Steps<PackageView[]> {
  const inDraft = draft && byId(draft);
  const views: PackageView[] = [];
  for (const managed of policy.document.packages) {
    views.push({ ...viewOf(policy, managed, offered), draft: stateOf(policy, managed, { draft, inDraft }) });
    yield;
  }
  const known = byId(policy);
  for (const managed of draft?.document.packages ?? []) {
    if (draft && !known.has(managed.id)) views.push({ ...viewOf(draft, managed, offered), draft: "added" });
    yield;
  }
  return views;
}

/** @returns the view of the package with that id; undefined if neither the policy nor the draft has it */
export function packageView(
  policy: Policy,
  id: string,
  { draft, offered }: ComparedSources,
): PackageView | undefined {
  const [managed, added] = [byId(policy).get(id), draft && byId(draft).get(id)];
  if (managed) {
    const inDraft = new Map(added && [[id, added]]);
    return { ...viewOf(policy, managed, offered), draft: stateOf(policy, managed, { draft, inDraft }) };
  }
  return draft && added && { ...viewOf(draft, added, offered), draft: "added" };
}

const byId = ({ document }: Policy) => new Map(document.packages.map((managed) => [managed.id, managed]));

interface Drafted {
  draft: Policy | undefined;
  /** packages of the draft by id */
  inDraft: ReadonlyMap<string, ManagedPackage> | undefined;
}

function stateOf(policy: Policy, managed: ManagedPackage, { draft, inDraft }: Drafted): DraftState {
  if (!draft) return "same";
  const next = inDraft?.get(managed.id);
  if (!next) return "removed";
  return isDeepStrictEqual(packageState(draft, next), packageState(policy, managed)) ? "same" : "changed";
}

function viewOf(
  policy: Policy,
  managed: ManagedPackage,
  offered: ReadonlyMap<string, PackageVersion>,
): Omit<PackageView, "draft"> {
  const { id, name, version } = managed;
  const content = contentOf(managed);
  return {
    id,
    version,
    ...content,
    ...(name !== undefined && { name }),
    disabledFor: content.harnesses.filter((key) => isDisabled(policy.document, key, id)),
    audience: audienceOf(policy, id),
    isFromCatalog: offered.has(id),
    update: updateOf(managed, offered),
  };
}

const isDisabled = ({ harnesses }: GovernanceConfig, key: HarnessKey, id: string): boolean =>
  ownMember(harnesses[key]?.package_overrides ?? {}, id)?.enabled === false;

/** @returns the audience of the package */
const audienceOf = ({ audiences }: Pick<Policy, "audiences">, id: string): PackageAudience =>
  ownMember(audiences, id) ?? { scope: "organization", user_ids: [] };

/** @returns the package with its audience and overrides */
const packageState = (policy: Policy, managed: ManagedPackage) => [
  managed,
  audienceOf(policy, managed.id),
  HARNESS_KEYS.map((key) => ownMember(policy.document.harnesses[key]?.package_overrides ?? {}, managed.id)),
];
