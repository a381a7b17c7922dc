// The effect of publishing a draft: the places that change, the problems, and why a comment is required. A pure function of plain
// values, because a thread may run it (tasks.ts).
import type { Problem } from "../../../platform/errors.ts";
import { HARNESS_KEYS, type HarnessKey } from "../../harnesses/harnesses.ts";
import { sourceWarningsOf } from "../delivery/artifacts.ts";
import { unstamped } from "../document/stamp.ts";
import type { GovernanceConfig } from "../model.ts";
import { diffRevisions } from "../publishing/diff.ts";
import { type FinalizeContext, finalizeDocument, joinedProblems } from "../publishing/finalize.ts";
import { accepted, refused, type Validated } from "../publishing/validated.ts";
import { type ChangeList, changeListOf } from "../shown/change-list.ts";
import { isNarrower } from "../versions/narrowing.ts";
import type { Policy } from "./draft-merge.ts";
import { type NewSecrets, newSecretsOf } from "./new-secrets.ts";

export interface ReviewRequest {
  /** a `Policy` as JSON */
  draft: string;
  /** the base revision, as JSON */
  base: string;
  frame: FinalizeContext;
  /** see changeListOf */
  isHidden: boolean;
}

export interface Reviewed {
  validated: Validated;
  /** compared with the base revision */
  changes: ChangeList;
  newSecrets: NewSecrets;
  /** reasons why workstations may fail to get an archive */
  sourceWarnings: Problem[];
  /** why a comment is required; empty if it is not */
  commentReasons: string[];
}

/** Checks the document of a draft like a publication, and compares it with its base. */
export function reviewDraft({ draft, base, frame, isHidden }: ReviewRequest): Reviewed {
  const mine: Policy = JSON.parse(draft);
  const former: Policy = JSON.parse(base);
  const changes = diffRevisions(former, mine).filter(({ path }) => path !== "/revision");
  const documents = [former.document, mine.document];
  const validated = validatedOf(mine, former, frame);
  return {
    validated,
    changes: changeListOf(changes, { isHidden, documents }),
    newSecrets: newSecretsOf(former.document, mine.document),
    sourceWarnings: sourceWarningsOf(mine.document),
    commentReasons: commentReasonsOf(former, mine),
  };
}

function validatedOf({ document }: Policy, former: Policy, frame: FinalizeContext): Validated {
  const plain = unstamped(document);
  const problems = joinedProblems(plain, former.document);
  const finished = finalizeDocument(plain, { ...frame, base: former.document, problems });
  return problems.length > 0 ? refused(problems) : accepted(finished, former.document);
}

function commentReasonsOf({ document: before }: Policy, { document: after }: Policy): string[] {
  const kept = new Set(after.packages.map(({ id }) => id));
  const removed = before.packages.filter(({ id }) => !kept.has(id));
  const isShut = before.allowed_harnesses.length > 0 && after.allowed_harnesses.length === 0;
  const range = ({ harnesses }: GovernanceConfig, key: HarnessKey) => harnesses[key]?.version_requirement;
  const narrowed = HARNESS_KEYS.filter((key) => isNarrower(range(before, key), range(after, key)));
  return [
    ...removed.map(({ id }) => `package ${id} is removed`),
    ...narrowed.map((key) => `the range of ${key} is narrowed`),
    ...(isShut ? ["no harness is allowed"] : []),
  ];
}
