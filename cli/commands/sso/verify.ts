// `sso verify`: asks the identity provider everything that can be known before anybody signs in. The exit code is 7 if a check
// failed.
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { findingsText } from "../../output/findings.ts";

/** @throws DomainError `sso.not_configured`; `sso.unverified` after the report */
export async function verify({ domain, actor, output }: Call): Promise<void> {
  const checks = await domain.sso.verify(actor.organizationId);
  const failed = checks.filter(({ result }) => result === "failed").length;
  output.result({ verified: failed === 0, checks }, findingsText(checks, output.hasColor));
  if (failed === 0) return;
  throw new DomainError("unverified", "sso.unverified", `${failed} of ${checks.length} checks failed`, {
    hint: "the line below each failed check explains how to fix it",
  });
}
