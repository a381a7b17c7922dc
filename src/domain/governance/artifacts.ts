// Whether workstations can get the archives that packages name: our artifacts must be ours and be the promised bytes
// (control-api.md section 8.5), and everything else must be on the network, not on the workstation (section 20 item 13).

import type { Catalog } from "../catalog/service.ts";
import { type Problem, pointerOf } from "../errors.ts";
import type { GovernanceConfig } from "./model.ts";

type Source = Readonly<{ artifact_id?: string; source_ref: string; sha256: string }>;

/** @returns one problem for each reference that leads nowhere, to other bytes, or to a place on the workstation */
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
  return places.flatMap(([pointer, { artifact_id: id, source_ref: source, sha256 }]) => {
    if (id === undefined) return source.startsWith("https://") ? [] : [onWorkstation(pointer)];
    return idOf(sha256.toLowerCase()) === id ? [] : [notStored(pointer)];
  });
}

const notStored = (pointer: string): Problem => ({
  pointer: `${pointer}/artifact_id`,
  detail: "names no stored artifact with this sha256",
});

const onWorkstation = (pointer: string): Problem => ({
  pointer: `${pointer}/source_ref`,
  detail:
    "is a place on the workstation itself; seed the catalog with the archive and name its artifact_id, or name an https:// URL",
});
