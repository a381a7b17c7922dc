// The discovery documents for clients: our own, OAuth metadata and OpenID provider metadata. Plain objects; the server decides
// where they are served and how long they may be cached.
import {
  DEVICE_CODE_GRANT,
  ISSUER_PATH,
  OAUTH_CLIENT_ID,
  REFRESH_GRANT,
  REQUESTABLE_SCOPES,
} from "./wire.ts";

/** Below the issuer. It rejects every request, because no grant here redirects a browser. */
export const AUTHORIZATION_PATH = "/oauth2/authorize";

/** Paths below the issuer; the first three are hard-coded in the workstation client. */
export const ENDPOINT_PATHS = {
  deviceAuthorization: "/device/code",
  token: "/oauth2/token",
  revocation: "/oauth2/revoke",
  jwks: "/jwks",
} as const;

/**
 * @param baseUrl origin without trailing slash
 * @returns the issuer, byte for byte as in `iss`
 */
export const issuerOf = (baseUrl: string): string => `${baseUrl}${ISSUER_PATH}`;

/** @returns exactly the members that the client knows */
export const metaharnessDocument = (baseUrl: string) => ({
  version: 1,
  control_api_url: baseUrl,
  oauth: { issuer: issuerOf(baseUrl), client_id: OAUTH_CLIENT_ID, scopes: [...REQUESTABLE_SCOPES] },
});

/**
 * @returns the capabilities of the authorization server; it has no authorization endpoint, because no grant here uses one
 * @source RFC 8414 section 2, RFC 8628 section 4, RFC 9728 section 4
 */
export function authorizationServerMetadata(baseUrl: string) {
  const issuer = issuerOf(baseUrl);
  return {
    issuer,
    device_authorization_endpoint: `${issuer}${ENDPOINT_PATHS.deviceAuthorization}`,
    token_endpoint: `${issuer}${ENDPOINT_PATHS.token}`,
    revocation_endpoint: `${issuer}${ENDPOINT_PATHS.revocation}`,
    jwks_uri: `${issuer}${ENDPOINT_PATHS.jwks}`,
    grant_types_supported: [DEVICE_CODE_GRANT, REFRESH_GRANT],
    // RFC 8414 requires it even though no grant redirects.
    response_types_supported: [],
    // The client is public: it has no secret.
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: [...REQUESTABLE_SCOPES],
    protected_resources: [baseUrl],
  };
}

/**
 * @returns the same with the members that OpenID clients require; no ID token is issued
 * @source OpenID Connect Discovery 1.0 section 3
 */
export const openidProviderMetadata = (baseUrl: string) => ({
  ...authorizationServerMetadata(baseUrl),
  authorization_endpoint: `${issuerOf(baseUrl)}${AUTHORIZATION_PATH}`,
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["EdDSA"],
});
