// The npm package oidc-provider on this machine, as an independent identity provider of the company. It signs in one person without
// a question, and consents. `authorize` acts as the browser.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import Provider from "oidc-provider";
import type { SsoSettings } from "../../../src/domain/sso/settings.ts";
import { CLIENT_ID, CLIENT_SECRET, SETTINGS } from "./lying-provider.ts";

export interface OidcPeerOptions {
  redirectUri: string;
  /** members of the client's registration, in the names of RFC 7591 */
  client?: Readonly<Record<string, unknown>>;
  /** where the provider announces logouts */
  backchannelLogoutUri?: string;
  features?: Readonly<Record<string, unknown>>;
}

/** Claims of the one person, in addition to `sub`. */
export const PEER_PERSON = { email: "ada@example.com", email_verified: true, name: "Ada Example" } as const;
export const PEER_SUBJECT = "ada-1";

const REDIRECTS_MAX = 10;

export class OidcPeer implements AsyncDisposable {
  issuer = "";
  #provider: Provider | undefined;
  readonly #server: Server;
  readonly #cookies = new Map<string, string>();

  private constructor() {
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: OidcPeerOptions): Promise<OidcPeer> {
    const peer = new OidcPeer();
    const listening = Promise.withResolvers<void>();
    peer.#server.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    const address = peer.#server.address();
    peer.issuer = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
    peer.#provider = await createProvider(peer.issuer, options);
    return peer;
  }

  settings(members: Partial<SsoSettings> = {}): SsoSettings {
    return { ...SETTINGS, issuer: this.issuer, ...members };
  }

  /** @returns the query of the callback */
  async authorize(url: string, redirectUri: string): Promise<URLSearchParams> {
    let at = url;
    for (let redirects = 0; redirects < REDIRECTS_MAX; redirects += 1) {
      if (at.startsWith(redirectUri)) return new URL(at).searchParams;
      const response = await this.#visit(at);
      const location = response.headers.get("location");
      if (location === null) throw new Error(`${at} answered ${response.status}: ${await response.text()}`);
      at = new URL(location, at).href;
    }
    throw new Error(`more than ${REDIRECTS_MAX} redirects`);
  }

  /** Signs the browser out, which the provider announces to its clients. */
  async signOut(): Promise<void> {
    const request = await this.#visit(`${this.issuer}/session/end`);
    const [, xsrf = ""] = /name="xsrf" value="([^"]+)"/.exec(await request.text()) ?? [];
    const form = new URLSearchParams({ xsrf, logout: "yes" });
    const confirmed = await this.#visit(`${this.issuer}/session/end/confirm`, { method: "POST", body: form });
    if (confirmed.status !== 303) throw new Error(`the sign-out ended with ${confirmed.status}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }

  async #visit(url: string, message: Pick<RequestInit, "method" | "body"> = {}): Promise<Response> {
    const headers = { cookie: this.#cookieHeader() };
    const response = await fetch(url, { ...message, redirect: "manual", headers });
    for (const cookie of response.headers.getSetCookie()) this.#keep(cookie);
    return response;
  }

  #cookieHeader = (): string => [...this.#cookies].map(([name, value]) => `${name}=${value}`).join("; ");

  #keep(cookie: string): void {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    if (value === "") this.#cookies.delete(name);
    else this.#cookies.set(name, value);
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (!this.#provider) return void response.writeHead(503).end();
    if (request.url?.startsWith("/interaction/")) return await interact(this.#provider, request, response);
    await this.#provider.callback()(request, response);
  }
}

async function createProvider(issuer: string, options: OidcPeerOptions): Promise<Provider> {
  const { redirectUri, client, features, backchannelLogoutUri } = options;
  const logout = backchannelLogoutUri === undefined ? {} : { backchannel_logout_uri: backchannelLogoutUri };
  return new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: CLIENT_SECRET,
        redirect_uris: [redirectUri],
        ...logout,
        ...client,
      },
    ],
    cookies: { keys: ["test"] },
    jwks: { keys: [await signingKey()] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
    conformIdTokenClaims: true,
    ttl: { AccessToken: 60, AuthorizationCode: 60, Grant: 600, IdToken: 60, Interaction: 60, Session: 600 },
    pkce: { required: () => true },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...PEER_PERSON }),
    }),
    interactions: { url: (_: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    features: { devInteractions: { enabled: false }, backchannelLogout: { enabled: true }, ...features },
  });
}

async function signingKey(): Promise<JWK> {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true });
  return { ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "peer" };
}

/** Logs the person on, and consents to everything that was requested. */
async function interact(
  provider: Provider,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { prompt, params } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    await provider.interactionFinished(request, response, { login: { accountId: PEER_SUBJECT } });
    return;
  }
  const grant = new provider.Grant({ accountId: PEER_SUBJECT, clientId: CLIENT_ID });
  grant.addOIDCScope(String(params.scope));
  const grantId = await grant.save();
  await provider.interactionFinished(request, response, { consent: { grantId } });
}
