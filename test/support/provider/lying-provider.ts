// A small identity provider on this machine (OpenID Connect Core 1.0, code flow with PKCE) that signs everybody in
// without a question and can lie on request in every way that a relying party must detect. `faults` and `claims` may
// change between requests.
import { createHash, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { jwtVerify } from "jose";
import type { ClientCredential, SsoSettings } from "../../../src/domain/sso/settings.ts";
import { Secret } from "../../../src/platform/secret.ts";
import { type Faults, overridden, spoil } from "./faults.ts";
import { ProviderKeys, type TokenAlgorithm } from "./provider-keys.ts";

export const CLIENT_ID = "quartermaster";
export const CLIENT_SECRET = "a+secret/of the client:0123456789";

/** The person that the provider signs in by default. */
export const ADA = {
  sub: "ada-1",
  email: "ada@example.com",
  email_verified: true,
  name: "Ada Example",
} as const;

export interface LyingProviderOptions {
  /** claims of the person; ADA by default */
  claims?: Record<string, unknown>;
  faults?: Faults;
  /** time of the provider, in UTC milliseconds; the system's by default */
  nowMs?: () => number;
  algorithm?: TokenAlgorithm;
  /** path of the issuer, such as `/tenant`; none by default */
  path?: string;
  /** the public key that `private_key_jwt` is verified with */
  clientKey?: CryptoKey;
}

interface Code {
  parameters: URLSearchParams;
  claims: Record<string, unknown>;
}

type Members = Record<string, unknown>;

const TOKEN_SECONDS = 300;

export class LyingProvider implements AsyncDisposable {
  claims: Record<string, unknown>;
  faults: Faults;
  /** `METHOD /path` of the requests, oldest first */
  requests: string[] = [];
  /** issued access tokens and ID tokens, oldest first */
  readonly tokens: string[] = [];
  /** whether authorization requests must be pushed first (RFC 9126) */
  requiresPushed = false;
  /** claims that only the userinfo endpoint returns */
  userinfo: Record<string, unknown> = {};
  /** time from the head of each request until its response was passed to the runtime, in milliseconds, summed */
  answeringMs = 0;
  readonly keys: ProviderKeys;
  readonly #codes = new Map<string, Code>();
  readonly #pushed = new Map<string, URLSearchParams>();
  readonly #subjects = new Map<string, unknown>();
  readonly #server: Server;
  readonly #path: string;
  readonly #nowMs: () => number;
  readonly #clientKey: CryptoKey | undefined;

  constructor(options: LyingProviderOptions) {
    this.claims = options.claims ?? { ...ADA };
    this.faults = options.faults ?? {};
    this.keys = new ProviderKeys(options.algorithm ?? "ES256");
    this.#path = options.path ?? "";
    this.#nowMs = options.nowMs ?? Date.now;
    this.#clientKey = options.clientKey;
    this.#server = createServer(async (request, response) => {
      const startMs = performance.now();
      await this.#serve(request, response);
      this.answeringMs += performance.now() - startMs;
    });
  }

  async listen(): Promise<this> {
    const listening = Promise.withResolvers<void>();
    this.#server.listen(0, "127.0.0.1", listening.resolve);
    await listening.promise;
    return this;
  }

  get origin(): string {
    const address = this.#server.address();
    if (typeof address !== "object" || address === null) throw new Error("the provider does not listen");
    return `http://127.0.0.1:${address.port}`;
  }

  get issuer(): string {
    return `${this.origin}${this.#path}`;
  }

  /** @returns settings of a relying party that this provider knows */
  settings(members: Partial<SsoSettings> = {}): SsoSettings {
    return { ...SETTINGS, issuer: this.issuer, ...members };
  }

  /**
   * Acts like the browser: follows the link to the authorization endpoint, where the provider signs the person in.
   * @returns the query of the callback
   */
  async authorize(url: string | URL): Promise<URLSearchParams> {
    const response = await fetch(url, { redirect: "manual" });
    const location = response.headers.get("location");
    if (location === null)
      throw new Error(`the provider answered ${response.status}: ${await response.text()}`);
    return new URL(location).searchParams;
  }

  /** @returns a logout token (OpenID Connect Back-Channel Logout 1.0 section 2.4) with these additional or changed claims */
  async logoutToken(claims: Members = {}, header: Members = {}): Promise<string> {
    const honest = {
      ...this.#timed(),
      jti: randomUUID(),
      sub: this.claims.sub,
      events: { "http://schemas.openid.net/event/backchannel-logout": {} },
    };
    const faults = { ...this.faults, header: { ...this.faults.header, ...header } };
    const options = { typ: "logout+jwt", faults, secret: CLIENT_SECRET };
    return await this.keys.sign(overridden(honest, claims), options);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = Promise.withResolvers<void>();
    this.#server.close(() => closed.resolve());
    this.#server.closeAllConnections();
    await closed.promise;
  }

  #nowSeconds = (): number => Math.floor(this.#nowMs() / 1000);

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.origin);
    const path = url.pathname.slice(this.#path.replace(/\/$/, "").length);
    this.requests.push(`${request.method} ${path}`);
    if (this.faults.hidesTime) response.sendDate = false;
    else response.setHeader("date", new Date(this.#nowMs()).toUTCString());
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = new URLSearchParams(Buffer.concat(chunks).toString());
    const fault = this.#faultOf(path);
    if (fault && fault !== "missing") return spoil(response, fault);
    const [answered, members] = await this.#answer(path, { url, body, request });
    const status = fault === "missing" ? 404 : answered;
    if (status === 303) return void response.writeHead(303, { location: String(members.location) }).end();
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(members));
  }

  #faultOf(path: string) {
    const { discovery, keys, token, userinfo } = this.faults;
    return {
      "/.well-known/openid-configuration": discovery,
      "/jwks": keys,
      "/token": token,
      "/userinfo": userinfo,
    }[path];
  }

  async #answer(
    path: string,
    { url, body, request }: { url: URL; body: URLSearchParams; request: IncomingMessage },
  ): Promise<[status: number, members: Members]> {
    switch (path) {
      case "/.well-known/openid-configuration":
        return [200, this.#metadata()];
      case "/jwks":
        return [200, overridden({ ...(await this.keys.published()) }, this.faults.keySet)];
      case "/authorize":
        return this.#authorize(url.searchParams);
      case "/par":
        return (await this.#isClient(request, body)) ? this.#push(body) : INVALID_CLIENT;
      case "/token":
        return (await this.#isClient(request, body)) ? await this.#redeem(body) : INVALID_CLIENT;
      case "/userinfo":
        return this.#userinfo(request);
      default:
        return [404, { error: "not_found" }];
    }
  }

  #metadata(): Members {
    const at = (path: string) => `${this.issuer.replace(/\/$/, "")}${path}`;
    const honest = {
      issuer: this.issuer,
      authorization_endpoint: at("/authorize"),
      token_endpoint: at("/token"),
      jwks_uri: at("/jwks"),
      userinfo_endpoint: at("/userinfo"),
      end_session_endpoint: at("/logout"),
      pushed_authorization_request_endpoint: at("/par"),
      require_pushed_authorization_requests: this.requiresPushed,
      response_types_supported: ["code"],
      subject_types_supported: ["public"],
      claims_supported: ["sub", "iss", "auth_time", "email", "email_verified", "groups"],
      id_token_signing_alg_values_supported: [this.keys.algorithm],
      code_challenge_methods_supported: ["S256"],
      token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "private_key_jwt"],
      authorization_response_iss_parameter_supported: true,
    };
    return overridden(honest, this.faults.metadata);
  }

  #authorize(sent: URLSearchParams): [number, Members] {
    const parameters = this.#pushed.get(sent.get("request_uri") ?? "") ?? sent;
    const callback = URL.parse(parameters.get("redirect_uri") ?? "");
    if (!callback || sent.get("client_id") !== CLIENT_ID) return [400, { error: "invalid_request" }];
    const code = randomUUID();
    this.#codes.set(code, { parameters, claims: { ...this.claims } });
    const honest = { code, state: parameters.get("state"), iss: this.issuer };
    for (const [name, value] of Object.entries(overridden(honest, this.faults.callback)))
      callback.searchParams.set(name, String(value));
    return [303, { location: callback.href }];
  }

  #push(body: URLSearchParams): [number, Members] {
    const uri = `urn:ietf:params:oauth:request_uri:${randomUUID()}`;
    this.#pushed.set(uri, body);
    return [201, { request_uri: uri, expires_in: 60 }];
  }

  async #isClient({ headers }: IncomingMessage, body: URLSearchParams): Promise<boolean> {
    const assertion = body.get("client_assertion");
    if (assertion !== null && this.#clientKey) {
      // Like providers that do not know the names of RFC 9864.
      const algorithms = ["RS256", "PS256", "ES256", "EdDSA"];
      const rules = { issuer: CLIENT_ID, subject: CLIENT_ID, audience: this.issuer, algorithms };
      return await jwtVerify(assertion, this.#clientKey, rules).then(
        () => true,
        () => false,
      );
    }
    if (body.has("client_secret"))
      return body.get("client_id") === CLIENT_ID && body.get("client_secret") === CLIENT_SECRET;
    const [id, secret] = Buffer.from(headers.authorization?.split(" ")[1] ?? "", "base64")
      .toString()
      .split(":")
      .map((part) => new URLSearchParams(`part=${part}`).get("part"));
    return id === CLIENT_ID && secret === CLIENT_SECRET;
  }

  async #redeem(body: URLSearchParams): Promise<[number, Members]> {
    if (this.faults.tokenError !== undefined) return [400, this.#tokenError(this.faults.tokenError, body)];
    if (!URL.canParse(body.get("redirect_uri") ?? "")) return [400, { error: "invalid_request" }];
    const code = this.#codes.get(body.get("code") ?? "");
    this.#codes.delete(body.get("code") ?? "");
    if (!code || !isProved(code, body)) return [400, { error: "invalid_grant" }];
    const accessToken = randomUUID();
    this.#subjects.set(accessToken, code.claims.sub);
    const idToken = await this.#idToken(code);
    this.tokens.push(accessToken, idToken);
    const answer = {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: TOKEN_SECONDS,
      id_token: idToken,
    };
    return [200, overridden(answer, this.faults.tokenResponse)];
  }

  #tokenError(error: string, body: URLSearchParams): Members {
    if (!this.faults.repeatsSecrets) return { error };
    const secrets = [body.get("code"), CLIENT_SECRET, body.get("code_verifier")];
    return { error, error_description: `wrong: ${secrets.join(", ")}` };
  }

  #timed() {
    const iat = this.#nowSeconds();
    return { iss: this.issuer, aud: CLIENT_ID, iat, exp: iat + TOKEN_SECONDS };
  }

  async #idToken({ parameters, claims }: Code): Promise<string> {
    const timed = this.#timed();
    const honest = {
      ...timed,
      auth_time: timed.iat,
      nonce: parameters.get("nonce"),
      ...claims,
    };
    const options = { typ: "JWT", faults: this.faults, secret: CLIENT_SECRET };
    return await this.keys.sign(overridden(honest, this.faults.idToken), options);
  }

  #userinfo({ headers }: IncomingMessage): [number, Members] {
    const sub = this.#subjects.get(headers.authorization?.replace("Bearer ", "") ?? "");
    if (sub === undefined) return [401, { error: "invalid_token" }];
    return [200, overridden({ sub, ...this.userinfo }, this.faults.userinfoClaims)];
  }
}

