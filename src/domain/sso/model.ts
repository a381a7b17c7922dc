// A person described by the identity provider, and the reasons for refusing a sign-in. claims.ts reads a person from verified
// claims; admission/ decides whether the person may sign in, and as which user.

/** The claims of a verified ID token that the rules need, completed by userinfo. */
export type VerifiedClaims = Readonly<Record<string, unknown>>;

/** Group names, or the reason why the list is not known. An unknown list never creates, promotes or demotes a user. */
export type Groups =
  | { known: readonly string[] }
  | { unknown: "absent" | "overage" | "malformed" | "too_many" };

/** A person at a provider. The identity is issuer and subject; everything else may change. */
export interface Person {
  issuer: string;
  subject: string;
  /** the provider's address; undefined without one */
  email: string | undefined;
  /** whether the provider has verified the address; `absent` if it does not say */
  emailVerified: boolean | "absent";
  /** for display only */
  name: string | undefined;
  groups: Groups;
  /** value of the claim `identity.oidc.external_id_claim` */
  externalId: string | undefined;
  /** names of `identity.oidc.required_claims` whose value differs */
  missingClaims: readonly string[];
  /** `sid` */
  providerSessionId: string | undefined;
  authTimeMs: number | undefined;
  acr: string | undefined;
}

/** The reasons for a failed sign-in at the provider, which metrics, pages and logs name. */
export const SSO_REASONS = [
  "sso.state",
  "sso.cancelled",
  "sso.interaction_required",
  "sso.callback_error",
  "sso.callback_issuer",
  "sso.provider_error",
  "sso.provider_unreachable",
  "sso.provider_invalid",
  "sso.client_rejected",
  "sso.code_rejected",
  "sso.token_invalid",
  "sso.token_issuer",
  "sso.clock",
  "sso.log_on_too_old",
  "sso.log_on_unknown",
  "sso.claims_invalid",
  "sso.email_missing",
  "sso.email_unverified",
  "sso.not_provisioned",
  "sso.not_allowed",
  "sso.groups_overage",
  "sso.acr",
  "sso.user_inactive",
  "sso.signed_out",
  "sso.user_conflict",
  "sso.user_protected",
  "sso.password_needed",
] as const;

export type SsoReason = (typeof SSO_REASONS)[number];

/**
 * Failures that only a browser reported. Operators see them as reports, because anyone can begin a sign-in and forge its end. They
 * never replace a failure that the service saw itself.
 */
const REPORTED_BY_BROWSER: ReadonlySet<string> = new Set<SsoReason>([
  "sso.callback_error",
  "sso.callback_issuer",
]);

/** @param reason of a failed sign-in @returns whether only a browser reported it */
export const isReportedByBrowser = (reason: string): boolean => REPORTED_BY_BROWSER.has(reason);

export const CLAIM_TEXT_LENGTH_MAX = 320;

/** @returns why the text of a claim is not accepted; undefined if it is */
export function claimTextProblem(text: string): string | undefined {
  if (text.length > CLAIM_TEXT_LENGTH_MAX) return "is too long";
  if (/\p{Cc}/u.test(text)) return "has control characters";
  // The database stores half of a surrogate pair as U+FFFD, which would make different subjects equal.
  return text.isWellFormed() ? undefined : "is not valid Unicode";
}
export const GROUPS_MAX = 1000;
