// The error body of the protocol (RFC 7644 section 3.12) for whatever goes wrong below its base: refusals of the area,
// of HTTP, and bugs, of which a caller learns nothing.
import { ScimError, type ScimType } from "../../domain/scim/errors.ts";
import { scimErrorBody } from "../../domain/scim/messages.ts";
import { exchangeOf } from "../exchange.ts";
import { bugFailure, failureOf } from "../problem.ts";
import { answerMediaType } from "./media-type.ts";

/** RFC 6750 section 3, and nothing that tells a missing token from a wrong one (scim.md SCIM-2). */
const CHALLENGE = 'Bearer realm="scim"';
/** for a moment's unavailability that says nothing of its length */
const RETRY_AFTER_SECONDS = "1";

/** @returns the failure as an identity provider reads it; the request's log line learns its scimType */
export function scimProblemResponse(error: unknown, request: Request): Response {
  const { status, scimType, message, headers } = refusalOf(error);
  const { scim } = exchangeOf(request);
  if (scim) scim.scimType = scimType;
  const response = new Response(scimErrorBody(status, scimType, message), {
    status,
    headers: { ...headers, "content-type": answerMediaType(request), "cache-control": "no-store" },
  });
  if (status === 401) response.headers.set("www-authenticate", CHALLENGE);
  if (status === 503 && !response.headers.has("retry-after")) {
    response.headers.set("retry-after", RETRY_AFTER_SECONDS);
  }
  return response;
}

interface Refusal {
  status: number;
  scimType: ScimType | undefined;
  message: string;
  headers: Readonly<Record<string, string>>;
}

function refusalOf(error: unknown): Refusal {
  const failure = failureOf(error) ?? bugFailure;
  if (error instanceof ScimError) {
    const { status, scimType } = error;
    return { ...failure, status, scimType };
  }
  // Whatever HTTP cannot read is a malformed message.
  return { ...failure, scimType: failure.status === 400 ? "invalidSyntax" : undefined };
}
