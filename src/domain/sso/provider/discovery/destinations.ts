// The origins of a provider, for the list of outgoing connections. It omits the authorization and logout endpoints, which only
// browsers visit.
import type { Destination } from "../../../../platform/outbound/outbound.ts";
import type { ProviderMetadata } from "./metadata.ts";

/** Name of the issuer in the list; the names of its endpoints begin with it. */
export const PROVIDER_DESTINATION = "identity-provider";

/**
 * @param metadata undefined before the first discovery
 * @returns each origin once
 */
export function destinationsOf(
  issuer: string,
  metadata: ProviderMetadata | undefined,
): readonly Destination[] {
  const found: readonly (readonly [name: string, url: string | undefined, why: string])[] = [
    [PROVIDER_DESTINATION, issuer, "publishes the endpoints for company sign-in"],
    [`${PROVIDER_DESTINATION}-token`, metadata?.tokenEndpoint, "redeems the codes of company sign-in"],
    [`${PROVIDER_DESTINATION}-keys`, metadata?.keysEndpoint, "publishes the keys of the provider's tokens"],
    [`${PROVIDER_DESTINATION}-userinfo`, metadata?.userinfoEndpoint, "returns claims that its tokens lack"],
    [`${PROVIDER_DESTINATION}-requests`, metadata?.pushedRequestEndpoint, "takes authorization requests"],
  ];
  const origins = new Map<string, Destination>();
  for (const [name, url, why] of found) {
    if (url === undefined) continue;
    const { origin } = new URL(url);
    if (!origins.has(origin)) origins.set(origin, { name, origin, why });
  }
  return [...origins.values()];
}

/**
 * @param metadata asked at every call
 * @returns a function for the current destinations, which are computed once for each discovery document
 */
export function knownDestinations(
  issuer: string,
  metadata: () => ProviderMetadata | undefined,
): () => readonly Destination[] {
  let of: ProviderMetadata | undefined;
  let known = destinationsOf(issuer, of);
  return () => {
    const current = metadata();
    if (current !== of) known = destinationsOf(issuer, current);
    of = current;
    return known;
  };
}
