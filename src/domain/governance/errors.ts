// Errors of publishing.
import { DomainError, type Problem } from "../../platform/errors.ts";
import { excerpt } from "../../platform/text/problem-list.ts";

/** Maximum number of places that one error or audit entry names. */
export const PATHS_NAMED_MAX = 100;

/** @throws DomainError `governance.invalid` with every problem, unless there is none */
export function refuseProblems(problems: readonly Problem[], { hint }: { hint?: string } = {}): void {
  if (problems.length === 0) return;
  const [first, ...others] = problems;
  const place = first?.pointer ? `${first.pointer} ` : "";
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  throw new DomainError(
    "invalid",
    "governance.invalid",
    `the policy is refused: ${place}${first?.detail}${more}`,
    { problems, ...(hint !== undefined && { hint }) },
  );
}

/** @returns the error if nothing was published yet */
export const noPolicy = () =>
  new DomainError("not_found", "governance.no_policy", "no policy is published yet", {
    hint: "the service publishes one when it starts",
  });

/** @returns the error for an author who started from a different revision (API-2) */
export const staleRevision = (current: string, places: readonly string[]) =>
  new DomainError(
    "conflict",
    "governance.stale_revision",
    `the policy has changed; revision ${current} is current`,
    {
      hint: "read it and make the change there, or merge it into your draft; then publish again",
      problems: places
        .slice(0, PATHS_NAMED_MAX)
        .map((pointer) => ({ pointer, detail: "has changed since the base revision" })),
    },
  );

export const revisionNotFound = (id: string) =>
  new DomainError("not_found", "governance.not_found", `no policy revision ${excerpt(id)}`, {
    hint: "see `quartermaster policy history`",
  });

export const noFormer = () =>
  new DomainError("not_found", "governance.no_former", "there is no revision before this one");
