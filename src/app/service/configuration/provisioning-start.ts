// Provisioning at a start and a reload: applies a changed mapping of groups to roles, and warns about settings that will not
// work.
import { CANNOT_SIGN_IN_REMEDY } from "../../../domain/identity/service.ts";
import type { Actor } from "../../../domain/shared/actor.ts";
import type { Config } from "../../../platform/config/config.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Log } from "../../../platform/observe/log.ts";
import type { Installation } from "../../installation/installation.ts";
import { isUnencryptedRemote } from "../../installation/origin.ts";
import { provisioningOf } from "../../installation/sso-settings.ts";
import { storedScimToken } from "../../installation/stored-facts.ts";
import type { Reloading } from "./settings-reload.ts";

/**
 * @throws DomainError `sso.no_scim_token` if only SCIM may create users who sign in at the provider, and SCIM has no
 * token
 */
export async function startProvisioning(
  { domain }: Pick<Installation, "domain">,
  { actor, log, baseUrl }: { actor: Actor; log: Log; baseUrl: string },
): Promise<void> {
  const { tokens } = domain.scim;
  await applyRoleMapping(domain, { actor, log });
  const isConfigured = tokens.hasActive();
  if (lacksScimToken(domain, actor.organizationId)) throw noScimToken();
  const needsScim = (domain.sso.settings()?.provisioning ?? "scim") === "scim";
  if (!isConfigured && needsScim && domain.identity.identityStatus(isConfigured).auth_mode === "oidc") {
    log.warning("scim.no_token", { next: "quartermaster scim tokens create LABEL" });
  }
  const total = domain.identity.provisioned.countCannotSignIn(actor.organizationId);
  if (total > 0) log.warning("scim.cannot_sign_in", { users: total, next: CANNOT_SIGN_IN_REMEDY });
  if (isConfigured && isUnencryptedRemote(baseUrl)) {
    log.warning("scim.plain_http", {
      next: "set server.public_url to the https origin at which providers reach the service",
    });
  }
}

export const NO_SCIM_TOKEN = {
  text: "only users created by SCIM may sign in at the identity provider, but there is no SCIM token, so nobody can sign in",
  remedy:
    "create one with `quartermaster scim tokens create LABEL`, or set identity.oidc.provisioning to invited or jit",
};

const noScimToken = () =>
  new DomainError("invalid", "sso.no_scim_token", NO_SCIM_TOKEN.text, { hint: NO_SCIM_TOKEN.remedy });

/** @returns whether no user could sign in at the provider, so that the service must not start */
export function lacksScimToken(
  { sso, scim: { tokens } }: Pick<Installation["domain"], "sso" | "scim">,
  organizationId: string,
): boolean {
  const isScimAlone = sso.settings()?.provisioning === "scim";
  return isScimAlone && !tokens.hasActive() && tokens.list(organizationId).length === 0;
}

/**
 * Like `lacksScimToken`, without opening the installation: for `config check`, which works before there is a data directory.
 * @returns the error of the start; nothing if the database cannot be read by this user or program
 */
export function findMissingScimToken(config: Config): DomainError[] {
  const isScimAlone = config.get("identity.oidc.issuer") !== undefined && provisioningOf(config) === "scim";
  if (!isScimAlone || config.get("scim.token") !== undefined) return [];
  return storedScimToken(config) === false ? [noScimToken()] : [];
}

/** Applies the current mapping of the configuration while the service runs. An invalid one is logged and changes nothing. */
export async function reloadRoleMapping(
  { domain, mapRoles }: Installation,
  { config, actor, log, reading }: Reloading & { actor: Actor },
): Promise<void> {
  try {
    mapRoles(config.valueIn(await reading, "scim.group_role_mappings"));
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    log.error("scim.mapping_rejected", { reason: error.reason, message: error.message });
    for (const problem of error.problems) log.error("scim.mapping_problem", { ...problem });
    return;
  }
  await applyRoleMapping(domain, { actor, log });
}

async function applyRoleMapping(
  { scim: { roles } }: Installation["domain"],
  { actor, log }: { actor: Actor; log: Log },
): Promise<void> {
  const changed = await roles.applyMapping(actor);
  if (changed > 0) log.info("scim.mapping_applied", { roles_changed: changed });
  for (const warning of roles.warnings(actor.organizationId)) log.warning("scim.mapping", { warning });
}
