// The discovery documents of clients: exact keys, the same content under every path, caching, and key rotation.
import { describe, expect, test } from "bun:test";
import { BASE_URL, createTestServer } from "../../../support/server.ts";

const ISSUER = `${BASE_URL}/api/auth`;

describe("the discovery document of workstations", () => {
  test("has exactly the members that clients read", async () => {
    await using server = await createTestServer();
    const response = await server.request("GET", "/.well-known/metaharness");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      version: 1,
      control_api_url: BASE_URL,
      oauth: {
        issuer: ISSUER,
        client_id: "blue-cli",
        scopes: [
          "openid",
          "profile",
          "email",
          "offline_access",
          "governance:read",
          "session:write",
          "client-status:write",
        ],
      },
    });
  });

  test("may be cached for minutes and is revalidated by its tag", async () => {
    await using server = await createTestServer();
    const first = await server.request("GET", "/.well-known/metaharness");
    expect(first.headers.get("cache-control")).toBe("public, max-age=300");
    expect(first.headers.get("content-type")).toBe("application/json");
    const headers = { "if-none-match": first.headers.get("etag") ?? "" };
    const second = await server.request("GET", "/.well-known/metaharness", { headers });
    expect(second.status).toBe(304);
    expect(await second.text()).toBe("");
  });
});

const METADATA_PATHS = [
  "/.well-known/oauth-authorization-server",
  "/.well-known/oauth-authorization-server/api/auth",
  "/api/auth/.well-known/openid-configuration",
  "/.well-known/openid-configuration/api/auth",
];

test.each(METADATA_PATHS)("%s names the endpoints that the client derives from the issuer", async (path) => {
  await using server = await createTestServer();
  const response = await server.request("GET", path);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({
    issuer: ISSUER,
    device_authorization_endpoint: `${ISSUER}/device/code`,
    token_endpoint: `${ISSUER}/oauth2/token`,
    revocation_endpoint: `${ISSUER}/oauth2/revoke`,
    jwks_uri: `${ISSUER}/jwks`,
    grant_types_supported: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
    token_endpoint_auth_methods_supported: ["none"],
  });
});

describe("the signing keys", () => {
  test("publishes public keys only, which may be cached for a minute", async () => {
    await using server = await createTestServer();
    const response = await server.request("GET", "/api/auth/jwks");
    expect(response.headers.get("cache-control")).toBe("public, max-age=60");
    const { keys } = await response.json();
    expect(keys).toHaveLength(1);
    expect(Object.keys(keys[0]).sort()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  });

  test("include a rotated key beside the old one until no token needs the old one", async () => {
    await using server = await createTestServer();
    const { world, domain } = server;
    const read = async () => {
      const response = await server.request("GET", "/api/auth/jwks");
      const { keys } = await response.json();
      return { etag: response.headers.get("etag"), kids: keys.map(({ kid }: { kid: string }) => kid) };
    };
    const before = await read();
    const { kid } = await domain.access.keys.rotate(world.system);
    const rotated = await read();
    expect(new Set(rotated.kids)).toEqual(new Set([kid, ...before.kids]));
    expect(rotated.etag).not.toBe(before.etag);

    const { accessTokenTtlSeconds } = domain.access.settings;
    world.clock.advance((accessTokenTtlSeconds + 61) * 1_000);
    expect((await read()).kids).toEqual([kid]);
  });
});
