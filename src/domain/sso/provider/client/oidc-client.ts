// The parts of the protocol that openid-client implements: links, pushed requests, client authentication, and userinfo. It is
// loaded on first use, because most commands never use it. Discovery, the token request, keys and token checks are ours: the
// library accepts issuers that differ only in form, does not verify signatures, and waits a minute before it fetches new keys.
// Errors are distinguished by `code`, because a minified executable renames classes.
import type { Configuration } from "openid-client";
import type { SsoSettings } from "../../settings.ts";
import type { ProviderMetadata } from "../discovery/metadata.ts";
import type { ProviderRequests } from "../provider-requests.ts";
import { clientAuthentication } from "./client-credential.ts";
import { fromLibrary } from "./library-errors.ts";
import { type CodeToRedeem, type Redeemed, redeemCode, type TokenEndpoint } from "./token-request.ts";

/** The values that the browser must bring back. */
export interface Attempt {
  state: string;
  nonce: string;
  /** PKCE code verifier (RFC 7636) */
  verifier: string;
  /** when a new log-on was requested from the provider, UTC milliseconds; absent without such a request */
  forcedAtMs?: number;
}

interface ClientParts {
  metadata: ProviderMetadata;
  settings: SsoSettings;
  requests: ProviderRequests;
}

export class OidcClient {
  private constructor(
    private readonly openid: typeof import("openid-client"),
    private readonly configuration: Configuration,
    private readonly tokenEndpoint: TokenEndpoint,
    private readonly metadata: ProviderMetadata,
  ) {}

  /** @throws DomainError `sso.client_key` */
  static async create({ metadata, settings, requests }: ClientParts): Promise<OidcClient> {
    const openid = await import("openid-client");
    const server = {
      issuer: metadata.issuer,
      authorization_endpoint: metadata.authorizationEndpoint,
      token_endpoint: metadata.tokenEndpoint,
      ...(metadata.userinfoEndpoint && { userinfo_endpoint: metadata.userinfoEndpoint }),
      ...(metadata.endSessionEndpoint && { end_session_endpoint: metadata.endSessionEndpoint }),
      ...(metadata.pushedRequestEndpoint && {
        pushed_authorization_request_endpoint: metadata.pushedRequestEndpoint,
      }),
    };
    const { credential, clientId } = settings;
    const authentication = await clientAuthentication(openid, credential, metadata.clientAlgorithms);
    const client = { client_id: clientId };
    const configuration = new openid.Configuration(server, clientId, client, authentication);
    const secrets = "secret" in credential ? [credential.secret.reveal()] : [];
    const tokenEndpoint = { url: metadata.tokenEndpoint, requests, server, client, authentication, secrets };
    // Discovery has checked the endpoints: http is only for an issuer on this machine.
    openid.allowInsecureRequests(configuration);
    const userinfoUrl = metadata.userinfoEndpoint && new URL(metadata.userinfoEndpoint).href;
    configuration[openid.customFetch] = (url, { method, headers, body }) => {
      const endpoint = url === userinfoUrl ? "userinfo" : "pushed_request";
      return requests.send(endpoint, url, { method, headers, ...bodyOf(body) });
    };
    return new OidcClient(openid, configuration, tokenEndpoint, metadata);
  }

  /** @returns the PKCE code challenge S256 of a verifier */
  challengeOf(verifier: string): Promise<string> {
    return this.openid.calculatePKCECodeChallenge(verifier);
  }

  /** @returns the link to the authorization endpoint @throws DomainError of `fromLibrary` */
  async authorizationUrl(parameters: Readonly<Record<string, string>>): Promise<string> {
    const { requiresPushedRequests, pushedRequestEndpoint } = this.metadata;
    const isPushed = requiresPushedRequests && pushedRequestEndpoint !== undefined;
    const build = isPushed ? this.openid.buildAuthorizationUrlWithPAR : this.openid.buildAuthorizationUrl;
    return await this.#translated(async () => (await build(this.configuration, { ...parameters })).href);
  }

  /** @returns the tokens for the code of a callback @throws DomainError of `redeemCode` */
  redeem(code: CodeToRedeem): Promise<Redeemed> {
    return redeemCode(this.tokenEndpoint, code);
  }

  /**
   * Redeems an invented code.
   * @throws DomainError `sso.code_rejected` if the provider knows this client; others of `redeemCode`
   */
  async redeemNothing(redirectUri: string): Promise<void> {
    await this.redeem({ code: "quartermaster-sso-verify", redirectUri, verifier: NO_VERIFIER });
  }

  /** @returns the claims of userinfo, whose `sub` is the same @throws DomainError of `fromLibrary` */
  userinfo({ accessToken }: Redeemed, subject: string): Promise<Readonly<Record<string, unknown>>> {
    const fetched = () => this.openid.fetchUserInfo(this.configuration, accessToken, subject);
    return this.#translated(fetched, [accessToken]);
  }

  /** @returns the link that ends the session at the provider (OpenID Connect RP-Initiated Logout 1.0) */
  endSessionUrl(parameters: Readonly<Record<string, string>>): string {
    return this.openid.buildEndSessionUrl(this.configuration, { ...parameters }).href;
  }

  /** @param secrets secrets that are sent in addition to this service's credential */
  async #translated<T>(work: () => Promise<T>, secrets: readonly string[] = []): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw fromLibrary(error, [...this.tokenEndpoint.secrets, ...secrets]);
    }
  }
}

/** As long as a real code. */
const NO_VERIFIER = "0".repeat(43);

/** The library sends only forms, and requests without a body. */
const bodyOf = (body: unknown): { body?: string } =>
  body instanceof URLSearchParams ? { body: body.toString() } : {};
