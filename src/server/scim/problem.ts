// The error body of the protocol (RFC 7644 section 3.12) for whatever goes wrong below its base: refusals of the area,
// of HTTP, and bugs, of which a caller learns nothing.
import { ScimError, type ScimType } from "../../domain/scim/errors.ts";
import { scimErrorBody } from "../../domain/scim/messages/messages.ts";
import { type Failure, failureOf, internalFailure } from "../http/problems/problem.ts";
import { answerMediaType } from "./media-type.ts";

/** RFC 6750 section 3, and nothing that tells a missing token from a wrong one (scim.md SCIM-2). */
const CHALLENGE = 'Bearer realm="scim"';
/** for a moment's unavailability that says nothing of its length */
const RETRY_AFTER_SECONDS = "1";

export interface ScimFailure extends Failure {
  scimType: ScimType | undefined;
}

/** @returns the failure as the protocol knows it; what HTTP cannot read is a malformed message */
export function scimFailureOf(error: unknown): ScimFailure {
  const failure = failureOf(error) ?? internalFailure;
  if (!(error instanceof ScimError)) {
    return { ...failure, scimType: failure.status === 400 ? "invalidSyntax" : undefined };
  }
  const { status, scimType } = error;
  return { ...failure, status, scimType };
}

/** @returns the failure as an identity provider reads it */
export function scimProblemResponse(failure: ScimFailure, request: Request): Response {
  const { status, scimType, message, headers } = failure;
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
