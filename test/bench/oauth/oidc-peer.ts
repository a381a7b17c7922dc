// The reference of oauth.ts, in a separate process, on Bun or on Node: the npm package oidc-provider with the same
// client, rotating refresh tokens and JWT access tokens, and an adapter that keeps everything in memory. Argument: the
// file for the seeded data, in the form of Seeds in oauth.ts.
import { writeFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { exportJWK, generateKeyPair } from "jose";
import Provider from "oidc-provider";
import { CLIENT_ID, DEVICE_CODES, FAMILIES, SCOPES } from "./oauth-plan.ts";

type Payload = Record<string, unknown> & { grantId?: string; userCode?: string; consumed?: number };

/** Like the package's own adapter for development, but without its limit of a thousand entries. */
class MemoryAdapter {
  static readonly #entries = new Map<string, Payload>();
  static readonly #byUserCode = new Map<string, string>();
  static readonly #ofGrant = new Map<string, Set<string>>();

  constructor(private readonly model: string) {}

  #key = (id: string): string => `${this.model}:${id}`;

  async upsert(id: string, payload: Payload): Promise<void> {
    const key = this.#key(id);
    MemoryAdapter.#entries.set(key, payload);
    if (payload.userCode) MemoryAdapter.#byUserCode.set(payload.userCode, id);
    if (!payload.grantId) return;
    const members = MemoryAdapter.#ofGrant.get(payload.grantId) ?? new Set();
    MemoryAdapter.#ofGrant.set(payload.grantId, members.add(key));
  }

  async find(id: string): Promise<Payload | undefined> {
    return MemoryAdapter.#entries.get(this.#key(id));
  }

  async findByUserCode(userCode: string): Promise<Payload | undefined> {
    return await this.find(MemoryAdapter.#byUserCode.get(userCode) ?? "");
  }

  async findByUid(): Promise<undefined> {}

  async consume(id: string): Promise<void> {
    const payload = await this.find(id);
    if (payload) payload.consumed = Math.floor(Date.now() / 1_000);
  }

  async destroy(id: string): Promise<void> {
    MemoryAdapter.#entries.delete(this.#key(id));
  }

  async revokeByGrantId(grantId: string): Promise<void> {
    for (const key of MemoryAdapter.#ofGrant.get(grantId) ?? []) MemoryAdapter.#entries.delete(key);
    MemoryAdapter.#ofGrant.delete(grantId);
  }
}

async function createProvider(issuer: string): Promise<Provider> {
  const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
  return new Provider(issuer, {
    adapter: MemoryAdapter,
    clients: [
      {
        client_id: CLIENT_ID,
        token_endpoint_auth_method: "none",
        grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
        response_types: [],
        redirect_uris: [],
        id_token_signed_response_alg: "EdDSA",
      },
    ],
    cookies: { keys: ["benchmark"] },
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "EdDSA", use: "sig", kid: "bench" }] },
    scopes: SCOPES,
    rotateRefreshToken: true,
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    features: {
      deviceFlow: { enabled: true },
      devInteractions: { enabled: false },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_: unknown, audience: string) => ({
          audience,
          scope: RESOURCE_SCOPES,
          accessTokenFormat: "jwt",
          accessTokenTTL: 900,
          jwt: { sign: { alg: "EdDSA" } },
        }),
      },
    },
  });
}

const RESOURCE_SCOPES = SCOPES.filter((scope) => scope.includes(":")).join(" ");

async function seed(provider: Provider, resource: string) {
  const client = await provider.Client.find(CLIENT_ID);
  const params = { client_id: CLIENT_ID, scope: SCOPES.join(" "), resource };
  const deviceCode = (at: number) =>
    new provider.DeviceCode({ client, params, userCode: `CODE${at}` }).save();
  // Without `openid` it signs no ID token in addition to the access token, like the service.
  const scope = `offline_access ${RESOURCE_SCOPES}`;
  const refreshToken = async () => {
    const grant = new provider.Grant({ accountId: "ada", clientId: CLIENT_ID });
    grant.addOIDCScope("offline_access");
    grant.addResourceScope(resource, RESOURCE_SCOPES);
    const grantId = await grant.save(3_600);
    const fields = { accountId: "ada", client, grantId, gty: "device_code", resource, scope };
    return await new provider.RefreshToken(fields).save();
  };
  return {
    deviceCodes: await Promise.all(Array.from({ length: DEVICE_CODES }, (_, at) => deviceCode(at))),
    refreshTokens: await Promise.all(Array.from({ length: FAMILIES }, refreshToken)),
  };
}

let answer: RequestListener = (_, response) => response.writeHead(503).end();
const server = createServer((request, response) => answer(request, response));
server.listen(0, "127.0.0.1", async () => {
  const address = server.address();
  const origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const provider = await createProvider(origin);
  answer = provider.callback();
  writeFileSync(process.argv[2] ?? "", JSON.stringify(await seed(provider, origin)));
  console.log(origin);
});
