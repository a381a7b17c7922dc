// Begins one device login like a client, and polls once. Nobody approves it, so it expires.
import { ENDPOINT_PATHS } from "../../domain/access/discovery.ts";
import { DEVICE_CODE_GRANT, ISSUER_PATH } from "../../domain/access/wire.ts";
import type { JsonObject } from "../../platform/json/json-object.ts";
import type { NamedServer } from "../../platform/outbound/named-server.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import { type Discovery, isOwnIssuer } from "./discovery.ts";
import { askJson, type JsonResponse, refusalText, textIn } from "./json-response.ts";

const TEXTS = ["device_code", "user_code", "verification_uri"] as const;
const NUMBERS = ["expires_in", "interval"] as const;
/** Possible answers to the first poll. */
const PENDING = new Set(["authorization_pending", "slow_down"]);

/** @source RFC 8628 sections 3.1 to 3.5 */
export async function checkDeviceLogin(
  check: Check,
  server: NamedServer,
  discovery: Discovery,
): Promise<Finding> {
  if (!isOwnIssuer(discovery, server))
    return check.skipped("the issuer has a different origin, which the probe does not call");
  const { clientId, scopes, controlApiUrl } = discovery;
  const shared = { client_id: clientId, resource: controlApiUrl };
  const begun = await postForm(server, ENDPOINT_PATHS.deviceAuthorization, {
    ...shared,
    scope: scopes.join(" "),
  });
  if (begun.status === 429)
    return check.warning(
      refusalText(begun),
      "wait; if many workstations share one address, see the check address and limits.device_codes_per_address",
    );
  const wrong = begun.status === 200 ? missing(begun.document) : [refusalText(begun)];
  if (wrong.length > 0) return check.failed(wrong.join("; "), LOG);
  const polled = await postForm(server, ENDPOINT_PATHS.token, {
    ...shared,
    grant_type: DEVICE_CODE_GRANT,
    device_code: textIn(begun.document, "device_code") ?? "",
  });
  if (!PENDING.has(textIn(polled.document, "error") ?? ""))
    return check.failed(`polling for the code: ${refusalText(polled)}`, LOG);
  const page = textIn(begun.document, "verification_uri") ?? "";
  if (URL.parse(page)?.origin !== server.origin.origin)
    return check.failed(
      `users are sent to ${page} to approve`,
      "set server.public_url to the origin that workstations use",
    );
  return check.ok(`a code was issued for approval at ${page}; it will expire unused`);
}

const LOG =
  "see the log of the service; workstations need OAuth answers in JSON from every path below the issuer";

const postForm = (server: NamedServer, path: string, form: Record<string, string>): Promise<JsonResponse> =>
  askJson(server, `${ISSUER_PATH}${path}`, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams(form).toString(),
  });

const missing = (document: JsonObject): string[] => [
  ...TEXTS.filter((name) => textIn(document, name) === undefined).map((name) => `${name} is missing`),
  ...NUMBERS.filter((name) => !Number.isInteger(document[name])).map(
    (name) => `${name} is not a whole number`,
  ),
];
