// SCIM error bodies (RFC 7644 section 3.12) for every failure below /scim: refusals of the SCIM area and of HTTP, and bugs,
// which reveal nothing.
import { ScimError, type ScimType } from "../../domain/scim/errors.ts";
import { scimErrorBody } from "../../domain/scim/messages/messages.ts";
import { type Failure, failureOf, internalFailure } from "../http/problems/problem.ts";
import { responseMediaType } from "./responses.ts";

/** RFC 6750 section 3; the same for a missing and a wrong token. */
const CHALLENGE = 'Bearer realm="scim"';
/** used for temporary unavailability without a known duration */
const RETRY_AFTER_SECONDS = "1";

export interface ScimFailure extends Failure {
  scimType: ScimType | undefined;
}

/** @returns the failure as a SCIM error; an unreadable HTTP request is a malformed message */
export function scimFailureOf(error: unknown): ScimFailure {
  const failure = failureOf(error) ?? internalFailure;
  if (!(error instanceof ScimError)) {
    return { ...failure, scimType: failure.status === 400 ? "invalidSyntax" : undefined };
  }
  const { status, scimType } = error;
  return { ...failure, status, scimType };
}

/** @returns the failure as a SCIM error response */
export function scimProblemResponse(failure: ScimFailure, request: Request): Response {
  const { status, scimType, message, headers } = failure;
  const response = new Response(scimErrorBody(status, scimType, message), {
    status,
    headers: { ...headers, "content-type": responseMediaType(request), "cache-control": "no-store" },
  });
  if (status === 401) response.headers.set("www-authenticate", CHALLENGE);
  if (status === 503 && !response.headers.has("retry-after")) {
    response.headers.set("retry-after", RETRY_AFTER_SECONDS);
  }
  return response;
}
