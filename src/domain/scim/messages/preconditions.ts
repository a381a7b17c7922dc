// Conditional requests: whether the caller's entity tags name the present version of a resource. The comparison is weak
// and quotes may be missing, as providers send them (SCIM-96, SCIM-97).
import { ScimError } from "../errors.ts";

/** @param tags value of `If-Match` or `If-None-Match`: entity tags joined with commas, or `*` for whatever there is */
export const namesVersion = (tags: string, version: number): boolean =>
  tags.split(",").some((candidate) => {
    const tag = candidate.trim();
    return tag === "*" || tag.replace(/^W\//, "").replace(/^"(.*)"$/, "$1") === String(version);
  });

/**
 * Call it inside the transaction that changes the resource. A header that is missing or blank asks for nothing.
 * @throws ScimError 412
 */
export function requireVersion(ifMatch: string | undefined, version: number): void {
  if (ifMatch === undefined || ifMatch.trim() === "" || namesVersion(ifMatch, version)) return;
  throw new ScimError(412, undefined, "If-Match names another version; read the resource again and repeat");
}
