// The problems of an installation in one list: findings of doctor, and problems that only the domain knows.
import type { Diagnosis } from "../../domain/system/operations.ts";
import { countText } from "../../platform/count-text.ts";
import { nameList } from "../../platform/text/name-list.ts";

/** A check of doctor, or a part of the domain. */
type ProblemSource = string;

export interface OverviewProblem {
  result: "failed" | "warning";
  /** name of the check, such as `jobs`; `deployment`, `refusals`, `invitations` and `doctor` are not checks */
  source: ProblemSource;
  /** a sentence without a period */
  detail: string;
  /** what to do, without a period; null if unknown */
  remedy: string | null;
}

interface Found {
  /** `running`: the checks take longer than a reader waits; `impossible`: they failed to run */
  diagnosis: Diagnosis | "running" | "impossible";
  /** places where the policy does not follow the deployment file */
  conflicts: readonly string[];
  /** requests of the identity provider that were refused recently */
  refusals: number;
  /** pending invitations that expire soon */
  expiring: number;
}

/** @returns the problems, failures before warnings */
export function problemsOf({ diagnosis, conflicts, refusals, expiring }: Found): OverviewProblem[] {
  const problems = [
    ...findingsOf(diagnosis),
    ...(conflicts.length > 0 ? [conflictProblem(conflicts)] : []),
    ...(refusals > 0 ? [refusalProblem(refusals)] : []),
    ...(expiring > 0 ? [expiryProblem(expiring)] : []),
  ];
  return [
    ...problems.filter(({ result }) => result === "failed"),
    ...problems.filter(({ result }) => result === "warning"),
  ];
}

function findingsOf(diagnosis: Found["diagnosis"]): OverviewProblem[] {
  if (diagnosis === "running") return [];
  if (diagnosis === "impossible") return [UNCHECKED];
  return diagnosis.findings.flatMap(({ check, result, detail, remedy }) =>
    result === "failed" || result === "warning" ? [{ result, source: check, detail, remedy }] : [],
  );
}

const UNCHECKED: OverviewProblem = {
  result: "warning",
  source: "doctor",
  detail: "the checks of this installation failed to run",
  remedy: "run on the server: quartermaster doctor",
};

const conflictProblem = (conflicts: readonly string[]): OverviewProblem => ({
  result: "warning",
  source: "deployment",
  detail: `the policy differs from the configuration file in ${countText(conflicts.length, "place")}: ${nameList(conflicts)}`,
  remedy: "change the file or the policy until both agree",
});

const refusalProblem = (count: number): OverviewProblem => ({
  result: "warning",
  source: "refusals",
  detail: `${countText(count, "request")} of the identity provider refused in the last 24 hours`,
  remedy: "see: quartermaster scim status",
});

const expiryProblem = (count: number): OverviewProblem => ({
  result: "warning",
  source: "invitations",
  detail: `${countText(count, "invitation expires", "invitations expire")} within two days`,
  remedy: "remind the people, or send the invitations again: quartermaster invitations list",
});
