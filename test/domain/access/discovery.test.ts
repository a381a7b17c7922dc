// The discovery documents, key by key, and as an independent client library reads them.
import { expect, test } from "bun:test";
import * as oauth from "oauth4webapi";
import {
  authorizationServerMetadata,
  metaharnessDocument,
  openidProviderMetadata,
} from "../../../src/domain/access/discovery.ts";

const BASE_URL = "https://control.example.com";
const ISSUER = `${BASE_URL}/api/auth`;

test("the OAuth metadata names the endpoints that the client derives itself", () => {
  expect(authorizationServerMetadata(BASE_URL)).toEqual({
    issuer: ISSUER,
    device_authorization_endpoint: `${ISSUER}/device/code`,
    token_endpoint: `${ISSUER}/oauth2/token`,
    revocation_endpoint: `${ISSUER}/oauth2/revoke`,
    jwks_uri: `${ISSUER}/jwks`,
    grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
    response_types_supported: [],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    scopes_supported: metaharnessDocument(BASE_URL).oauth.scopes,
    protected_resources: [BASE_URL],
  });
});

test("the OpenID document has the same content and the members that OpenID clients require", () => {
  expect(openidProviderMetadata(BASE_URL)).toEqual({
    ...authorizationServerMetadata(BASE_URL),
    authorization_endpoint: `${ISSUER}/oauth2/authorize`,
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["EdDSA"],
  });
});

test.each([
  ["OAuth", authorizationServerMetadata(BASE_URL)],
  ["OpenID", openidProviderMetadata(BASE_URL)],
])("an independent client accepts the %s metadata for our issuer", async (_name, metadata) => {
  const server = await oauth.processDiscoveryResponse(new URL(ISSUER), Response.json(metadata));
  expect(server.device_authorization_endpoint).toBe(`${ISSUER}/device/code`);
  const stranger = new URL("https://evil.example/api/auth");
  expect(oauth.processDiscoveryResponse(stranger, Response.json(metadata))).rejects.toThrow();
});
