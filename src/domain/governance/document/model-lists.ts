// The models of the gateway that a policy assigns to harnesses. Workstations get the lists only if every allowed harness has
// one: an incomplete assignment is stored without locking out clients that do not know lists.
import { jsonTypeOf, type ObjectReader, type Place } from "../../../platform/text/object-reader.ts";
import { type ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import { modelIdProblem } from "../../shared/model-ids.ts";
import { GATEWAY_MODELS_MAX, type GovernanceConfig, type HarnessPolicy } from "../model.ts";

/** @returns whether at least one harness is allowed and every allowed one has a model in its list */
const isEveryHarnessAssigned = ({
  allowed_harnesses,
  harnesses,
}: Pick<GovernanceConfig, "allowed_harnesses" | "harnesses">): boolean =>
  allowed_harnesses.length > 0 && allowed_harnesses.every((key) => modelsOf(harnesses[key]).length > 0);

/** @returns whether workstations get the lists and must therefore know them */
export const deliversModels = (document: GovernanceConfig): boolean =>
  document.gateway !== undefined && isEveryHarnessAssigned(document);

/** @returns the models assigned to a harness; none without a policy */
export const modelsOf = (policy: HarnessPolicy | undefined): readonly string[] =>
  policy?.gateway_models ?? [];

/** @returns the model that the harness starts with; undefined if the policy names none */
export const defaultModelOf = (policy: HarnessPolicy | undefined): string | undefined => {
  const model = policy?.managed_config.model;
  return typeof model === "string" ? model : undefined;
};

/** @returns the document without lists, unless workstations get them; the same object if there is nothing to remove */
export function withoutUndeliveredModels(document: GovernanceConfig): GovernanceConfig {
  const policies = Object.entries(document.harnesses);
  const isListed = policies.some(([, policy]) => policy.gateway_models !== undefined);
  if (!isListed || deliversModels(document)) return document;
  const harnesses = policies.map(([key, { gateway_models: _undelivered, ...policy }]) => [key, policy]);
  return { ...document, harnesses: Object.fromEntries(harnesses) };
}

/** Reads `gateway_models` of a harness, and reports every invalid id. @returns the valid ids; an empty list assigns nothing */
export const readGatewayModels = (members: ObjectReader): Pick<HarnessPolicy, "gateway_models"> => {
  const models = readModelIds(members.items("gateway_models", GATEWAY_MODELS_MAX), members.problems);
  return models.length === 0 ? {} : { gateway_models: models };
};

/** @returns the valid ids, in their order */
function readModelIds(places: readonly Place[], problems: ProblemList): string[] {
  const models = new Set<string>();
  for (const { value, pointer } of places) {
    if (typeof value !== "string") problems.add(pointer, `must be a text, not ${jsonTypeOf(value)}`);
    else if (models.has(value)) problems.add(pointer, `${quoted(value)} is listed twice`);
    else {
      const problem = modelIdProblem(value);
      if (problem !== undefined) problems.add(pointer, problem);
      else models.add(value);
    }
  }
  return [...models];
}

/** Reports a model of an allowed harness that is not in its delivered list, because clients refuse such a policy. */
export function checkDefaultModels(problems: ProblemList, document: GovernanceConfig): void {
  if (!deliversModels(document)) return;
  for (const key of document.allowed_harnesses) {
    const problem = defaultModelProblem(key, {
      model: defaultModelOf(document.harnesses[key]),
      models: modelsOf(document.harnesses[key]),
    });
    if (problem !== undefined) problems.add(`/harnesses/${key}/managed_config/model`, problem);
  }
}

/** @returns why the harness cannot start with the model; undefined if it can, or if there is no model */
export const defaultModelProblem = (
  harness: string,
  { model, models }: { model: string | undefined; models: readonly string[] },
): string | undefined =>
  model === undefined || models.includes(model)
    ? undefined
    : `${quoted(model)} is not one of the models assigned to ${harness}; add it to its gateway_models, or choose one of them`;
