// `sso verify`: checks everything at the identity provider that can be checked before anybody signs in. The exit code is 7 if a
// check failed.
import { DomainError } from "../../../src/platform/errors.ts";
import type { Call } from "../../data-directory/in-domain.ts";
import { findingsText } from "../../output/findings.ts";
import { previewClaims } from "./claims.ts";

/** @throws DomainError `sso.not_configured`; `sso.unverified` after the report; `sso.claims_unreadable` */
export async function verify(call: Call): Promise<void> {
  const { domain, actor, output, text } = call;
  const claims = text("claims");
  if (claims !== undefined) return await previewClaims(call, claims);
  const checks = await domain.sso.verify(actor.organizationId);
  const failed = checks.filter(({ result }) => result === "failed").length;
  output.result({ verified: failed === 0, checks }, findingsText(checks, output.hasColor));
  if (failed === 0) return;
  throw new DomainError("unverified", "sso.unverified", `${failed} of ${checks.length} checks failed`, {
    hint: "the line below each failed check explains how to fix it",
  });
}
