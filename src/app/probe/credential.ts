// Checks the requests of a workstation after its sign-in, with an access token: account, policy, and report.
import {
  CAPABILITIES_HEADER,
  CONTRACT_GENERATION,
  CONTRACT_VERSION_HEADER,
  POLICY_CAPABILITIES,
} from "../../domain/governance/wire.ts";
import { SECOND_MS, toRfc3339 } from "../../platform/clock.ts";
import { UUID_PATTERN } from "../../platform/ids.ts";
import type { NamedServer } from "../../platform/outbound/named-server.ts";
import type { Secret } from "../../platform/secret.ts";
import type { Check, Finding } from "../doctor/finding.ts";
import { askJson, refusalText, textIn } from "./json-response.ts";

const bearer = (token: Secret): Record<string, string> => ({ authorization: `Bearer ${token.reveal()}` });

const SIGN_IN =
  "sign in again on the workstation; an access token expires after access.access_token_ttl_seconds";

export async function checkAccount(check: Check, server: NamedServer, token: Secret): Promise<Finding> {
  const response = await askJson(server, "/auth/me", { headers: bearer(token) });
  const { document } = response;
  if (response.status !== 200) return check.failed(refusalText(response), SIGN_IN);
  const { expires_at: expiresAt } = document;
  if (!UUID_PATTERN.test(textIn(document, "org_id") ?? "") || !Number.isInteger(expiresAt))
    return check.failed(
      "org_id or expires_at is missing or invalid",
      "configure the proxy not to change answers",
    );
  return check.ok(
    `${textIn(document, "email")}, ${textIn(document, "role")}, until ${toRfc3339(Number(expiresAt) * SECOND_MS)}`,
  );
}

/** Fetches the policy as the newest client would. In gateway mode this may create the gateway key of the user. */
export async function checkPolicy(check: Check, server: NamedServer, token: Secret): Promise<Finding> {
  const headers = {
    ...bearer(token),
    [CONTRACT_VERSION_HEADER]: String(CONTRACT_GENERATION),
    [CAPABILITIES_HEADER]: POLICY_CAPABILITIES.join(","),
  };
  const response = await askJson(server, POLICY_PATH, { headers });
  const { status, document, sizeBytes, headers: received } = response;
  if (status === 404)
    return check.warning("no policy is published", "publish one: quartermaster help policy-file");
  if (status === 401 || status === 403) return check.failed(refusalText(response), SIGN_IN);
  if (status !== 200) return check.failed(refusalText(response), "quartermaster help troubleshoot");
  const detail = `revision ${textIn(document, "revision")}, ${sizeBytes} bytes`;
  if ("gateway" in document) return check.ok(`${detail}, with an inference token`);
  const again = await server.ask(POLICY_PATH, {
    headers: { ...headers, "if-none-match": received.etag ?? "" },
  });
  return again.status === 304
    ? check.ok(`${detail}; a second request is answered with 304`)
    : check.warning(
        `${detail}; a second request is answered with ${again.status}, not 304`,
        "configure the proxy to pass on the headers ETag and If-None-Match",
      );
}

const POLICY_PATH = "/governance-config";

/** An empty report is refused after the credential was accepted, so nothing is recorded. */
export async function checkReport(check: Check, server: NamedServer, token: Secret): Promise<Finding> {
  const response = await askJson(server, "/client-status", {
    method: "POST",
    headers: { ...bearer(token), "content-type": "application/json" },
    body: "{}",
  });
  if (
    (response.status === 400 || response.status === 422) &&
    textIn(response.document, "reason") !== undefined
  )
    return check.ok("reports arrive: an empty one was refused as expected, and nothing was recorded");
  if (response.status === 401 || response.status === 403) return check.failed(refusalText(response), SIGN_IN);
  return check.failed(refusalText(response), "configure the proxy to pass on POST requests with a JSON body");
}
