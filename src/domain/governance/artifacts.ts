// Whether workstations can get the archives that packages name: our artifacts must be ours and be the promised bytes
// (control-api.md section 8.5). A place that workstations may not reach is a warning: organizations place archives with
// tools of their own, and the digest is pinned.

import { type Catalog, sourceWarnings } from "../catalog/service.ts";
import { type Problem, pointerOf } from "../errors.ts";
import type { GovernanceConfig } from "./model.ts";

type Source = Readonly<{ artifact_id?: string; sha256: string }>;

/** @returns one problem for each artifact id that names nothing, or other bytes */
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
  return places.flatMap(([pointer, { artifact_id: id, sha256 }]) =>
    id === undefined || idOf(sha256.toLowerCase()) === id ? [] : [notStored(pointer)],
  );
}

const ON_WORKSTATION =
  "is a file that must lie on every workstation; to let workstations fetch it from here, seed the catalog with the archive and name its artifact_id";

/** @returns what may keep workstations from an archive, with pointers into the document */
export const sourceWarningsOf = ({ packages }: Pick<GovernanceConfig, "packages">): Problem[] =>
  sourceWarnings(packages, { local: ON_WORKSTATION }).map(({ pointer, detail }) => ({
    pointer: `/packages${pointer}`,
    detail,
  }));

const notStored = (pointer: string): Problem => ({
  pointer: `${pointer}/artifact_id`,
  detail: "names no stored artifact with this sha256",
});
