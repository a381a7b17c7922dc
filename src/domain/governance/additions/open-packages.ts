// Joins what administrators make packages of: archives from everywhere, packages that are being added, and uploaded bundles.
import { KeptBundles, PackageSources } from "../../catalog/service.ts";
import type { HarnessFacts } from "../../harnesses/harness-facts.ts";
import type { Drafts } from "../drafts/drafts.ts";
import { PackageAdditions } from "./additions.ts";

type Shared = Omit<ConstructorParameters<typeof PackageSources>[0], "harnesses"> &
  ConstructorParameters<typeof KeptBundles>[0];

/** @returns the operations on archives, additions and uploaded bundles; made once, in domain.ts */
export function openPackages(
  shared: Shared,
  { governance, harnesses }: { governance: { drafts: Drafts }; harnesses: Pick<HarnessFacts, "harnesses"> },
) {
  const packageSources = new PackageSources({ ...shared, harnesses: () => harnesses.harnesses() });
  const additions = { ...shared, drafts: governance.drafts, archives: packageSources.archives };
  return {
    packageSources,
    packageAdditions: new PackageAdditions(additions),
    keptBundles: new KeptBundles(shared),
  };
}
