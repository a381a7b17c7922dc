// The token request, which redeems a code (RFC 6749 section 4.1.3). openid-client adds the credential of this service, but does
// not send the request: it would also check the ID token in the response, which is the task of id-token.ts.
import type { ClientAuth, ClientMetadata, ServerMetadata } from "openid-client";
import type { JsonObject } from "../../../../platform/json/json-object.ts";
import {
  callbackError,
  clientRejected,
  forLog,
  providerInvalid,
  tokenInvalid,
  withoutSecrets,
} from "../failures.ts";
import type { ProviderRequests } from "../provider-requests.ts";
import { refusalOf } from "./library-errors.ts";

export interface TokenEndpoint {
  url: string;
  requests: ProviderRequests;
  server: ServerMetadata;
  client: ClientMetadata;
  authentication: ClientAuth;
  /** the client secret, if there is one */
  secrets: readonly string[];
}

export interface CodeToRedeem {
  code: string;
  /** the same as in the link to the authorization endpoint */
  redirectUri: string;
  /** PKCE code verifier (RFC 7636) */
  verifier: string;
}

/** The unverified response of the token endpoint to a code. */
export interface Redeemed {
  accessToken: string;
  idToken: string;
}

const UNAUTHORIZED = 401;

/**
 * @throws DomainError `sso.code_rejected`, `sso.callback_error`, `sso.client_rejected`, `sso.provider_error`, `sso.token_invalid` without
 *   an ID token, those of ProviderRequests
 */
export async function redeemCode(
  { url, requests, server, client, authentication, secrets }: TokenEndpoint,
  { code, redirectUri, verifier }: CodeToRedeem,
): Promise<Redeemed> {
  const body = new URLSearchParams({
    grant_type: "authorization_code",
    code,
    redirect_uri: redirectUri,
    code_verifier: verifier,
  });
  const headers = new Headers({
    accept: "application/json",
    "content-type": "application/x-www-form-urlencoded",
  });
  await authentication(server, client, body, headers); // returns a promise for private_key_jwt, although its type is void
  const message = { method: "POST", headers, body: body.toString() };
  const { isOk, status, members } = await requests.object("token", url, message);
  if (!isOk) throw refused(status, members, [code, verifier, ...secrets]);
  return redeemedIn(members);
}

/** RFC 6749 section 5.2. Only the code comes from the browser, so a malformed request means a malformed code. */
function refused(status: number, { error, error_description }: JsonObject, secrets: readonly string[]) {
  if (error === "invalid_request")
    return callbackError(forLog(withoutSecrets(`${error}: ${error_description}`, secrets)));
  if (typeof error === "string" && error !== "") return refusalOf({ error, error_description }, secrets);
  return status === UNAUTHORIZED
    ? clientRejected("the status is 401")
    : providerInvalid(`token: the status is ${status}`);
}

/** RFC 6749 section 5.1, OpenID Connect Core 1.0 section 3.1.3.3. */
function redeemedIn({
  access_token: accessToken,
  token_type: type,
  id_token: idToken,
}: JsonObject): Redeemed {
  if (typeof accessToken !== "string" || accessToken === "")
    throw providerInvalid("token: access_token is missing");
  if (typeof type !== "string" || type.toLowerCase() !== "bearer")
    throw providerInvalid("token: token_type is not Bearer");
  if (typeof idToken !== "string" || idToken === "") throw tokenInvalid("id_token is missing");
  return { accessToken, idToken };
}
