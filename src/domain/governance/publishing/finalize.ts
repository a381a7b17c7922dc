// Stamps and judges whole documents: what every author's document goes through before it is published. Pure, because a
// thread may do it (tasks.ts).
import type { Problem } from "../../../platform/errors.ts";
import { extendHarnesses, type HarnessExtension } from "../../harnesses/harness-extension.ts";
import { checkDocument } from "../document/check.ts";
import { stamp, unstamped } from "../document/stamp.ts";
import type { GovernanceConfig } from "../model.ts";
import { checkRanges } from "../versions/coverage.ts";
import { isSame } from "./document-paths.ts";

/** What a document is stamped and judged by, beside what it says. */
export interface FinalizeContext {
  /** whether the document gets a gateway block: see `Publisher.hasGateway` */
  gateway: boolean;
  /** SemVer of this program */
  serverVersion: string;
  /** id that a published document is to have */
  revision: string;
  /** of the harness facts in force */
  extension: HarnessExtension;
}

/**
 * Stamps what an administrator wrote, and judges the whole; a range that is in force already is no reason to refuse what
 * does not touch it.
 * @param document without stamps
 * @param base in force; undefined for the first
 * @param problems gets everything that is wrong, with pointers into the document
 */
export function finalizeDocument(
  document: GovernanceConfig,
  { base, problems, ...frame }: FinalizeContext & { base: GovernanceConfig | undefined; problems: Problem[] },
): GovernanceConfig {
  const stamped = finalizeUnchanged(document, { ...frame, problems });
  const harnesses = extendHarnesses(frame.extension);
  const known = [...problems, ...(base ? checkRanges(base, harnesses) : [])];
  const isNew = (problem: Problem) => !known.some((one) => isSame(one, problem));
  problems.push(...checkRanges(stamped, harnesses).filter(isNew));
  return stamped;
}

/**
 * The same, but for ranges that no certified version satisfies: what was published once, or stands in the deployment
 * file, must not be refused because other versions are certified today.
 */
export function finalizeUnchanged(
  document: GovernanceConfig,
  { gateway, serverVersion, revision, extension, problems }: FinalizeContext & { problems: Problem[] },
): GovernanceConfig {
  const stamped = stamp(document, { gateway, serverVersion });
  problems.push(...checkDocument(stamped, { gateway, harnesses: extendHarnesses(extension) }));
  return { ...stamped, revision };
}

/** @returns whether two stamped documents say the same to administrators */
export const isSameDocument = (one: GovernanceConfig, other: GovernanceConfig): boolean =>
  isSame(withoutRevisionFields(one), withoutRevisionFields(other)) && isSame(one.gateway, other.gateway);

/** @returns what administrators wrote, without what each revision has of its own */
export const withoutRevisionFields = (document: GovernanceConfig): GovernanceConfig => ({
  ...unstamped(document),
  revision: "",
});
