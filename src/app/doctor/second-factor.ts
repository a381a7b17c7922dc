// The check for administrators without a required second factor, and its texts. `doctor` and `status` use them.

import { countText } from "../../platform/count-text.ts";
import type { Examined } from "./domain-checks.ts";
import type { Check, Finding } from "./finding.ts";

export const FACTOR_REMEDY = "ask them to sign in at /login, where they can set one up";

/** @returns the text of the finding */
export const factorText = (count: number): string =>
  `${countText(count, "administrator")} must have a second factor (identity.second_factor) and ${count === 1 ? "has" : "have"} none yet`;

/** Reports administrators without a second factor, if the settings require one. */
export function checkSecondFactor(
  check: Check,
  { domain, organizationId }: Pick<Examined, "domain" | "organizationId">,
): Finding {
  const count = domain.access.administratorsWithoutFactor(organizationId);
  return count > 0
    ? check.warning(factorText(count), FACTOR_REMEDY)
    : check.ok("every administrator has the second factor that the settings require");
}
