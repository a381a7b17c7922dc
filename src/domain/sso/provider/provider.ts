// The protocol of sign-in at the identity provider (OpenID Connect Core 1.0, code flow with PKCE), from the link to verified
// claims. admission/ decides about accounts. The settings may be replaced at run time.
import type { Clock } from "../../../platform/clock.ts";
import type { Db } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { Destination, Outbound } from "../../../platform/outbound/outbound.ts";
import type { SsoObserver } from "../dependencies.ts";
import { ssoReasonOf } from "../errors.ts";
import { isReportedByBrowser, type SsoReason, type VerifiedClaims } from "../model.ts";
import type { CurrentSsoSettings, SsoSettings } from "../settings.ts";
import { authorizationParameters, type SignInRequest, usableHint } from "./client/authorization.ts";
import { readCode } from "./client/callback.ts";
import { type Attempt, OidcClient } from "./client/oidc-client.ts";
import { completedClaims, isComplete } from "./client/userinfo.ts";
import { knownDestinations } from "./discovery/destinations.ts";
import { Discovery } from "./discovery/discovery.ts";
import type { ProviderMetadata } from "./discovery/metadata.ts";
import { notConfigured } from "./failures.ts";
import { type ProviderRecord, ProviderRecords } from "./provider-records.ts";
import { ProviderRequests } from "./provider-requests.ts";
import { verifyIdToken } from "./tokens/id-token.ts";
import { type LogoutToken, verifyLogoutToken } from "./tokens/logout-token.ts";
import { ProviderKeys } from "./tokens/provider-keys.ts";
import type { TokenChecks } from "./tokens/token-checks.ts";

const SECRET_BYTES = 32;

export interface ProviderDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  outbound: Pick<Outbound, "fetch">;
  settings: CurrentSsoSettings;
  observeSso?: SsoObserver | undefined;
  /** for each request to the provider; default: RESPONSE_TIMEOUT_MS */
  responseTimeoutMs?: number | undefined;
}

export interface SignInResponse {
  redirectUri: string;
  /** query of the callback */
  query: URLSearchParams;
  attempt: Attempt;
}

/** One configured provider, and the facts about it. A reload of the settings creates a new one. */
export interface Connection {
  settings: SsoSettings;
  requests: ProviderRequests;
  discovery: Discovery;
  destinations: () => readonly Destination[];
  keys: ProviderKeys;
  records: ProviderRecords;
  client: { metadata: ProviderMetadata; made: Promise<OidcClient> } | undefined;
}

export class Provider {
  #connection: Connection | undefined;

  constructor(private readonly parts: ProviderDependencies) {}

