// Builds the settings of company sign-in from the configuration. platform/config/rules.ts has already checked that they are
// complete.
import { readFileSync } from "node:fs";
import type { ClientCredential, SsoSettings } from "../../domain/sso/settings.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import { needed } from "./needed-setting.ts";

const RECONFIRM_HOURS_DEFAULT = 168;

/**
 * @returns undefined without a provider; contacts nothing
 * @throws DomainError `config.invalid` if identity.oidc.ca_file cannot be read
 */
export function ssoSettingsOf(config: Config): SsoSettings | undefined {
  const issuer = config.get("identity.oidc.issuer");
  if (issuer === undefined) return undefined;
  const provisioning =
    config.get("identity.oidc.provisioning") ?? (config.get("identity.mode") === "oidc" ? "scim" : "invited");
  return {
    issuer,
    clientId: needed(config, "identity.oidc.client_id"),
    credential: credentialOf(config),
    providerId: config.get("identity.oidc.provider_id"),
    providerName: config.get("identity.oidc.provider_name"),
    extraScopes: config.get("identity.oidc.extra_scopes"),
    provisioning,
    trustEmail: config.get("identity.oidc.trust_email"),
    externalIdClaim: config.get("identity.oidc.external_id_claim"),
    groupsClaim: config.get("identity.oidc.groups_claim"),
    groupRoleMappings: config.get("identity.oidc.group_role_mappings"),
    allowedGroups: config.get("identity.oidc.allowed_groups"),
    allowedDomains: config.get("identity.oidc.allowed_domains"),
    requiredClaims: config.get("identity.oidc.required_claims"),
    maxAgeSeconds: config.get("identity.oidc.max_age_seconds"),
    requireAcr: config.get("identity.oidc.require_acr"),
    clockSkewSeconds: config.get("identity.oidc.clock_skew_seconds"),
    reconfirmHours:
      config.get("identity.oidc.reconfirm_hours") ?? (provisioning === "scim" ? 0 : RECONFIRM_HOURS_DEFAULT),
    autoRedirect: config.get("identity.oidc.auto_redirect"),
    logout: config.get("identity.oidc.logout"),
    logoutEndsGrants: config.get("identity.oidc.logout_ends_grants"),
    ca: caOf(config),
  };
}

function credentialOf(config: Config): ClientCredential {
  const method = config.get("identity.oidc.client_auth");
  return method === "private_key_jwt"
    ? { method, key: needed(config, "identity.oidc.client_key") }
    : { method, secret: needed(config, "identity.oidc.client_secret") };
}

function caOf(config: Config): string | undefined {
  const path = config.get("identity.oidc.ca_file");
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new DomainError("invalid", "config.invalid", "the file identity.oidc.ca_file cannot be read", {
      problems: [{ pointer: "/identity/oidc/ca_file", detail: "identity.oidc.ca_file: cannot be read" }],
      cause,
    });
  }
}
