// Checks that the OAuth endpoints share: the client, the resource, a parameter that must be there. One per sentence of
// the standards; what the endpoints then do is in device-logins.ts and grants.ts.
import { OAuthError } from "../errors.ts";
import { OAUTH_CLIENT_ID } from "../wire.ts";

/**
 * @returns the id of the one OAuth client
 * @throws OAuthError `invalid_request` when it is missing, `invalid_client` when it is unknown
 * @source RFC 6749 sections 3.2.1 and 5.2
 */
export function requireClient(clientId: string | undefined): string {
  if (!clientId) throw missing("client_id");
  if (clientId !== OAUTH_CLIENT_ID) throw unknownClient();
  return clientId;
}

/**
 * A missing and an unknown client are one thing where the client must be identified.
 * @throws OAuthError `invalid_client`, unauthenticated
 * @source RFC 7009 section 2.1
 */
export function requireIdentifiedClient(clientId: string | undefined): string {
  if (clientId !== OAUTH_CLIENT_ID) throw unknownClient("unauthenticated");
  return clientId;
}

const unknownClient = (kind: "invalid" | "unauthenticated" = "invalid") =>
  new OAuthError("invalid_client", `this OAuth client is unknown; use ${OAUTH_CLIENT_ID}`, { kind });

export function requireParameter(name: string, value: string | undefined): string {
  if (!value) throw missing(name);
  return value;
}

const missing = (name: string) => new OAuthError("invalid_request", `the parameter ${name} is missing`);

/** The parameter `resource`: left out, given once, or given several times. */
export type RequestedResource = string | readonly string[] | undefined;

/**
 * @param allowed the one resource there is, or the one that was granted
 * @returns the resource; clients that do not know RFC 8707 leave it out
 * @throws OAuthError `invalid_target`
 * @source RFC 8707 section 2
 */
export function requireResource(resource: RequestedResource, allowed: string): string {
  const requested = typeof resource === "string" ? [resource] : (resource ?? []);
  if (requested.every((value) => value === "" || value === allowed)) return allowed;
  throw new OAuthError("invalid_target", `this resource is not served here; use ${allowed} or leave it out`);
}
