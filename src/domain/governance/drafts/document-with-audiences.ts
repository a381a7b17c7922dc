// The content of a draft or a revision, as one value: places of both in merges.
import { listAudiences } from "../delivery/audiences.ts";
import type { GovernanceConfig, PackageAudiences } from "../model.ts";

/**
 * @returns the document with the audience of each package as the member `package_audiences`; a package for everybody has one too, because
 *   that is what its author chose
 */
export const documentWithAudiences = (policy: {
  document: GovernanceConfig;
  audiences: PackageAudiences;
}): object => ({ ...policy.document, package_audiences: listAudiences(policy) });
