// Settings of users and how they sign in: `scim.*` and `identity.*`.
import { issuerUrl } from "../addresses.ts";
import { boolean, choice, integer, list, map, path, pattern, text } from "../types.ts";
import { optional, type Settings, sealed, withDefault } from "./setting.ts";

const SCIM_PAGE = { min: 100, max: 1000 };
const SCIM_SCAN_ROWS = { min: 1000, max: 10_000_000 };
export const SCIM_REQUESTS = { min: 1, max: 100_000 };
/** tolerated clock difference; the operator should learn of a larger one */
const CLOCK_SKEW_SECONDS = { min: 0, max: 300 };
const MAX_AGE_SECONDS = { min: 0, max: 31_536_000 };
/** at most a year; 0 turns confirmation off */
const RECONFIRM_HOURS = { min: 0, max: 8784 };
/** OpenID Connect Core section 9 */
const CLIENT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "private_key_jwt"] as const;

const providerId = pattern(/^[a-z0-9-]{1,32}$/, {
  placeholder: "id",
  form: "1 to 32 lower-case letters, digits and dashes",
});
const claimPath = pattern(/^[!-~]{1,200}$/, {
  placeholder: "claim",
  form: "the name of a claim; dots lead into nested claims, such as realm_access.roles",
});
const mailDomain = pattern(/^[^\s@*,.\p{Cc}]+(?:\.[^\s@*,.\p{Cc}]+)+$/u, {
  placeholder: "domain",
  form: "a domain such as example.com, without @ and *",
});
const scopeName = pattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, {
  placeholder: "scope",
  form: "the name of a scope (RFC 6749 section 3.3)",
});

export const IDENTITY_SETTINGS = {
  "scim.token": sealed("scim-token", "bearer token of the identity provider that provisions users"),
  "scim.group_role_mappings": withDefault(
    map(choice("admin", "member")),
    "{}",
    "role of the members of each provisioned group, by the name of the group",
  ),
  "scim.link_existing": withDefault(
    choice("by_address", "never"),
    "by_address",
    "whether a provisioned user is linked to the local account with the same e-mail address",
  ),
  "scim.page_max": withDefault(
    integer(SCIM_PAGE),
    "200",
    "maximum number of users or groups on one page of a SCIM list",
  ),
  "scim.scan_rows_max": withDefault(
    integer(SCIM_SCAN_ROWS),
    "200000",
    "maximum number of rows that a SCIM filter without an index may scan",
  ),
  "scim.requests_per_second": withDefault(
    integer(SCIM_REQUESTS),
    "100",
    "sustained SCIM requests per second for one token",
  ),
  "scim.requests_burst": withDefault(
    integer(SCIM_REQUESTS),
    "500",
    "SCIM requests that one token may send in a burst after a pause",
  ),
  "identity.mode": withDefault(choice("password", "oidc"), "password", "how people sign in"),
  "identity.oidc.issuer": optional(
    issuerUrl,
    "issuer of the identity provider, exactly as in its discovery document; if unset, people sign in with passwords only",
  ),
  "identity.oidc.client_id": optional(text, "client id that the identity provider gave to this service"),
  "identity.oidc.client_secret": sealed("oidc-client-secret", "client secret from the identity provider"),
  "identity.oidc.client_key": sealed(
    "oidc-client-key",
    "PEM private key (PKCS #8) with which this service identifies itself to the provider",
  ),
  "identity.oidc.client_auth": withDefault(
    { ...choice(...CLIENT_AUTH_METHODS), placeholder: "method", choices: CLIENT_AUTH_METHODS },
    "client_secret_basic",
    "how this service identifies itself to the identity provider",
  ),
  "identity.oidc.provider_id": withDefault(
    providerId,
    "oidc",
    "last part of the redirect URI that is registered at the identity provider",
  ),
  "identity.oidc.provider_name": withDefault(
    text,
    "company sign-in",
    "name of the identity provider on the sign-in page",
  ),
  "identity.oidc.extra_scopes": withDefault(
    list(scopeName),
    "",
    "scopes to request in addition to openid, profile and email",
  ),
  "identity.oidc.provisioning": optional(
    choice("scim", "invited", "jit"),
    "who may sign in: users created by SCIM (scim), existing users and invited people (invited), or anyone the rules admit (jit); by default scim in mode oidc, otherwise invited",
  ),
  "identity.oidc.trust_email": withDefault(
    boolean,
    "no",
    "whether an address without email_verified counts as verified; only for a provider of a single tenant",
  ),
  "identity.oidc.external_id_claim": optional(
    claimPath,
    "claim that equals the SCIM externalId of a user, such as oid for Entra ID",
  ),
  "identity.oidc.groups_claim": withDefault(claimPath, "groups", "claim that lists the groups of a person"),
  "identity.oidc.group_role_mappings": withDefault(
    map(choice("admin", "member")),
    "{}",
    "role of the members of each group at the identity provider, for users that SCIM does not manage",
  ),
  "identity.oidc.allowed_groups": withDefault(
    list(text),
    "",
    "groups of which a person must be in at least one; if empty, no group is needed",
  ),
  "identity.oidc.allowed_domains": withDefault(
    list(mailDomain),
    "",
    "domains that a verified address may have; if empty, any",
  ),
  "identity.oidc.required_claims": withDefault(
    map(text),
    "{}",
    "claims that must have an exact value, such as the tenant",
  ),
  "identity.oidc.max_age_seconds": optional(
    integer(MAX_AGE_SECONDS),
    "maximum age of a sign-in at the identity provider before it asks again",
  ),
  "identity.oidc.require_acr": withDefault(
    list(text),
    "",
    "accepted authentication context classes (acr) of a sign-in; if empty, any",
  ),
  "identity.oidc.clock_skew_seconds": withDefault(
    integer(CLOCK_SKEW_SECONDS),
    "60",
    "tolerated difference between our clock and the clock of the identity provider",
  ),
  "identity.oidc.reconfirm_hours": optional(
    integer(RECONFIRM_HOURS),
    "hours after which people must sign in at the identity provider again; 0 turns this off; by default 168, or 0 if SCIM removes users who left",
  ),
  "identity.oidc.auto_redirect": withDefault(
    boolean,
    "no",
    "whether the sign-in page redirects to the identity provider without a click",
  ),
  "identity.oidc.logout": withDefault(
    choice("local", "idp"),
    "local",
    "whether signing out also ends the session at the identity provider",
  ),
  "identity.oidc.logout_ends_grants": withDefault(
    boolean,
    "no",
    "whether a logout that the identity provider announces also signs out workstations",
  ),
  "identity.oidc.ca_file": optional(
    path,
    "PEM file with certificates to trust for the identity provider, in addition to the built-in ones",
  ),
  "identity.second_factor": withDefault(
    choice("off", "optional", "administrators", "everyone"),
    "optional",
    "who must have a second factor in addition to a password; with optional, users may set one up",
  ),
} satisfies Settings;
