// Assigns models of the gateway to one harness: replaces its list and the model it starts with, and nothing else.
import type { Problem } from "../../../platform/errors.ts";
import { ObjectReader } from "../../../platform/text/object-reader.ts";
import { ProblemList } from "../../../platform/text/problem-list.ts";
import type { HarnessKey } from "../../harnesses/harnesses.ts";
import { defaultModelOf, defaultModelProblem, readGatewayModels } from "../document/model-lists.ts";
import { unstamped } from "../document/stamp.ts";
import { type GovernanceConfig, type HarnessPolicy, NO_POLICY } from "../model.ts";
import { type FinalizeContext, finalizeDocument } from "./finalize.ts";
import type { Publication } from "./publications.ts";
import { accepted, parse, refused, type Validated } from "./validated.ts";

export interface ModelsPublication extends Publication {
  harness: string;
  /** an empty list removes the assignment */
  gatewayModels: readonly string[];
  /** the model that the harness starts with; null for none, undefined to keep the current one */
  defaultModel?: string | null | undefined;
}

type Assignment = Pick<ModelsPublication, "gatewayModels" | "defaultModel">;

/** @returns only problems if the assignment itself is invalid: they are reported before a stale revision */
export function validateModels({
  harness,
  assignment,
  base,
  frame,
}: {
  /** undefined for an unknown revision; then only the assignment is read */
  harness: HarnessKey | undefined;
  assignment: Assignment;
  /** undefined if the author started from a different revision */
  base: string | undefined;
  frame: FinalizeContext;
}): { unread: Problem[]; whole: Validated | undefined } {
  if (harness === undefined) return { unread: problemsOf(assignment, "this harness"), whole: undefined };
  const unread = problemsOf(assignment, harness);
  if (unread.length > 0 || base === undefined) return { unread, whole: undefined };
  return { unread, whole: assigned(harness, assignment, { current: parse(base), frame }) };
}

function problemsOf({ gatewayModels, defaultModel }: Assignment, harness: string): Problem[] {
  const problems = new ProblemList();
  const place = { value: { gateway_models: [...gatewayModels] }, pointer: "" };
  const members = ObjectReader.read(place, problems, ["gateway_models"]);
  if (members) readGatewayModels(members);
  const fault = defaultModelProblem(harness, { model: defaultModel ?? undefined, models: gatewayModels });
  if (fault !== undefined) problems.add("/default_model", fault);
  return problems.list();
}

function assigned(
  harness: HarnessKey,
  assignment: Assignment,
  { current, frame }: { current: GovernanceConfig; frame: FinalizeContext },
): Validated {
  const before = unstamped(current);
  if (!before.allowed_harnesses.includes(harness)) return refused([notAllowed(harness)]);
  const standing = before.harnesses[harness];
  const policy = withAssignment(standing ?? NO_POLICY, assignment);
  const models = policy.gateway_models ?? [];
  const fault =
    models.length === 0 ? undefined : defaultModelProblem(harness, { model: defaultModelOf(policy), models });
  if (fault !== undefined) return refused([{ pointer: "/default_model", detail: fault }]);
  const isEmpty = standing === undefined && models.length === 0;
  const wanted = isEmpty ? before : { ...before, harnesses: { ...before.harnesses, [harness]: policy } };
  const problems: Problem[] = [];
  const document = finalizeDocument(wanted, { ...frame, base: current, problems });
  return problems.length > 0 ? refused(problems) : accepted(document, current);
}

function withAssignment(
  { managed_config, gateway_models: _former, ...rest }: HarnessPolicy,
  { gatewayModels, defaultModel }: Assignment,
): HarnessPolicy {
  const { model, ...others } = managed_config;
  const standing = model === undefined ? {} : { model };
  const chosen = defaultModel === null ? {} : { model: defaultModel };
  return {
    managed_config: { ...(defaultModel === undefined ? standing : chosen), ...others },
    ...rest,
    ...(gatewayModels.length > 0 && { gateway_models: [...gatewayModels] }),
  };
}

const notAllowed = (harness: HarnessKey): Problem => ({
  pointer: "",
  detail: `${harness} is not one of the allowed harnesses; allow it first`,
});
