// Decides whether a policy allows an installed version of a harness (handbook: policy-file, Versions).

import { quoted } from "../../../platform/text/problem-list.ts";
import type { Harness, HarnessKey } from "../../harnesses/harnesses.ts";
import { parseVersion } from "../../shared/exact-version.ts";
import type { HarnessPolicy } from "../model.ts";
import { generationOf, isBelowCeiling, versionRuleOf } from "./generations.ts";

/**
 * @param harnesses the current facts
 * @param policy policy for the harness; absent if the document has none
 * @param version as reported, full SemVer
 * @returns why the version is not allowed, as a clause without the harness's name; undefined if it is allowed
 */
export const checkVersion = (
  harnesses: readonly Harness[],
  policy: HarnessPolicy | undefined,
  harness: HarnessKey,
  version: string,
): string | undefined => {
  const parsed = parseVersion(version);
  if (!parsed) return `${quoted(version)} is not a full version such as 2.0.12`;
  const rule = versionRuleOf(policy);
  if (rule.requirement && !rule.requirement.isSatisfiedBy(parsed))
    return `version ${parsed.raw} does not satisfy the required ${policy?.version_requirement}`;
  const generation = generationOf(harnesses, harness, parsed);
  if (!generation) return `version ${parsed.raw} is older than any that is known`;
  if (isBelowCeiling(generation, rule, parsed)) return undefined;
  return `version ${parsed.raw} is not certified; certified are versions below ${generation.facts.verifiedBefore}`;
};
