// The documents by which clients find their way: the contract's own, OAuth metadata and OpenID provider metadata.
// Plain objects; where they are served and how long they may be kept is for the server.
import {
  DEVICE_CODE_GRANT,
  ISSUER_PATH,
  OAUTH_CLIENT_ID,
  REFRESH_GRANT,
  REQUESTABLE_SCOPES,
} from "./wire.ts";

/** Below the issuer; refuses every request, because no grant here redirects a browser. */
export const AUTHORIZATION_PATH = "/oauth2/authorize";

/** Paths below the issuer; the client knows the first three by heart (client-and-auth.md section 1.4). */
export const ENDPOINT_PATHS = {
  deviceAuthorization: "/device/code",
  token: "/oauth2/token",
  revocation: "/oauth2/revoke",
  jwks: "/jwks",
} as const;

/** @param baseUrl origin without trailing slash @returns the issuer, byte for byte what `iss` says */
export const issuerOf = (baseUrl: string): string => `${baseUrl}${ISSUER_PATH}`;

/**
 * @returns exactly the keys of the contract; the client refuses nothing more, but other readers count them
 * @source client-and-auth.md section 1.2
 */
export const metaharnessDocument = (baseUrl: string) => ({
  version: 1,
  control_api_url: baseUrl,
  oauth: { issuer: issuerOf(baseUrl), client_id: OAUTH_CLIENT_ID, scopes: [...REQUESTABLE_SCOPES] },
});

/**
 * @returns what the authorization server can do; there is no authorization endpoint, because no grant here uses one
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
    // Required by RFC 8414 even when, as here, nothing is redirected.
    response_types_supported: [],
    // The client is public; it has no secret to authenticate with.
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: [...REQUESTABLE_SCOPES],
    protected_resources: [baseUrl],
  };
}

/**
 * @returns the same for OpenID clients, with the members they insist on; no ID token is issued
 * @source OpenID Connect Discovery 1.0 section 3
 */
export const openidProviderMetadata = (baseUrl: string) => ({
  ...authorizationServerMetadata(baseUrl),
  authorization_endpoint: `${issuerOf(baseUrl)}${AUTHORIZATION_PATH}`,
  subject_types_supported: ["public"],
  id_token_signing_alg_values_supported: ["EdDSA"],
});
