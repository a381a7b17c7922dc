// Builds the settings of company sign-in from the configuration. platform/config/rules.ts has already checked that they are
// complete.
import { readFileSync } from "node:fs";
import { clientKeyProblem } from "../../domain/sso/service.ts";
import type { ClientCredential, SsoSettings } from "../../domain/sso/settings.ts";
import type { Config } from "../../platform/config/config.ts";
import { DomainError } from "../../platform/errors.ts";
import { needed } from "./needed-setting.ts";

const RECONFIRM_HOURS_DEFAULT = 168;

/**
 * @returns undefined without a provider; contacts nothing
 * @throws DomainError `config.invalid` if identity.oidc.ca_file cannot be read, or the client key is unusable
 */
export function ssoSettingsOf(config: Config): SsoSettings | undefined {
  const issuer = config.get("identity.oidc.issuer");
  if (issuer === undefined) return undefined;
  const provisioning = provisioningOf(config);
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

/** @returns the rules for who may sign in at the provider */
export const provisioningOf = (config: Config): SsoSettings["provisioning"] =>
  config.get("identity.oidc.provisioning") ?? (config.get("identity.mode") === "oidc" ? "scim" : "invited");

function credentialOf(config: Config): ClientCredential {
  const method = config.get("identity.oidc.client_auth");
  if (method !== "private_key_jwt") return { method, secret: needed(config, "identity.oidc.client_secret") };
  const key = needed(config, "identity.oidc.client_key");
  const problem = clientKeyProblem(key);
  if (problem !== undefined) throw unusable("client_key", problem);
  return { method, key };
}

/** @returns the certificates of identity.oidc.ca_file @throws DomainError `config.invalid` if it cannot be read */
export function caOf(config: Config): string | undefined {
  const path = config.get("identity.oidc.ca_file");
  if (path === undefined) return undefined;
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw unusable("ca_file", "cannot be read", cause);
  }
}

const unusable = (name: string, detail: string, cause?: unknown): DomainError =>
  new DomainError("invalid", "config.invalid", "the settings of the identity provider cannot be used", {
    problems: [{ pointer: `/identity/oidc/${name}`, detail: `identity.oidc.${name}: ${detail}` }],
    cause,
  });

/** @returns whether the settings are equal, including secrets */
export const isSameProvider = (left: SsoSettings | undefined, right: SsoSettings | undefined): boolean =>
  textOf(left) === textOf(right);

/** Contains secrets; use it only for comparing. */
function textOf(settings: SsoSettings | undefined): string | undefined {
  if (!settings) return undefined;
  const { credential, groupRoleMappings, requiredClaims } = settings;
  const secret = "secret" in credential ? credential.secret : credential.key;
  const maps = { groupRoleMappings: [...groupRoleMappings], requiredClaims: [...requiredClaims] };
  return JSON.stringify({ ...settings, ...maps, credential: [credential.method, secret.reveal()] });
}
