// Parameter checks that the OAuth endpoints share: the client, the resource, required parameters. device-logins.ts and grants.ts
// implement the endpoints.
import { OAuthError } from "../errors.ts";
import { OAUTH_CLIENT_ID } from "../wire.ts";

/**
 * @returns the id of the only OAuth client
 * @throws OAuthError `invalid_request` if it is missing, `invalid_client` if it is unknown
 * @source RFC 6749 sections 3.2.1 and 5.2
 */
export function requireClient(clientId: string | undefined): string {
  if (!clientId) throw missing("client_id");
  if (clientId !== OAUTH_CLIENT_ID) throw unknownClient();
  return clientId;
}

/**
 * A missing client and an unknown client give the same error where identification is required.
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

/** The parameter `resource`: absent, given once, or given several times. */
export type RequestedResource = string | readonly string[] | undefined;

/**
 * @param allowed the only valid resource
 * @returns the resource; clients without RFC 8707 omit it
 * @throws OAuthError `invalid_target`
 * @source RFC 8707 section 2
 */
export function requireResource(resource: RequestedResource, allowed: string): string {
  const requested = typeof resource === "string" ? [resource] : (resource ?? []);
  if (requested.every((value) => value === "" || value === allowed)) return allowed;
  throw new OAuthError("invalid_target", `this resource is not served here; use ${allowed} or leave it out`);
}
