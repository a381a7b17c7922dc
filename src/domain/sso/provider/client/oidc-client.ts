// The parts of the protocol that openid-client does: links, pushed requests, the answer in the callback, the token request with
// client authentication, and userinfo. It is loaded on first use, because most commands never use it. Discovery, keys and the
// checks of tokens are ours: the library takes issuers that differ only in form, does not verify signatures and waits a minute
// before it fetches new keys. Errors are told apart by `code`, because a minified executable renames classes.
import type { Configuration } from "openid-client";
import type { SsoSettings } from "../../settings.ts";
import type { ProviderMetadata } from "../discovery/metadata.ts";
import type { ProviderEndpoint, ProviderRequests } from "../provider-requests.ts";
import { TOKEN_ALGORITHMS } from "../tokens/provider-keys.ts";
import { clientAuthentication } from "./client-credential.ts";
import { fromLibrary } from "./library-errors.ts";

/** What the browser must bring back. */
export interface Attempt {
  state: string;
  nonce: string;
  /** PKCE code verifier (RFC 7636) */
  verifier: string;
}

interface ClientParts {
  metadata: ProviderMetadata;
  settings: SsoSettings;
  requests: ProviderRequests;
}

/** What the token endpoint gave for a code. Not verified yet. */
export interface Redeemed {
  accessToken: string;
  idToken: string;
}

export class OidcClient {
  private constructor(
    private readonly openid: typeof import("openid-client"),
    private readonly configuration: Configuration,
    private readonly parts: ClientParts,
  ) {}

  /** @throws DomainError `sso.client_key` */
  static async create(parts: ClientParts): Promise<OidcClient> {
    const openid = await import("openid-client");
    const { metadata, settings } = parts;
    const server = {
      issuer: metadata.issuer,
      authorization_endpoint: metadata.authorizationEndpoint,
      token_endpoint: metadata.tokenEndpoint,
      ...(metadata.userinfoEndpoint && { userinfo_endpoint: metadata.userinfoEndpoint }),
      ...(metadata.endSessionEndpoint && { end_session_endpoint: metadata.endSessionEndpoint }),
      ...(metadata.pushedRequestEndpoint && {
        pushed_authorization_request_endpoint: metadata.pushedRequestEndpoint,
      }),
      authorization_response_iss_parameter_supported: metadata.namesIssuer,
      id_token_signing_alg_values_supported: [...TOKEN_ALGORITHMS],
    };
    const { credential, clientId } = settings;
    const authentication = await clientAuthentication(openid, credential, metadata.clientAlgorithms);
    // The library compares times by the system's clock; id-token.ts does it by the clock of the service.
    const client = { [openid.clockTolerance]: Number.MAX_SAFE_INTEGER };
    const configuration = new openid.Configuration(server, clientId, client, authentication);
    const created = new OidcClient(openid, configuration, parts);
    // Endpoints were checked at discovery: http is only for an issuer on this machine.
    openid.allowInsecureRequests(configuration);
    configuration[openid.customFetch] = (url, { method, headers, body }) =>
      parts.requests.send(created.#endpointOf(url), url, { method, headers, ...bodyOf(body) });
    return created;
  }

  /** @returns the PKCE code challenge S256 of a verifier */
  challengeOf(verifier: string): Promise<string> {
    return this.openid.calculatePKCECodeChallenge(verifier);
  }

  /** @returns the link to the authorization endpoint @throws DomainError of `fromLibrary` */
  async authorizationUrl(parameters: Readonly<Record<string, string>>): Promise<string> {
    const { requiresPushedRequests, pushedRequestEndpoint } = this.parts.metadata;
    const isPushed = requiresPushedRequests && pushedRequestEndpoint !== undefined;
    const build = isPushed ? this.openid.buildAuthorizationUrlWithPAR : this.openid.buildAuthorizationUrl;
    return await this.#told(async () => (await build(this.configuration, { ...parameters })).href);
  }

  /**
   * Reads the answer in the callback (state, `iss`, error) and redeems the code.
   * @param callback the redirect URI with the query
   * @throws DomainError of `fromLibrary`
   */
  async redeem(callback: URL, { state, nonce, verifier }: Attempt): Promise<Redeemed> {
    const checks = {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
      idTokenExpected: true,
    };
    return await this.#told(async () => {
      const answer = await this.openid.authorizationCodeGrant(this.configuration, callback, checks);
      return { accessToken: answer.access_token, idToken: answer.id_token ?? "" };
    });
  }

  /**
   * Redeems a code that nobody issued.
   * @throws DomainError `sso.code_rejected` if the provider knows this client; others of `fromLibrary`
   */
  async redeemNothing(redirectUri: string): Promise<void> {
    const parameters = {
      code: "quartermaster-sso-verify",
      redirect_uri: redirectUri,
      code_verifier: NO_VERIFIER,
    };
    await this.#told(() =>
      this.openid.genericGrantRequest(this.configuration, "authorization_code", parameters),
    );
  }

  /** @returns the claims of userinfo, whose `sub` is the same @throws DomainError of `fromLibrary` */
  userinfo({ accessToken }: Redeemed, subject: string): Promise<Readonly<Record<string, unknown>>> {
    return this.#told(() => this.openid.fetchUserInfo(this.configuration, accessToken, subject));
  }

  /** @returns the link that ends the session at the provider (OpenID Connect RP-Initiated Logout 1.0) */
  endSessionUrl(parameters: Readonly<Record<string, string>>): string {
    return this.openid.buildEndSessionUrl(this.configuration, { ...parameters }).href;
  }

  async #told<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw fromLibrary(error);
    }
  }

  #endpointOf(url: string): ProviderEndpoint {
    const { userinfoEndpoint, pushedRequestEndpoint } = this.parts.metadata;
    const { href } = new URL(url);
    const isOf = (endpoint: string | undefined) => endpoint !== undefined && new URL(endpoint).href === href;
    if (isOf(userinfoEndpoint)) return "userinfo";
    return isOf(pushedRequestEndpoint) ? "pushed_request" : "token";
  }
}

/** As long as a real one. */
const NO_VERIFIER = "0".repeat(43);

/** The library sends forms, and requests without a body. */
const bodyOf = (body: unknown): { body?: string } =>
  body instanceof URLSearchParams ? { body: body.toString() } : {};
