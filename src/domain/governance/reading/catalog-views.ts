// What the catalog offers beside what the policy, and the draft of the reader, already have.
import { type CatalogSummary, updateOf } from "../../catalog/service.ts";
import type { GovernanceConfig } from "../model.ts";

export const OFFERS = ["new", "update", "taken"] as const;
/** The effect of taking an entry of the catalog: it adds the package, replaces it by another version, or changes nothing. */
type Offer = (typeof OFFERS)[number];

export interface CatalogView extends CatalogSummary {
  /** version in the policy in force */
  published: string | undefined;
  /** version in the draft of the reader, or in the policy if there is none */
  drafted: string | undefined;
  offer: Offer;
}

/** @param draft what the reader's draft says; undefined for none */
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
