// Remedies for operators, for recurring failures. Pages for users say only whom to ask.
import type { SsoReason } from "./model.ts";

const VERIFY = "run `quartermaster sso verify`, which names the problem";

const REMEDIES: Partial<Record<SsoReason, string>> = {
  "sso.provider_unreachable": VERIFY,
  "sso.provider_invalid": VERIFY,
  "sso.client_rejected": VERIFY,
  "sso.clock":
    "run `quartermaster sso verify`, check `clock`; if the clocks agree, correct the lifetime of tokens at the provider",
  "sso.callback_error":
    "the log names the error that a browser brought back; anyone can make one up, so first check whether others can sign in",
  "sso.callback_issuer":
    "the log names the issuer that a browser brought back; anyone can make one up, so first check whether others can sign in, and compare it with identity.oidc.issuer",
  "sso.provider_error": "see the log of the service and of the provider",
  "sso.token_invalid": "compare the client at the provider with `quartermaster sso show`",
  "sso.token_issuer":
    "set identity.oidc.issuer to the claim `iss` of the provider's ID tokens, character by character; for Entra ID it is the issuer of your tenant",
  "sso.log_on_unknown":
    "let the provider send the claim `auth_time` in ID tokens (for Entra ID it is an optional claim); until then, make sensitive changes with the commands on the server",
  "sso.claims_invalid": "correct the claim that the log names at the provider",
  "sso.groups_overage":
    "let the provider send only groups that are assigned to this service, name its app roles in identity.oidc.groups_claim, or use SCIM",
};

/** @param reason of the last failure @returns what to do; undefined if nothing is known */
export const operatorRemedy = (reason: string): string | undefined =>
  Object.entries(REMEDIES).find(([known]) => known === reason)?.[1];
