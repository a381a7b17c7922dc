// Joins the parts for adding packages: stored archives, unfinished additions, and uploaded bundles.
import {
  Artifacts,
  type Mirroring,
  NO_MIRRORING,
  PackageSources,
  PackageUpdates,
  PendingBundles,
  SourceWatch,
  SourceWebhooks,
} from "../../catalog/service.ts";
import type { HarnessFacts } from "../../harnesses/harness-facts.ts";
import { namedArtifacts } from "../delivery/artifact-uses-store.ts";
import type { Drafts } from "../drafts/drafts.ts";
import type { Revisions } from "../reading/revisions.ts";
import { PackageAdditions } from "./additions.ts";

type SourceParts = ConstructorParameters<typeof PackageSources>[0];
type Shared = Omit<SourceParts, "harnesses" | "spendInspection" | keyof Mirroring> &
  ConstructorParameters<typeof PendingBundles>[0] & { mirroring?: Mirroring | undefined };

interface Areas extends Pick<SourceParts, "spendInspection"> {
  governance: { drafts: Drafts; revisions: Pick<Revisions, "current"> };
  harnesses: Pick<HarnessFacts, "harnesses">;
}

/** @returns the operations on archives, additions and uploaded bundles; called once, in domain.ts */
export function openPackages(
  { mirroring = NO_MIRRORING, ...shared }: Shared,
  { governance, harnesses, spendInspection }: Areas,
) {
  const packageSources = new PackageSources({
    ...shared,
    ...mirroring,
    spendInspection,
    harnesses: () => harnesses.harnesses(),
  });
  const packagesInForce = (id: string) => governance.revisions.current(id)?.document.packages ?? [];
  const { connections } = mirroring;
  const sourceWatch = new SourceWatch({
    ...shared,
    connections,
    mirrors: packageSources.mirrors,
    packagesInForce,
  });
  const additions = {
    ...shared,
    drafts: governance.drafts,
    archives: packageSources.archives,
    harnesses: () => harnesses.harnesses(),
  };
  return {
    packageSources,
    sourceWatch,
    sourceWebhooks: new SourceWebhooks({ ...shared, connections }),
    packageUpdates: new PackageUpdates({ ...shared, packageSources, sourceWatch, packagesInForce }),
    artifacts: new Artifacts({ ...shared, namedElsewhere: namedArtifacts }),
    packageAdditions: new PackageAdditions(additions),
    pendingBundles: new PendingBundles(shared),
  };
}
