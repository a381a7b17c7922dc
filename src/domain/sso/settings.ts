// Settings of sign-in at an identity provider. The configuration table has their defaults and bounds; app/installation builds them,
// and a reload replaces them.
import type { Secret } from "../../platform/secret.ts";
import type { Role } from "../identity/service.ts";

/** Who may sign in: users created by SCIM; existing users and invited people; or anyone the rules admit. */
type Provisioning = "scim" | "invited" | "jit";

/** How this service identifies itself at the token endpoint. */
export type ClientCredential =
  | { method: "client_secret_basic" | "client_secret_post"; secret: Secret }
  /** PEM of a private key (PKCS #8) */
  | { method: "private_key_jwt"; key: Secret };

export interface SsoSettings {
  /** compared exactly */
  issuer: string;
  clientId: string;
  credential: ClientCredential;
  providerId: string;
  providerName: string;
  extraScopes: readonly string[];
  provisioning: Provisioning;
  /** whether an address without `email_verified` counts as verified */
  trustEmail: boolean;
  /** dotted path; undefined: no user is linked by external id */
  externalIdClaim: string | undefined;
  /** dotted path */
  groupsClaim: string;
  groupRoleMappings: ReadonlyMap<string, Role>;
  /** empty: groups do not matter */
  allowedGroups: readonly string[];
  /** empty: domains do not matter */
  allowedDomains: readonly string[];
  requiredClaims: ReadonlyMap<string, string>;
  maxAgeSeconds: number | undefined;
  /** empty: any */
  requireAcr: readonly string[];
  clockSkewSeconds: number;
  /** 0: never */
  reconfirmHours: number;
  autoRedirect: boolean;
  logout: "local" | "idp";
  logoutEndsGrants: boolean;
  /** PEM certificates to trust in addition to the built-in ones */
  ca: string | undefined;
}

/** Returns the current settings, which a reload replaces; undefined without a provider. */
export type CurrentSsoSettings = () => SsoSettings | undefined;
