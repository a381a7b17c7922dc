// The headers for the upstream: those of the client, byte for byte, except hop-by-hop headers, the sender's address, attribution,
// and every header that can carry a credential. One credential is added: the user's gateway key.
import type { Admitted } from "../../../domain/inference/admission/admission.ts";
import { ATTRIBUTION_PREFIXES } from "../../../domain/inference/bodies/attribution.ts";
import type { IdentityFact, ProxySettings } from "../../../domain/inference/settings.ts";

const HOP_BY_HOP = [
  "connection",
  "keep-alive",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
  "http2-settings",
];
const ORIGIN_OF_REQUEST = [
  "host",
  "cookie",
  "cookie2",
  "forwarded",
  "x-real-ip",
  "x-client-ip",
  "true-client-ip",
  "cf-connecting-ip",
  "via",
];
/** The names under which gateways and providers usually accept a key. */
export const CREDENTIAL_CARRIERS = [
  "authorization",
  "x-api-key",
  "api-key",
  "x-goog-api-key",
  "xi-api-key",
  "x-litellm-api-key",
  "x-litellm-key",
  "x-auth-token",
  "ocp-apim-subscription-key",
] as const;

const DROPPED: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...ORIGIN_OF_REQUEST,
  ...CREDENTIAL_CARRIERS,
  "expect", // the runtime has already answered 100
  "accept-encoding", // answers come plain, so that their usage can be read
  "content-length", // set again where the length is known
]);
const DROPPED_PREFIXES = ["proxy-", "x-forwarded-", ...ATTRIBUTION_PREFIXES] as const;

/** @source W3C Trace Context, section 3.2 */
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?$/;
/** Sent if the client has no user agent, because the runtime would send its own. */
const USER_AGENT = "quartermaster";

type Settings = Pick<ProxySettings, "credentialHeader" | "identityHeaders">;

/** @returns the function that builds the headers of one request, without its credential; created once */
export function createRequestHeaders({ identityHeaders }: Settings) {
  const dropped = new Set([...DROPPED, ...identityHeaders.values()]);
  return (given: Headers, admitted: Admitted): Record<string, string> => {
    const listed = namesIn(given.get("connection"));
    const headers: Record<string, string> = { "user-agent": USER_AGENT };
    given.forEach((value, name) => {
      if (dropped.has(name) || listed?.has(name) || hasDroppedPrefix(name)) return;
      if (name === "traceparent" && !TRACEPARENT.test(value)) return;
      headers[name] = value;
    });
    for (const [fact, name] of identityHeaders) {
      const value = factOf(fact, admitted);
      if (value !== null) headers[name] = value;
    }
    return headers;
  };
}

/** Adds the user's gateway key to the headers, replacing an earlier one. */
export function addCredential(
  headers: Record<string, string>,
  { credentialHeader: name }: Settings,
  { credential }: Pick<Admitted, "credential">,
): void {
  headers[name] = name === "x-api-key" ? credential.reveal() : `Bearer ${credential.reveal()}`;
}

/** @returns the lowercase names in a Connection header; undefined if none is relevant */
export function namesIn(connection: string | null): ReadonlySet<string> | undefined {
  if (connection === null || connection === "keep-alive" || connection === "close") return undefined;
  return new Set(connection.split(",").map((name) => name.trim().toLowerCase()));
}

/** Most names begin with neither letter. */
function hasDroppedPrefix(name: string): boolean {
  if (name.startsWith("x-") || name.startsWith("p"))
    for (const prefix of DROPPED_PREFIXES) if (name.startsWith(prefix)) return true;
  return false;
}

function factOf(fact: IdentityFact, admitted: Admitted): string | null {
  const facts: Readonly<Record<IdentityFact, string | null>> = {
    user_id: admitted.userId,
    organization_id: admitted.organizationId,
    gateway_session_id: admitted.gatewaySessionId,
    login_session_id: admitted.loginSessionId,
    profile_id: admitted.profileId,
    profile_name: admitted.profileName,
  };
  const value = facts[fact];
  return value !== null && /[^\x20-\x7e]/.test(value) ? encodeURIComponent(value) : value;
}
