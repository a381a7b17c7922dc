// Reads a policy document from outside and judges it as a whole: each place in draft.ts, what its members must be to each
// other in check.ts. Text is read in text.ts; what becomes of a good document is publishing's.

import type { Problem } from "../../../platform/errors.ts";
import { ProblemList } from "../../../platform/text/problem-list.ts";
import type { Harness } from "../../harnesses/harnesses.ts";
import type { GovernanceConfig } from "../model.ts";
import { checkAllReach } from "../versions/coverage.ts";
import { checkDemands, checkPackagesOf, type DocumentOptions } from "./check.ts";
import { readDraft } from "./draft.ts";

export type { DocumentOptions } from "./check.ts";
export { type Draft, readDraft } from "./draft.ts";

/**
 * Judges what the members of a stamped document must be to each other.
 * @returns all problems, with pointers from the root of the document
 * @source handbook: policy-file; only allowed harnesses are judged for ranges
 */
export const checkDocument = (document: GovernanceConfig, options: DocumentOptions): Problem[] => {
  const problems = new ProblemList();
  checkDemands(problems, document, options);
  checkPackagesOf(problems, document, options);
  return problems.list();
};

/**
 * Judges the ranges of a document against the versions that are certified today; asked of administrators, while at start
 * it is only told, so that an old policy does not keep the service from starting.
 * @source handbook: policy-file, Versions
 */
export const checkRanges = (document: GovernanceConfig, harnesses: readonly Harness[]): Problem[] => {
  const problems = new ProblemList();
  checkAllReach(problems, document, harnesses);
  return problems.list();
};

/** @returns whether one of two places holds the other */
const isRelated = (one: string, other: string): boolean =>
  one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

/**
 * Reads and judges a whole document that says everything itself: a deployment file's, or a stamped one.
 * @returns the document only when there are no problems; its `revision` is the input's
 */
export const readDocument = (
  input: unknown,
  options: DocumentOptions,
): { document: GovernanceConfig | undefined; problems: Problem[] } => {
  const { document, problems } = readDraft(input);
  const isWrong = (root: string) => problems.some(({ pointer }) => isRelated(pointer, root));
  const found = new ProblemList();
  checkDemands(found, document, options);
  // What could not be read is missing in the draft, and would be missed a second time here.
  if (!["/packages", "/harnesses", "/allowed_harnesses"].some(isWrong)) {
    checkPackagesOf(found, document, options);
    checkAllReach(found, document, options.harnesses);
  }
  const further = found.list().filter(({ pointer }) => pointer === "" || !isWrong(pointer));
  const all = withoutRepeats([...problems, ...further]);
  return { document: all.length === 0 ? document : undefined, problems: all };
};

const withoutRepeats = (problems: readonly Problem[]): Problem[] => [
  ...new Map(problems.map((problem) => [JSON.stringify(problem), problem])).values(),
];