  /**
   * @returns the link for the browser, and the values that it must bring back
   * @throws DomainError `sso.*`, of failures.ts
   */
  begin(request: SignInRequest): Promise<{ url: string; attempt: Attempt }> {
    return this.#recorded(async (connection) => {
      const secrets = { state: this.#secret(), nonce: this.#secret(), verifier: this.#secret() };
      const attempt = { ...secrets, ...(request.isForced && { forcedAtMs: this.parts.clock.nowMs() }) };
      const client = await clientOf(connection);
      const challenge = await client.challengeOf(attempt.verifier);
      const parameters = authorizationParameters(connection.settings, { ...request, attempt, challenge });
      return { url: await client.authorizationUrl(parameters), attempt };
    });
  }

  /**
   * Redeems the code of the callback and verifies the ID token.
   * @returns its claims, completed by userinfo if the rules need more
   * @throws DomainError `sso.*`, of failures.ts
   */
  complete({ redirectUri, query, attempt }: SignInResponse): Promise<VerifiedClaims> {
    return this.#recorded(async (connection) => {
      const metadata = await connection.discovery.get();
      const code = readCode(query, attempt.state, metadata);
      const client = await clientOf(connection);
      const redeemed = await client.redeem({ code, redirectUri, verifier: attempt.verifier });
      const claims = await verifyIdToken(redeemed.idToken, attempt, this.#checks(connection));
      const isEnough = metadata.userinfoEndpoint === undefined || isComplete(claims, connection.settings);
      return isEnough ? claims : completedClaims(claims, await client.userinfo(redeemed, claims.sub));
    });
  }

  /** @returns a verified logout token, which may have been used before @throws DomainError `sso.*` */
  readLogoutToken(token: string): Promise<LogoutToken> {
    return this.#connected((connection) => verifyLogoutToken(token, this.#checks(connection)));
  }

  /**
   * @returns the link that ends the session at the provider; undefined if it offers none
   * @throws DomainError `sso.*`, of failures.ts
   */
  endSessionUrl({
    postLogoutRedirectUri,
    loginHint,
  }: {
    postLogoutRedirectUri: string;
    loginHint?: string | undefined;
  }): Promise<string | undefined> {
    return this.#connected(async (connection) => {
      const { endSessionEndpoint } = await connection.discovery.get();
      if (endSessionEndpoint === undefined) return undefined;
      const client = await clientOf(connection);
      const parameters = { post_logout_redirect_uri: postLogoutRedirectUri };
      const hint = usableHint(loginHint);
      return client.endSessionUrl({ ...parameters, ...(hint !== undefined && { logout_hint: hint }) });
    });
  }

  /** Call it after a sign-in succeeded: clears `last_error_reason`. */
  async noteSuccess(): Promise<void> {
    if (this.parts.settings()) await this.connection().records.noteSuccess();
  }

  /** Shows an operator why sign-ins are refused by a rule, in `last_error_reason`. */
  async noteRefusal(reason: string): Promise<void> {
    if (this.parts.settings()) await this.connection().records.noteError(reason);
  }

  /** @returns the last record; undefined without a provider */
  record(): ProviderRecord | undefined {
    return this.parts.settings() ? this.connection().records.read() : undefined;
  }

  /** @returns the known destinations for platform/outbound; none without a provider */
  destinations(): readonly Destination[] {
    return this.parts.settings() ? this.connection().destinations() : [];
  }

  /** Age of the keys in milliseconds; undefined before the first keys. */
  get keysAgeMs(): number | undefined {
    return this.#connection?.keys.ageMs;
  }

  #secret = (): string => Buffer.from(this.parts.ids.bytes(SECRET_BYTES)).toString("base64url");

  #checks({ settings, keys, requests }: Connection): TokenChecks {
    const nowMs = this.parts.clock.nowMs();
    return { settings, keys, nowMs, clockOffsetMs: requests.clockOffsetMs };
  }

  async #connected<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    return await work(this.connection());
  }

  /** Like `#connected`, and reports why the sign-in failed. */
  async #recorded<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const connection = this.connection();
    try {
      return await work(connection);
    } catch (error) {
      const reason = ssoReasonOf(error);
      if (reason !== undefined) {
        this.parts.observeSso?.ended(reason);
        if (MAY_HAVE_MOVED.has(reason)) connection.discovery.doubt();
        if (isReportedByBrowser(reason)) await connection.records.noteReport(reason);
        else if (!NOT_ABOUT_PROVIDER.has(reason)) await connection.records.noteError(reason);
      }
      throw error;
    }
  }

  /** @returns the parts, which `sso verify` checks one by one @throws DomainError `sso.not_configured` */
  connection(): Connection {
    const settings = this.parts.settings();
    if (!settings) throw notConfigured();
    if (this.#connection?.settings !== settings) this.#connection = this.#connect(settings);
    return this.#connection;
  }

  #connect(settings: SsoSettings): Connection {
    const { clock } = this.parts;
    const { issuer, ca } = settings;
    const records = new ProviderRecords(this.parts, issuer);
    const destinations = knownDestinations(issuer, () => discovery.peek());
    const requests = new ProviderRequests(this.parts, { ca, destinations });
    const discovery = new Discovery({ issuer, clock, requests, store: records.metadata });
    const loadKeys = async () => {
      const { keysEndpoint } = await discovery.get();
      return (await requests.json("keys", keysEndpoint)).members;
    };
    const keys = new ProviderKeys(clock, loadKeys);
    return { settings, requests, discovery, destinations, keys, records, client: undefined };
  }
}

/** One client for each discovery document. */
async function clientOf(connection: Connection): Promise<OidcClient> {
  const metadata = await connection.discovery.get();
  if (connection.client?.metadata !== metadata) {
    const { settings, requests } = connection;
    connection.client = { metadata, made: OidcClient.create({ metadata, settings, requests }) };
  }
  return await connection.client.made;
}

/** Failures after the provider moved an endpoint: a refused connection, an error page, or the JSON of another program. */
const MAY_HAVE_MOVED: ReadonlySet<SsoReason> = new Set([
  "sso.provider_unreachable",
  "sso.provider_invalid",
  "sso.provider_error",
]);

/** Errors caused by the browser or the person do not count as failures of the provider. */
const NOT_ABOUT_PROVIDER: ReadonlySet<SsoReason> = new Set([
  "sso.state",
  "sso.cancelled",
  "sso.interaction_required",
  "sso.code_rejected",
]);
