// Checks whether workstations can get the archives that packages name. An artifact must be stored here and match its digest. A
// URL that workstations may fail to reach is only a warning, because organizations may distribute archives with their own
// tools, and the digest is pinned.

import { type Problem, pointerOf } from "../../../platform/errors.ts";
import type { Steps } from "../../../platform/steps.ts";
import { type Catalog, sourceWarnings } from "../../catalog/service.ts";
import type { GovernanceConfig } from "../model.ts";

/** An artifact that a package names. */
export interface ArtifactReference {
  /** pointer to the package or its platform in the document */
  pointer: string;
  id: string;
  /** lower case */
  sha256: string;
}

/** @returns every reference to an artifact in the packages */
export const artifactReferences = ({ packages }: Pick<GovernanceConfig, "packages">): ArtifactReference[] =>
  packages.flatMap((managed, at) => [
    ...referenceAt(["packages", at], managed),
    ...Object.entries(managed.platform_sources ?? {}).flatMap(([platform, source]) =>
      referenceAt(["packages", at, "platform_sources", platform], source),
    ),
  ]);

type Source = Readonly<{ artifact_id?: string; sha256: string }>;

const referenceAt = (
  path: readonly (string | number)[],
  { artifact_id: id, sha256 }: Source,
): ArtifactReference[] =>
  id === undefined ? [] : [{ pointer: pointerOf(path), id, sha256: sha256.toLowerCase() }];

/** @returns a problem for each reference to an unknown artifact or to one with a different digest */
export function* artifactProblems(
  catalog: Pick<Catalog, "findArtifact">,
  organizationId: string,
  references: readonly ArtifactReference[],
): Steps<Problem[]> {
  const problems: Problem[] = [];
  for (const { pointer, id, sha256 } of references) {
    if (catalog.findArtifact(organizationId, sha256)?.id !== id) problems.push(notStored(pointer));
    yield;
  }
  return problems;
}

const ON_WORKSTATION =
  "is a file that must exist on every workstation; to serve it from here, seed the catalog with the archive and use its artifact_id";

/** @returns reasons why workstations may fail to get an archive, with pointers into the document */
export const sourceWarningsOf = ({ packages }: Pick<GovernanceConfig, "packages">): Problem[] =>
  sourceWarnings(packages, { local: ON_WORKSTATION }).map(({ pointer, detail }) => ({
    pointer: `/packages${pointer}`,
    detail,
  }));

const notStored = (pointer: string): Problem => ({
  pointer: `${pointer}/artifact_id`,
  detail: "names no stored artifact with this sha256",
});