const INVALID_CLIENT: [number, Members] = [401, { error: "invalid_client" }];

/** PKCE with S256 (RFC 7636 section 4.6), and the same redirect URI as before. */
function isProved({ parameters }: Code, body: URLSearchParams): boolean {
  const challenge = createHash("sha256")
    .update(body.get("code_verifier") ?? "")
    .digest("base64url");
  return (
    parameters.get("code_challenge") === challenge &&
    parameters.get("redirect_uri") === body.get("redirect_uri")
  );
}

/** Settings of a relying party, without an issuer. */
export const SETTINGS: SsoSettings = {
  issuer: "",
  clientId: CLIENT_ID,
  credential: { method: "client_secret_basic", secret: new Secret(CLIENT_SECRET) },
  providerId: "oidc",
  providerName: "Example ID",
  extraScopes: [],
  provisioning: "invited",
  trustEmail: false,
  externalIdClaim: undefined,
  groupsClaim: "groups",
  groupRoleMappings: new Map(),
  allowedGroups: [],
  allowedDomains: [],
  requiredClaims: new Map(),
  maxAgeSeconds: undefined,
  requireAcr: [],
  clockSkewSeconds: 60,
  reconfirmHours: 0,
  autoRedirect: false,
  logout: "local",
  logoutEndsGrants: false,
  ca: undefined,
};

/** @returns settings of a client that authenticates with this private key, in PEM */
export const withClientKey = (settings: SsoSettings, pem: string): SsoSettings => {
  const credential: ClientCredential = { method: "private_key_jwt", key: new Secret(pem) };
  return { ...settings, credential };
};

/** @returns a provider that listens on 127.0.0.1; `await using` stops it */
export const createLyingProvider = (options: LyingProviderOptions = {}): Promise<LyingProvider> =>
  new LyingProvider(options).listen();
