// The discovery document of a provider (OpenID Connect Discovery 1.0 section 3): the members that are read, and the errors that
// make it unusable. A document with any error is not used at all.
import { isLoopbackHost } from "../../../../platform/config/addresses.ts";
import type { JsonObject } from "../../../../platform/json/json-object.ts";
import { isLinkLocalAddress } from "../../../../platform/outbound/public-hosts.ts";
import { forLog, providerInvalid } from "../failures.ts";

export interface ProviderMetadata {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  keysEndpoint: string;
  userinfoEndpoint: string | undefined;
  endSessionEndpoint: string | undefined;
  pushedRequestEndpoint: string | undefined;
  requiresPushedRequests: boolean;
  /** whether the callback always has `iss` (RFC 9207) */
  namesIssuer: boolean;
  /** undefined if the document does not say */
  challengeMethods: readonly string[] | undefined;
  tokenAlgorithms: readonly string[] | undefined;
  clientMethods: readonly string[] | undefined;
  clientAlgorithms: readonly string[] | undefined;
  /** claims that the provider can send; the list may be incomplete */
  claims: readonly string[] | undefined;
}

export const ENDPOINT_LENGTH_MAX = 2_000;
/** Maximum number of list entries to read. */
export const LIST_MAX = 100;

/**
 * @param issuer as configured; compared exactly (OpenID Connect Discovery 1.0 section 4.3)
 * @throws DomainError `sso.provider_invalid`
 */
export function readMetadata(document: JsonObject, issuer: string): ProviderMetadata {
  if (document.issuer !== issuer)
    throw providerInvalid(
      `discovery: the issuer is ${forLog(String(document.issuer))}, not ${issuer}`,
      "issuer",
    );
  const optional = (name: string) => endpoint(document, name, issuer);
  const needed = (name: string): string => {
    const url = optional(name);
    if (url === undefined) throw providerInvalid(`discovery: ${name} is missing`, "endpoint");
    return url;
  };
  return {
    issuer,
    authorizationEndpoint: needed("authorization_endpoint"),
    tokenEndpoint: needed("token_endpoint"),
    keysEndpoint: needed("jwks_uri"),
    userinfoEndpoint: optional("userinfo_endpoint"),
    endSessionEndpoint: optional("end_session_endpoint"),
    pushedRequestEndpoint: optional("pushed_authorization_request_endpoint"),
    requiresPushedRequests: document.require_pushed_authorization_requests === true,
    namesIssuer: document.authorization_response_iss_parameter_supported === true,
    challengeMethods: texts(document.code_challenge_methods_supported),
    tokenAlgorithms: texts(document.id_token_signing_alg_values_supported),
    clientMethods: texts(document.token_endpoint_auth_methods_supported),
    clientAlgorithms: texts(document.token_endpoint_auth_signing_alg_values_supported),
    claims: texts(document.claims_supported),
  };
}

/** @returns where the document is (OpenID Connect Discovery 1.0 section 4.1) */
export const discoveryUrl = (issuer: string): string =>
  `${issuer.replace(/\/$/, "")}/.well-known/openid-configuration`;

function endpoint(document: JsonObject, name: string, issuer: string): string | undefined {
  const value = document[name];
  if (value === undefined || value === null) return undefined;
  const problem = typeof value === "string" ? endpointProblem(value, issuer) : "is not a text";
  if (problem === undefined) return String(value);
  throw providerInvalid(`discovery: ${name} ${problem}: ${forLog(String(value))}`, "endpoint");
}

/** @returns what is wrong with an endpoint */
function endpointProblem(text: string, issuer: string): string | undefined {
  const url = URL.parse(text);
  if (!url || text.length > ENDPOINT_LENGTH_MAX) return "is not a URL";
  if (url.username !== "" || url.password !== "" || url.hash !== "") return "has credentials or a fragment";
  const isLocal = url.protocol === "http:" && issuer.startsWith("http:") && isLoopbackHost(url.hostname);
  if (url.protocol !== "https:" && !isLocal) return "is not https";
  if (isLinkLocalAddress(url.hostname)) return "leads to a link-local address";
  return undefined;
}

const texts = (value: unknown): string[] | undefined =>
  Array.isArray(value) ? value.slice(0, LIST_MAX).filter((entry) => typeof entry === "string") : undefined;
