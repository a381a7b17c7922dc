// Conditional requests: whether a caller's `If-Match` or `If-None-Match` names the revision of a resource. Which one a
// request has, and what follows from a match, is the caller's.
import { ScimError } from "./errors.ts";

/**
 * @param tags a list of entity tags as a header has them, weak or strong, with or without quotes; `*` names every one
 * @source scim.md SCIM-96 and SCIM-97: the comparison is weak
 */
export const namesVersion = (tags: string, version: number): boolean =>
  tags.split(",").some((tag) => {
    const opaque = tag.trim().replace(/^W\//i, "");
    return opaque === "*" || opaque === `"${version}"` || opaque === `${version}`;
  });

/** No tag, or a blank one, is no condition. @throws ScimError 412 when the caller knows another revision */
export function refuseOtherVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === "" || namesVersion(ifMatch, version)) return;
  throw new ScimError(412, undefined, "the resource has changed since; read it again and repeat the change");
}
