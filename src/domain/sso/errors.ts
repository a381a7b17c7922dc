// Refusals of sign-in at an identity provider. Each explains what happened and who can help. None reveals a claim, a group, or
// whether an account exists.
import { DomainError, type ErrorDetails, type ErrorKind } from "../../platform/errors.ts";
import { SSO_REASONS, type SsoReason } from "./model.ts";

const refusal = (kind: ErrorKind, reason: SsoReason, message: string, details?: ErrorDetails) =>
  new DomainError(kind, reason, message, details);

const ASK = { hint: "ask an administrator" };

export const claimsInvalid = (cause: string) =>
  refusal(
    "upstream",
    "sso.claims_invalid",
    "the identity provider described you in a form that is not accepted",
    {
      ...ASK,
      cause,
    },
  );

/** The browser did not begin this sign-in, took too long, or has already used it. */
export const stateUnknown = () =>
  refusal(
    "invalid",
    "sso.state",
    "this sign-in was not begun in this browser, took too long, or was used before",
    {
      hint: "sign in again; the browser must accept cookies",
    },
  );

export const emailMissing = () =>
  refusal("forbidden", "sso.email_missing", "the identity provider did not pass on your address", ASK);

export const emailUnverified = () =>
  refusal("forbidden", "sso.email_unverified", "the identity provider has not verified your address", ASK);

export const notProvisioned = () =>
  refusal("forbidden", "sso.not_provisioned", "there is no account here for you yet", ASK);

export const notAllowed = () =>
  refusal("forbidden", "sso.not_allowed", "your account at the identity provider may not sign in here", ASK);

export const groupsUnknown = (why: string) =>
  refusal(
    "forbidden",
    "sso.groups_overage",
    "the identity provider did not pass on your groups, which decide whether you may sign in",
    { ...ASK, cause: `the list of groups is unknown: ${why}` },
  );

export const acrTooWeak = () =>
  refusal(
    "forbidden",
    "sso.acr",
    "sign in at the identity provider again, in the stronger way that your organization requires",
    ASK,
  );

export const userInactive = () =>
  refusal("forbidden", "sso.user_inactive", "your account here is suspended or removed", ASK);

/** The provider announced a logout before the browser returned to the callback. */
export const signedOut = () =>
  refusal(
    "forbidden",
    "sso.signed_out",
    "you were signed out at the identity provider before this sign-in ended",
    { hint: "sign in again" },
  );

/** Another subject of the issuer has the account, or the account belongs to another person. */
export const userConflict = () =>
  refusal("conflict", "sso.user_conflict", "the account with your address is in use by another sign-in", ASK);

export const userProtected = () =>
  refusal(
    "conflict",
    "sso.user_protected",
    "the account with your address signs in with its own password only",
    { hint: "sign in with the recovery password" },
  );

/** @returns the reason if it belongs to a sign-in at the provider */
export const ssoReasonOf = (error: unknown): SsoReason | undefined =>
  error instanceof DomainError ? SSO_REASONS.find((known) => known === error.reason) : undefined;
