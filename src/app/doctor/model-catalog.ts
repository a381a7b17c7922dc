// Checks the catalog of the gateway's models: whether it is current, and whether the gateway still offers the assigned models as
// they were acknowledged.

import type { CatalogFigures } from "../../domain/inference/models/catalog.ts";
import { nameList } from "../../platform/text/name-list.ts";
import type { Examined } from "./domain-checks.ts";
import type { Check, Finding } from "./finding.ts";

const LIST = "quartermaster gateway models list";

/** @returns a finding for each problem with the catalog or with assigned models */
export function checkModelCatalog(check: Check, { domain, config, organizationId }: Examined): Finding[] {
  const figures = domain.modelCatalog.figures(organizationId);
  if (!figures) return [check.ok("gateway mode is off in these settings")];
  const found = [
    ...refreshFindings(check, figures),
    ...assignmentFindings(check, figures),
    ...enforcementFindings(check, figures, config.get("gateway.proxy.model_policy")),
  ];
  return found.length > 0 ? found : [check.ok(modelsText(figures))];
}

/** @returns `12 available, 1 removed`; `none known` without models */
export function modelsText({ states }: Pick<CatalogFigures, "states">): string {
  const parts = Object.entries(states).filter(([, total]) => total > 0);
  return parts.length === 0 ? "none known" : parts.map(([state, total]) => `${total} ${state}`).join(", ");
}

function refreshFindings(check: Check, { problem, isStale }: CatalogFigures): Finding[] {
  if (problem !== null)
    return [check.warning(`the last refresh failed: ${problem}`, "quartermaster gateway models refresh")];
  return isStale
    ? [check.warning("the models have not been refreshed for two intervals", "check that the service runs")]
    : [];
}

function assignmentFindings(check: Check, { assignedProblems, assignments }: CatalogFigures): Finding[] {
  const names = assignedProblems.map(({ id, state }) => `${id} (${state})`);
  return [
    ...(names.length > 0
      ? [check.warning(`assigned, but changed or not offered: ${nameList(names)}`, LIST)]
      : []),
    ...(assignments === "incomplete"
      ? [
          check.warning(
            "an allowed agent has no models, so workstations do not get the lists",
            "quartermaster gateway models assign HARNESS MODEL...",
          ),
        ]
      : []),
  ];
}

function enforcementFindings(
  check: Check,
  { assignments }: CatalogFigures,
  policy: "off" | "log" | "refuse",
): Finding[] {
  if (policy !== "refuse" || assignments !== "none") return [];
  return [
    check.warning(
      "gateway.proxy.model_policy is refuse and no model is assigned, so every request is refused",
      "assign models, or set gateway.proxy.model_policy to log",
    ),
  ];
}
