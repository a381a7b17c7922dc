// Checks the relations between members of a policy document (handbook: policy-file). draft.ts checks each member by itself.

import { type Problem, pointerOf } from "../../../platform/errors.ts";
import { ProblemList, quoted } from "../../../platform/text/problem-list.ts";
import { HARNESS_KEYS, type Harness } from "../../harnesses/harnesses.ts";
import { DOCUMENT_BYTES_MAX, type GovernanceConfig } from "../model.ts";
import { checkCoverage } from "../versions/coverage.ts";
import { demandsOf } from "./demands.ts";
import { checkDefaultModels } from "./model-lists.ts";

export interface DocumentOptions {
  /** whether the document may have a `gateway` block, because the service runs in gateway mode */
  gateway: boolean;
  /** the current harness facts */
  harnesses: readonly Harness[];
}

/** Reports client requirements that the document does not declare, and features that the installation does not offer. */
const checkDemands = (
  problems: ProblemList,
  document: GovernanceConfig,
  { gateway }: Pick<DocumentOptions, "gateway">,
): void => {
  if (document.gateway && !gateway)
    problems.add(
      "/gateway",
      "belongs to gateway mode, which is off; remove it, or set gateway.type of the service",
    );
  const { isVersionAware, demands } = demandsOf(document);
  const named = document.required_capabilities ?? [];
  for (const { capabilities, cause } of demands) {
    const missing = capabilities.filter((name) => !named.includes(name));
    if (missing.length > 0)
      problems.add("/required_capabilities", `must also name ${missing.join(", ")}, because ${cause}`);
  }
  if (isVersionAware && document.minimum_client_version === undefined)
    problems.add("/minimum_client_version", "is missing, although the document depends on harness versions");
  const sizeBytes = Buffer.byteLength(JSON.stringify(document));
  if (sizeBytes > DOCUMENT_BYTES_MAX)
    problems.add("", `has ${sizeBytes} bytes as JSON; the limit is ${DOCUMENT_BYTES_MAX}`);
};

const checkOverrides = (problems: ProblemList, { harnesses, packages }: GovernanceConfig): void => {
  const ids = new Set(packages.map(({ id }) => id));
  for (const key of HARNESS_KEYS)
    for (const id of Object.keys(harnesses[key]?.package_overrides ?? {}))
      if (!ids.has(id))
        problems.add(
          pointerOf(["harnesses", key, "package_overrides", id]),
          `${quoted(id)} is not a package of this policy; select it first, or remove the override`,
        );
};

/**
 * Checks the relations between members of a stamped document.
 * @returns all problems, with pointers from the root of the document
 * @source handbook: policy-file; ranges are checked for allowed harnesses only
 */
export const checkDocument = (document: GovernanceConfig, options: DocumentOptions): Problem[] => {
  const problems = new ProblemList();
  checkDemands(problems, document, options);
  checkOverrides(problems, document);
  checkDefaultModels(problems, document);
  checkCoverage(problems, document, options.harnesses);
  return problems.list();
};
