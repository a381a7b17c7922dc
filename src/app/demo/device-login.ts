// The device flow of a simulated workstation: discovery, device code, polling, and renewal of the tokens. The user approves in
// demo-user.ts.
import { setTimeout as sleep } from "node:timers/promises";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { DEVICE_CODE_GRANT, REFRESH_GRANT } from "../../domain/access/wire.ts";
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import { type DemoHttp, jsonOf } from "./http.ts";

const Discovery = Type.Object({
  control_api_url: Type.String(),
  oauth: Type.Object({ issuer: Type.String(), client_id: Type.String(), scopes: Type.Array(Type.String()) }),
});
const Metadata = Type.Object({
  device_authorization_endpoint: Type.String(),
  token_endpoint: Type.String(),
});
const DeviceCode = Type.Object({
  device_code: Type.String(),
  user_code: Type.String(),
  verification_uri_complete: Type.String(),
  interval: Type.Integer(),
});
const Tokens = Type.Object({
  access_token: Type.String(),
  refresh_token: Type.String(),
  expires_in: Type.Integer(),
});
const OAuthProblem = Type.Object({ error: Type.String() });

/** RFC 8628 section 3.5 */
const SLOW_DOWN_SECONDS = 5;
/** A token is renewed this long before it expires. */
const RENEW_BEFORE_MS = 60 * SECOND_MS;

/** The login was revoked, was refused, or has expired. The workstation must sign in again. */
export class LoginEnded extends Error {
  override readonly name = "LoginEnded";
}

export interface DeviceLoginParts {
  http: DemoHttp;
  clock: Clock;
  signal: AbortSignal;
  /** shows the code to the user, who approves it at the link */
  showCode(code: { userCode: string; link: string }): Promise<void>;
}

/** A workstation's own login. */
export class DeviceLogin {
  #accessToken: string;
  #refreshToken: string;
  #expiresAtMs: number;

  private constructor(
    private readonly parts: DeviceLoginParts,
    private readonly service: Service,
    tokens: Static<typeof Tokens>,
  ) {
    this.#accessToken = tokens.access_token;
    this.#refreshToken = tokens.refresh_token;
    this.#expiresAtMs = this.#expiryOf(tokens);
  }

  /**
   * Signs in.
   * @throws LoginEnded if the user refuses or the code expires
   * @source RFC 8628 sections 3.1 to 3.5
   */
  static async begin(parts: DeviceLoginParts): Promise<DeviceLogin> {
    const service = await discover(parts.http);
    const { http } = parts;
    const { clientId, scope, resource } = service;
    const request = { client_id: clientId, scope, resource };
    const code = await jsonOf(await http.sendForm(service.deviceEndpoint, request), DeviceCode);
    await parts.showCode({ userCode: code.user_code, link: code.verification_uri_complete });
    return new DeviceLogin(parts, service, await poll(parts, service, code));
  }

  /**
   * @returns an access token that is still valid for some time
   * @throws LoginEnded
   */
  async accessToken(): Promise<string> {
    if (this.parts.clock.nowMs() >= this.#expiresAtMs - RENEW_BEFORE_MS) await this.renew();
    return this.#accessToken;
  }

  /** @throws LoginEnded if the service no longer accepts the refresh token (RFC 6749 section 6) */
  async renew(): Promise<void> {
    const { http } = this.parts;
    const { clientId, resource, tokenEndpoint } = this.service;
    const fields = { grant_type: REFRESH_GRANT, refresh_token: this.#refreshToken, resource };
    const response = await http.sendForm(tokenEndpoint, { ...fields, client_id: clientId });
    if (response.status === 400) throw new LoginEnded(await errorIn(response));
    const tokens = await jsonOf(response, Tokens);
    this.#accessToken = tokens.access_token;
    this.#refreshToken = tokens.refresh_token;
    this.#expiresAtMs = this.#expiryOf(tokens);
  }

  #expiryOf({ expires_in: seconds }: Static<typeof Tokens>): number {
    return this.parts.clock.nowMs() + seconds * SECOND_MS;
  }
}

interface Service {
  clientId: string;
  scope: string;
  /** RFC 8707 */
  resource: string;
  deviceEndpoint: string;
  tokenEndpoint: string;
}

/** Discovers all endpoints from the origin, like a workstation. */
async function discover(http: DemoHttp): Promise<Service> {
  const { control_api_url, oauth } = await jsonOf(await http.send("/.well-known/metaharness"), Discovery);
  const { origin, pathname } = new URL(oauth.issuer);
  // RFC 8414 section 3.1
  const metadata = await jsonOf(
    await http.send(`${origin}/.well-known/oauth-authorization-server${pathname}`),
    Metadata,
  );
  return {
    clientId: oauth.client_id,
    scope: oauth.scopes.join(" "),
    resource: control_api_url,
    deviceEndpoint: metadata.device_authorization_endpoint,
    tokenEndpoint: metadata.token_endpoint,
  };
}

async function poll(
  { http, signal }: DeviceLoginParts,
  { clientId, resource, tokenEndpoint }: Service,
  { device_code, interval }: Static<typeof DeviceCode>,
): Promise<Static<typeof Tokens>> {
  const fields = { grant_type: DEVICE_CODE_GRANT, device_code, client_id: clientId, resource };
  for (let seconds = interval; ; ) {
    await sleep(seconds * SECOND_MS, undefined, { signal });
    const response = await http.sendForm(tokenEndpoint, fields);
    if (response.status !== 400) return await jsonOf(response, Tokens);
    const error = await errorIn(response);
    if (error === "slow_down") seconds += SLOW_DOWN_SECONDS;
    else if (error !== "authorization_pending") throw new LoginEnded(error);
  }
}

/** @returns the error code of RFC 6749 section 5.2 */
async function errorIn(response: Response): Promise<string> {
  const body: unknown = await response.json();
  Value.Assert(OAuthProblem, body);
  return body.error;
}
