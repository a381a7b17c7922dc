// Compares catalog entries with the packages of the policy and of the reader's draft.
import { type CatalogSummary, updateOf } from "../../catalog/service.ts";
import type { GovernanceConfig } from "../model.ts";

export const OFFERS = ["new", "update", "taken"] as const;
/** The effect of taking a catalog entry: adds the package, replaces it with another version, or changes nothing. */
type Offer = (typeof OFFERS)[number];

export interface CatalogView extends CatalogSummary {
  /** version in the current policy */
  published: string | undefined;
  /** version in the reader's draft, or in the policy if there is no draft */
  drafted: string | undefined;
  offer: Offer;
}

/** @param draft packages of the reader's draft; undefined for none */
export function catalogViews(
  entries: readonly CatalogSummary[],
  { policy, draft = policy }: Readonly<Record<"policy" | "draft", GovernanceConfig | undefined>>,
): CatalogView[] {
  const [published, drafted] = [versionsIn(policy), versionsIn(draft)];
  const offered = new Map(entries.map((entry) => [entry.id, entry]));
  return entries.map((entry) => {
    const own = drafted.get(entry.id);
    const offer = !own ? "new" : updateOf(own, offered) ? "update" : "taken";
    return { ...entry, published: published.get(entry.id)?.version, drafted: own?.version, offer };
  });
}

const versionsIn = (document: GovernanceConfig | undefined) =>
  new Map(document?.packages.map((managed) => [managed.id, managed]));
