// Previews a sign-in with given claims, for an operator who tries the rules before anyone signs in. Unlike the page of a refusal,
// it names the deciding rule. Changes nothing.
import { DomainError } from "../../../platform/errors.ts";
import { readPerson } from "../claims.ts";
import { ssoReasonOf } from "../errors.ts";
import type { Person, SsoReason, VerifiedClaims } from "../model.ts";
import { partiesProblem } from "../provider/tokens/token-checks.ts";
import type { SsoSettings } from "../settings.ts";
import type { Admission, Explanation } from "./admission.ts";
import type { Decision } from "./decide.ts";
import { type Address, addressOf, isFromDomain } from "./rules.ts";

export interface Preview extends Explanation {
  /** undefined if the claims cannot be read */
  person: Person | undefined;
  /** whether a token of this issuer would be refused because another issuer is configured */
  isForeign: boolean;
  /** why a token with these claims would be refused before the rules apply */
  warnings: readonly string[];
  /** one sentence for the operator */
  why: string;
}

interface Sources {
  admission: Pick<Admission, "explain">;
  settings: SsoSettings;
}

/** @returns the outcome, which may be a refusal */
export function previewOf(claims: VerifiedClaims, { admission, settings }: Sources): Preview {
  const iss = claims.iss ?? settings.issuer;
  const isForeign = iss !== settings.issuer;
  const warnings = warningsOf(claims, { settings, isForeign });
  try {
    const person = readPerson({ ...claims, iss }, settings);
    const explanation = admission.explain(person);
    return {
      person,
      isForeign,
      warnings,
      ...explanation,
      why: whyOf(explanation.decision, person, settings),
    };
  } catch (error) {
    if (ssoReasonOf(error) !== "sso.claims_invalid" || !(error instanceof DomainError)) throw error;
    const decision: Decision = { kind: "refuse", error };
    return {
      person: undefined,
      isForeign,
      warnings,
      decision,
      role: undefined,
      keepsRole: false,
      why: String(error.cause),
    };
  }
}

/** Claims without `aud` count as those of a token for this client. */
function warningsOf(
  { aud, azp, auth_time }: VerifiedClaims,
  { settings, isForeign }: { settings: SsoSettings; isForeign: boolean },
): string[] {
  const { issuer, clientId, maxAgeSeconds } = settings;
  const problems = [
    isForeign && `iss is not the configured issuer ${issuer}`,
    partiesProblem({ aud: aud ?? clientId, azp }, clientId),
    maxAgeSeconds !== undefined &&
      typeof auth_time !== "number" &&
      "auth_time is missing or not a number, and identity.oidc.max_age_seconds needs it",
  ];
  return problems.flatMap((text) => (text ? [`${text}; its tokens are refused before the rules apply`] : []));
}

function whyOf(decision: Decision, person: Person, settings: SsoSettings): string {
  switch (decision.kind) {
    case "sign_in":
      return "issuer and subject are linked to this user";
    case "link":
      return whyLinked(decision.linkedBy, settings);
    case "accept_invitation":
      return "an invitation to this verified address is open";
    case "prove_password":
      return "a local user has this verified address, and must prove the password once";
    case "create":
      return "no user has this verified address, and the rules admit the person (jit)";
    case "refuse":
      return whyRefused(decision, person, settings);
  }
}

function whyLinked(
  linkedBy: Extract<Decision, { kind: "link" }>["linkedBy"],
  { externalIdClaim }: SsoSettings,
): string {
  if (linkedBy === "external_id") return `the claim ${externalIdClaim} is the SCIM externalId of this user`;
  return linkedBy === "email"
    ? "SCIM made a user with this verified address"
    : "an operator moved the user with this verified address to this provider";
}

function whyRefused(
  { error, user }: Extract<Decision, { kind: "refuse" }>,
  person: Person,
  settings: SsoSettings,
): string {
  const reasons: Partial<Record<SsoReason, () => string>> = {
    "sso.state": () => `people sign in at ${settings.issuer} only`,
    "sso.not_allowed": () => failedRule(person, settings),
    "sso.acr": () =>
      `the claim acr is ${person.acr ?? "missing"}; required is ${settings.requireAcr.join(" or ")}`,
    "sso.groups_overage": () => `a rule needs the groups, and the list is unknown: ${groupsProblem(person)}`,
    "sso.email_missing": () => "no user is linked to this subject, and there is no usable address",
    "sso.email_unverified": () => `${whyAddress(settings)}, and ${verifiedText(person)}`,
    "sso.not_provisioned": () => whyNotProvisioned(settings),
    "sso.user_inactive": () => `the user ${user?.email ?? ""} is ${user?.status ?? "inactive"}`,
    "sso.user_conflict": () =>
      "the user with this address or external id is linked to another subject, or has no password to prove",
    "sso.user_protected": () =>
      "no sign-in links the protected administrator; an operator does it with identities create",
  };
  const reason = ssoReasonOf(error);
  return (reason && reasons[reason]?.()) ?? error.message;
}

/** Tries the rules in the same order as a sign-in. */
function failedRule(person: Person, settings: SsoSettings): string {
  const { missingClaims } = person;
  if (missingClaims.length > 0)
    return `required claims are missing or have another value: ${missingClaims.join(", ")}`;
  const { allowedDomains, allowedGroups } = settings;
  if (allowedDomains.length > 0 && !isFromDomain(person, settings))
    return `${addressText(addressOf(person, settings))}; allowed domains are ${allowedDomains.join(", ")}`;
  return `the person is in none of the allowed groups: ${allowedGroups.join(", ")}`;
}

const addressText = (address: Address): string =>
  "verified" in address ? `the address is ${address.verified}` : "there is no usable address";

const whyAddress = ({ allowedDomains }: SsoSettings): string =>
  allowedDomains.length > 0
    ? `allowed domains are ${allowedDomains.join(", ")}`
    : "no user is linked to this subject";

const verifiedText = ({ emailVerified }: Person): string =>
  emailVerified === "absent"
    ? "email_verified is missing; identity.oidc.trust_email would accept the address"
    : "email_verified is not true";

const groupsProblem = ({ groups }: Person): string => ("unknown" in groups ? groups.unknown : "none");

const whyNotProvisioned = ({ provisioning }: SsoSettings): string =>
  provisioning === "scim"
    ? "SCIM has not made this user (identity.oidc.provisioning is scim)"
    : "no user has this address, and no invitation to it is open (identity.oidc.provisioning is invited)";
