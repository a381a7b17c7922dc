// The content of a draft or a revision, as one value: places of both in merges and differences.
import type { GovernanceConfig, PackageAudiences } from "../model.ts";

/** @returns the document with its audiences as the member `package_audiences`, as `diffRevisions` names them */
export const documentWithAudiences = ({
  document,
  audiences,
}: {
  document: GovernanceConfig;
  audiences: PackageAudiences;
}): object => ({ ...document, package_audiences: audiences });
