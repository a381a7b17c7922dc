// What a start does for provisioning: gives everybody the role of a changed mapping, and says what will not work.
import type { Actor } from "./domain/actor.ts";
import type { Installation } from "./installation.ts";
import { isReachablePlainly } from "./origin.ts";
import type { Log } from "./platform/log.ts";

/** @source scim.md SCIM-3, SCIM-9, SCIM-23 and SCIM-24 */
export async function beginProvisioning(
  { domain }: Installation,
  { actor, log, baseUrl }: { actor: Actor; log: Log; baseUrl: string },
): Promise<void> {
  const { roles, tokens } = domain.scim;
  const changed = await roles.applyMapping(actor);
  if (changed > 0) log.info("scim.mapping_applied", { roles_changed: changed });
  for (const warning of roles.warnings(actor.organizationId)) log.warning("scim.mapping", { warning });
  const isConfigured = tokens.hasActive();
  if (!isConfigured && domain.identity.identityStatus(isConfigured).auth_mode === "oidc") {
    log.warning("scim.no_token", { next: "quartermaster scim tokens create LABEL" });
  }
  if (isConfigured && isReachablePlainly(baseUrl)) {
    log.warning("scim.plain_http", {
      next: "set server.public_url to the https origin under which providers reach the service",
    });
  }
}
