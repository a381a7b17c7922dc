// Checks what clients read first: the discovery document, its issuer, and the time of the service.
import { ISSUER_PATH } from "../../domain/access/wire.ts";
import { type Clock, SECOND_MS } from "../../platform/clock.ts";
import { CLOCK_TOLERANCE_SECONDS } from "../../platform/crypto/signing.ts";
import { isJsonObject, type JsonObject } from "../../platform/json/json-object.ts";
import type { NamedServer, Reply } from "../../platform/outbound/named-server.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import { askJson, refusalText, textIn } from "./json-response.ts";

const DISCOVERY_PATH = "/.well-known/metaharness";
/** Clock difference that is worth a warning. The header Date has whole seconds. */
const CLOCK_DIFFERENCE_MIN_MS = 5 * SECOND_MS;

/** The members of the discovery document that clients use. */
export interface Discovery {
  controlApiUrl: string;
  issuer: string;
  clientId: string;
  scopes: readonly string[];
}

/** @param found receives the document if clients can use it */
export async function checkDiscovery(
  check: Check,
  server: NamedServer,
  found: Discovery[],
): Promise<Finding> {
  const response = await askJson(server, DISCOVERY_PATH);
  if (response.status !== 200)
    return check.failed(refusalText(response), "check the address: no Quartermaster service answers there");
  const { discovery, problems } = read(response.document);
  if (!discovery)
    return check.failed(
      `workstations cannot use ${DISCOVERY_PATH}: ${problems.join("; ")}`,
      "check the address: another program or another version answers there",
    );
  found.push(discovery);
  const { controlApiUrl } = discovery;
  if (controlApiUrl === server.origin.origin) return check.ok(`clients are sent to ${controlApiUrl}`);
  return check.failed(
    `workstations are sent to ${controlApiUrl}, not to ${server.origin.origin}`,
    `set server.public_url to ${server.origin.origin}, or give workstations ${controlApiUrl}`,
  );
}

function read(document: JsonObject): { discovery?: Discovery; problems: string[] } {
  const oauth = isJsonObject(document.oauth) ? document.oauth : {};
  const controlApiUrl = textIn(document, "control_api_url");
  const issuer = textIn(oauth, "issuer");
  const clientId = textIn(oauth, "client_id");
  const scopes = Array.isArray(oauth.scopes)
    ? oauth.scopes.filter((scope) => typeof scope === "string")
    : undefined;
  const problems = [
    ...(document.version === 1 ? [] : ["version is not 1"]),
    ...(URL.canParse(controlApiUrl ?? "") ? [] : ["control_api_url is not a URL"]),
    ...(URL.canParse(issuer ?? "") ? [] : ["oauth.issuer is not a URL"]),
    ...(clientId === undefined ? ["oauth.client_id is missing"] : []),
    ...(scopes === undefined ? ["oauth.scopes is missing"] : []),
  ];
  if (problems.length > 0 || !controlApiUrl || !issuer || !clientId || !scopes) return { problems };
  return { discovery: { controlApiUrl, issuer, clientId, scopes }, problems };
}

/** @returns whether the issuer has the operator's origin; the probe contacts no other */
export const isOwnIssuer = ({ issuer }: Discovery, server: NamedServer): boolean =>
  new URL(issuer).origin === server.origin.origin;

/**
 * The issuer is compared byte for byte, as OAuth libraries do.
 * @source RFC 8414 section 3.3, OpenID Connect Discovery 1.0 section 4.3
 */
export async function checkIssuer(check: Check, server: NamedServer, discovery: Discovery): Promise<Finding> {
  const { issuer, controlApiUrl } = discovery;
  const remedy =
    "set server.public_url to the origin that workstations use, and configure the proxy not to change answers";
  if (issuer !== `${controlApiUrl}${ISSUER_PATH}`)
    return check.failed(`discovery names ${issuer} instead of ${controlApiUrl}${ISSUER_PATH}`, remedy);
  if (!isOwnIssuer(discovery, server))
    return check.skipped(`${issuer} has a different origin, which the probe does not contact`);
  const paths = [
    `${ISSUER_PATH}/.well-known/openid-configuration`,
    `/.well-known/oauth-authorization-server${ISSUER_PATH}`,
  ];
  for (const path of paths) {
    const { document } = await askJson(server, path);
    if (document.issuer !== issuer)
      return check.failed(`${path} names ${String(document.issuer)}, but discovery names ${issuer}`, remedy);
  }
  return check.ok(`${issuer}, in every document`);
}

/** @param reply a response that is not cached, just received */
export function checkClock(check: Check, { headers, durationMs }: Reply, clock: Clock): Finding {
  const serverMs = Date.parse(headers.date ?? "");
  if (Number.isNaN(serverMs)) return check.skipped("the response has no header Date");
  const halfSecond = SECOND_MS / 2; // the header has whole seconds
  const differenceMs = serverMs + halfSecond - (clock.nowMs() - durationMs / 2);
  const distanceMs = Math.abs(differenceMs);
  const seconds = Math.round(distanceMs / SECOND_MS);
  if (distanceMs < CLOCK_DIFFERENCE_MIN_MS) return check.ok("the service and this machine agree");
  const detail = `the service is ${seconds} s ${differenceMs > 0 ? "ahead of" : "behind"} this machine`;
  const remedy = "set the clock that is wrong: tokens and certificates depend on the time";
  return distanceMs > CLOCK_TOLERANCE_SECONDS * SECOND_MS
    ? check.failed(detail, remedy)
    : check.warning(detail, remedy);
}
