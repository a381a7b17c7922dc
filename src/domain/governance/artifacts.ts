// Whether the archives that packages name by artifact are ours and are the promised bytes (control-api.md section 8.5).

import type { Catalog } from "../catalog/service.ts";
import { type Problem, pointerOf } from "../errors.ts";
import type { GovernanceConfig } from "./model.ts";

type Source = Readonly<{ artifact_id?: string; sha256: string }>;

/** @returns one problem for each reference that leads nowhere, or to other bytes */
export function artifactProblems(
  catalog: Pick<Catalog, "findArtifact">,
  organizationId: string,
  { packages }: Pick<GovernanceConfig, "packages">,
): Problem[] {
  const idOf = (sha256: string) => catalog.findArtifact(organizationId, sha256)?.id;
  const places = packages.flatMap((managed, at): [string, Source][] => [
    [pointerOf(["packages", at]), managed],
    ...Object.entries(managed.platform_sources ?? {}).map(([platform, source]): [string, Source] => [
      pointerOf(["packages", at, "platform_sources", platform]),
      source,
    ]),
  ]);
  return places
    .filter(([, { artifact_id: id, sha256 }]) => id !== undefined && idOf(sha256.toLowerCase()) !== id)
    .map(([pointer]) => ({
      pointer: `${pointer}/artifact_id`,
      detail: "names no stored artifact with this sha256",
    }));
}
