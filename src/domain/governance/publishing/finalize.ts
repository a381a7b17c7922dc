// Stamps and checks complete documents of any author before they are published. Pure functions, because a thread may run
// them (tasks.ts).
import { isDeepStrictEqual } from "node:util";
import type { Problem } from "../../../platform/errors.ts";
import { extendHarnesses, type HarnessExtension } from "../../harnesses/harness-extension.ts";
import { checkDocument } from "../document/check.ts";
import { readDraft } from "../document/draft.ts";
import { stamp, unstamped } from "../document/stamp.ts";
import type { GovernanceConfig } from "../model.ts";
import { checkRanges } from "../versions/coverage.ts";

/** The inputs of stamping and checking, besides the document. */
export interface FinalizeContext {
  /** whether the document gets a gateway block: see `Publisher.hasGateway` */
  gateway: boolean;
  /** SemVer of this program */
  serverVersion: string;
  /** id of the new revision */
  revision: string;
  /** the current harness facts */
  extension: HarnessExtension;
  /** set for an edit of a draft: the review checks rules between parts, which may need several edits */
  isEdit?: true;
}

/**
 * Stamps and checks an administrator's document. An unchanged range of the current revision is never refused.
 * @param document without stamps
 * @param base the current document; undefined for the first
 * @param problems receives every problem, with pointers into the document
 */
export function finalizeDocument(
  document: GovernanceConfig,
  { base, problems, ...frame }: FinalizeContext & { base: GovernanceConfig | undefined; problems: Problem[] },
): GovernanceConfig {
  const found: Problem[] = [];
  const stamped = finalizeUnchanged(document, { ...frame, problems: found });
  const harnesses = extendHarnesses(frame.extension);
  const known = [...problems, ...found, ...(base ? checkRanges(base, harnesses) : [])];
  const isNew = (problem: Problem) => !known.some((one) => isDeepStrictEqual(one, problem));
  problems.push(...(base && frame.isEdit ? addedProblems(found, { base, changed: stamped }, frame) : found));
  problems.push(...checkRanges(stamped, harnesses).filter(isNew));
  return stamped;
}

interface Edited {
  base: GovernanceConfig;
  /** stamped */
  changed: GovernanceConfig;
}

/** @returns the problems that an edit adds; a document that is too large may only become smaller */
function addedProblems(
  found: readonly Problem[],
  { base, changed }: Edited,
  frame: FinalizeContext,
): readonly Problem[] {
  if (found.length === 0) return found;
  const former: Problem[] = [];
  const before = finalizeUnchanged(unstamped(base), { ...frame, problems: former });
  const known = Map.groupBy(former, withoutNumbers);
  const isGrowing = isLarger(changed, before);
  return found.filter((problem) =>
    isOfSize(problem) ? isGrowing : known.get(withoutNumbers(problem))?.pop() === undefined,
  );
}

/** @returns whether the first document has more bytes than the second */
export const isLarger = (one: GovernanceConfig, other: GovernanceConfig): boolean =>
  Buffer.byteLength(JSON.stringify(one)) > Buffer.byteLength(JSON.stringify(other));

/**
 * Several edits of a draft may be needed to solve a problem, so only the size is checked immediately.
 * @returns the problems that prevent a change
 */
export const preventingProblems = (problems: Problem[], { isEdit }: FinalizeContext): Problem[] =>
  isEdit ? problems.filter(isOfSize) : problems;

const isOfSize = ({ pointer }: Problem): boolean => pointer === "";

/** Ignores numbers, because an edit may change those in a problem without solving it: positions, versions and sizes. */
const withoutNumbers = ({ pointer, detail }: Problem): string =>
  `${pointer} ${detail}`.replace(/(?<=[\s/=<>])\d[\w.+-]*/g, "*");

/**
 * The same, but allows ranges without a certified version: a published document, or the deployment file, must not be refused
 * because other versions are certified today.
 */
export function finalizeUnchanged(
  document: GovernanceConfig,
  { gateway, serverVersion, revision, extension, problems }: FinalizeContext & { problems: Problem[] },
): GovernanceConfig {
  const stamped = stamp(document, { gateway, serverVersion });
  problems.push(...checkDocument(stamped, { gateway, harnesses: extendHarnesses(extension) }));
  return { ...stamped, revision };
}

/**
 * Checks a document that combines parts of valid ones, because the whole may be invalid although each part is valid.
 * @param document without stamps
 * @param base an earlier document, whose problems are not reported
 * @returns problems with the members, with pointers into the document
 */
export function joinedProblems(document: GovernanceConfig, base: GovernanceConfig): Problem[] {
  const { problems } = readDraft(document);
  const known = problems.length > 0 ? readDraft(unstamped(base)).problems : [];
  return problems.filter((problem) => !known.some((one) => isDeepStrictEqual(one, problem)));
}

/** @returns whether two stamped documents have the same administrators' members */
export const isSameDocument = (one: GovernanceConfig, other: GovernanceConfig): boolean =>
  isDeepStrictEqual(withoutRevisionFields(one), withoutRevisionFields(other)) &&
  isDeepStrictEqual(one.gateway, other.gateway);

/** @returns the administrators' members, without those that stamping adds */
export const withoutRevisionFields = (document: GovernanceConfig): GovernanceConfig => ({
  ...unstamped(document),
  revision: "",
});
