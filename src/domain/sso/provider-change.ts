// Records in the audit log that the provider was configured, changed or removed. Settings change in a file, so changes are
// detected by comparison with the last entry.
import type { Sealing } from "../../platform/crypto/sealing.ts";
import type { Db } from "../../platform/database/database.ts";
import { isJsonObject } from "../../platform/json/json-object.ts";
import type { Audit } from "../audit/service.ts";
import type { Actor } from "../shared/actor.ts";
import { registrationOf } from "./registration.ts";
import type { SsoSettings } from "./settings.ts";

const ACTION = "identity_provider.change";
const CREDENTIAL_ID_LENGTH = 16;

export interface ProviderChangeDependencies {
  db: Db;
  audit: Audit;
  auditLog: {
    lastAfter(organizationId: string, action: string): string | undefined;
    list(
      organizationId: string,
      query: { action: string; beforeMs: number; perPage: number },
    ): { items: readonly { after: string | null }[] };
  };
  sealing: Pick<Sealing, "mac">;
  /** origin of this service; empty if it is not known */
  origin(): string;
}

/** @returns whether the settings differ from the last recorded ones */
export async function recordProviderChange(
  { db, audit, auditLog, sealing, origin }: ProviderChangeDependencies,
  actor: Actor,
  settings: SsoSettings | undefined,
): Promise<boolean> {
  const last = auditLog.lastAfter(actor.organizationId, ACTION);
  const before = last === undefined ? NONE : JSON.parse(last);
  const after = settings ? documentOf(settings, { sealing, origin: origin() }) : NONE;
  if (JSON.stringify(before) === JSON.stringify(after)) return false;
  await db.write((tx) => {
    const target = settings?.issuer ?? before.issuer;
    audit.record(tx, { actor, action: ACTION, target, before, after });
  }, "unobserved");
  return true;
}

/**
 * A change of `server.public_url` changes the redirect URI, and the provider then refuses every sign-in.
 * @returns the redirect URI at that time; undefined if it is not known
 */
export function redirectUriAt(
  { auditLog }: Pick<ProviderChangeDependencies, "auditLog">,
  organizationId: string,
  atMs: number,
): string | undefined {
  const query = { action: ACTION, beforeMs: atMs + 1, perPage: 1 };
  const after = auditLog.list(organizationId, query).items[0]?.after;
  const document: unknown = JSON.parse(after ?? "null");
  const uri = isJsonObject(document) ? document.redirect_uri : undefined;
  return typeof uri === "string" ? uri : undefined;
}

const NONE = { issuer: null };

/** Settings without secrets; a keyed digest shows that a credential was replaced. */
function documentOf(
  settings: SsoSettings,
  { sealing, origin }: { sealing: Pick<Sealing, "mac">; origin: string },
) {
  const { credential } = settings;
  const secret = "secret" in credential ? credential.secret : credential.key;
  const mac = sealing.mac(secret.reveal(), "credential at a provider");
  return {
    issuer: settings.issuer,
    client_id: settings.clientId,
    client_auth: credential.method,
    credential: mac.slice(0, CREDENTIAL_ID_LENGTH),
    provider_id: settings.providerId,
    redirect_uri: registrationOf(origin, settings).redirectUri,
    provisioning: settings.provisioning,
    trust_email: settings.trustEmail,
    external_id_claim: settings.externalIdClaim ?? null,
    groups_claim: settings.groupsClaim,
    group_role_mappings: [...settings.groupRoleMappings].map(([group, role]) => `${group}=${role}`),
    allowed_groups: settings.allowedGroups,
    allowed_domains: settings.allowedDomains,
    required_claims: [...settings.requiredClaims].map(([claim, value]) => `${claim}=${value}`),
    require_acr: settings.requireAcr,
    reconfirm_hours: settings.reconfirmHours,
    logout: settings.logout,
    logout_ends_grants: settings.logoutEndsGrants,
  };
}
