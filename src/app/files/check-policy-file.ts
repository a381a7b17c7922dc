// The check of `doctor` on the policy in the configuration file: whether it is in force, and if not, why.

import { commandWith } from "../../platform/config/command-hint.ts";
import { countText } from "../../platform/count-text.ts";
import { DomainError } from "../../platform/errors.ts";
import type { Examined } from "../doctor/domain-checks.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import { runTaskHere } from "../documents/document-threads.ts";
import { sectionOf } from "./governance-file.ts";

/**
 * Reports a policy section of the configuration file that is not in force or would prevent a start.
 * @throws DomainError of the store
 */
export async function checkPolicyFile(
  check: Check,
  { domain, config, organizationId }: Pick<Examined, "domain" | "config" | "organizationId">,
): Promise<Finding> {
  const section = sectionOf({ config, file: config.content, runTask: runTaskHere });
  if (!section) return check.ok("the configuration file has no policy");
  let plan: Awaited<ReturnType<typeof domain.governance.deployments.plan>>;
  try {
    plan = await domain.governance.deployments.plan(organizationId, section);
  } catch (error) {
    if (!(error instanceof DomainError) || error.reason !== "governance.invalid") throw error;
    return check.failed(error.message, `to see each line: ${commandWith(config, "config check")}`);
  }
  const [problem] = plan?.problems ?? [];
  if (problem)
    return check.failed(
      `it is not in force, because it is invalid together with the published policy: ${problem.pointer} ${problem.detail}`,
      "change the file or the policy there, then restart the service",
    );
  if (plan?.isChanged)
    return check.warning("it has changes that are not in force", "restart the service, or send it SIGHUP");
  const places = plan?.conflicts.length ?? 0;
  return check.ok(
    places === 0
      ? "it has no unpublished changes or conflicts"
      : `the policy has other values in ${countText(places, "place")}: ${commandWith(config, "policy conflicts list")}`,
  );
}
