// Decides whether a range of versions refuses versions that another range allows.
import { SemVer } from "semver";
import { neighboringVersions } from "./allowed-versions.ts";
import { parseRequirement } from "./requirement.ts";

/**
 * @param former undefined allows every version, like a missing requirement
 * @returns whether the next range refuses a version that the former one allows. Ranges change at few versions, so their neighbors
 *   show such a version
 */
export function isNarrower(former: string | undefined, next: string | undefined): boolean {
  const [from, to] = [former, next].map((text) => (text === undefined ? undefined : parseRequirement(text)));
  if (!to) return false;
  const near = [from, to].flatMap((range) => range?.endpoints().flatMap(neighboringVersions) ?? []);
  const first = new SemVer("0.0.0");
  return [first, ...near].some(
    (version) => (from?.isSatisfiedBy(version) ?? true) && !to.isSatisfiedBy(version),
  );
}
