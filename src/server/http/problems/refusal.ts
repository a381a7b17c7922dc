// Turns an error into a response in the format of the path: all problems of the input, or only a request id if the error is
// our bug.

import { ISSUER_PATH } from "../../../domain/access/wire.ts";
import { ScimError, type ScimType } from "../../../domain/scim/errors.ts";
import { scimErrorBody } from "../../../domain/scim/messages/messages.ts";
import { asStorageError } from "../../../platform/database/storage-errors.ts";
import { DomainError } from "../../../platform/errors.ts";
import { isOutOfMemory, memoryLimitText } from "../../../platform/memory/memory-limits.ts";
import { failurePage } from "../../pages/html.ts";
import type { Branding } from "../../pages/layout.tsx";
import { responseMediaType } from "../../scim/responses.ts";
import { exchangeOf, noteRefusal, traceIdOf } from "../exchange.ts";
import { routable } from "../request-target.ts";
import { dialectOf, prefersPage } from "./dialect.ts";
import type { FailureLog } from "./failure-log.ts";
import { oauthProblemResponse } from "./oauth-problem.ts";
import {
  type Failure,
  failureOf,
  HttpError,
  internalFailure,
  problemResponse,
  startingFailure,
} from "./problem.ts";

interface Place {
  request: Request;
  path: string;
}

/** @returns a function that answers an error */
export function createRefusal(
  failures: FailureLog,
  brandingOf: () => Branding,
): (thrown: unknown, place: Place) => Response {
  return (thrown, { request, path }) => {
    const error = readable(thrown);
    const { requestId, route, next } = exchangeOf(request);
    const failure = failureOf(error);
    if (failure) noteRefusal(request, failure);
    if (!failure || failure.status >= 500) {
      const cause = error instanceof DomainError ? error.cause : undefined;
      const facts = { request_id: requestId, trace_id: traceIdOf(request), method: request.method, route };
      const memory = failure?.reason === EXHAUSTED && { memory: memoryLimitText() };
      failures.note({ route, reason: failure?.reason }, { ...facts, error, cause, ...memory });
    }
    const dialect = dialectOf(path);
    if (dialect === "oauth") return oauthProblemResponse(error, { request, path });
    if (dialect === "scim") return refuseProvider(error, request);
    if (dialect === "page" || isLostBrowser(failure, request))
      return failurePage(failure ?? internalFailure, {
        requestId,
        path,
        next,
        branding: shown(brandingOf),
      });
    return problemResponse(
      failure ?? internalFailure,
      requestId,
      membersOf(failure ?? internalFailure, path),
    );
  };
}

/** A person who typed a wrong address needs a page; programs accept JSON or anything. */
const isLostBrowser = (failure: Failure | undefined, request: Request): boolean =>
  failure?.reason === UNKNOWN_PATH && prefersPage(request);

/** The failure may be that the database cannot be read, and the page must not fail as well. */
function shown(brandingOf: () => Branding): Branding | undefined {
  try {
    return brandingOf();
  } catch {
    return undefined;
  }
}

/** RFC 6750 section 3; the same for a missing and a wrong token. */
const CHALLENGE = 'Bearer realm="scim"';
/** used for temporary unavailability without a known duration */
const RETRY_AFTER_SECONDS = "1";

interface ScimFailure extends Failure {
  scimType: ScimType | undefined;
}

/** @returns the failure as a SCIM error; an unreadable HTTP request is a malformed message */
function scimFailureOf(error: unknown): ScimFailure {
  const failure = failureOf(error) ?? internalFailure;
  if (!(error instanceof ScimError)) {
    return { ...failure, scimType: failure.status === 400 ? "invalidSyntax" : undefined };
  }
  const { status, scimType } = error;
  return { ...failure, status, scimType };
}

/** @returns the failure as a SCIM error response */
function scimProblemResponse(failure: ScimFailure, request: Request): Response {
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

function refuseProvider(error: unknown, request: Request): Response {
  const failure = scimFailureOf(error);
  const { scim } = exchangeOf(request);
  if (scim) scim.refusal = { scimType: failure.scimType, detail: failure.message }; // shown to operators, see request-log.ts
  return scimProblemResponse(failure, request);
}

/** @returns the response while the service starts */
export function startingResponse(request: Request): Response {
  const target = routable(request);
  if (!target || dialectOf(new URL(target.url).pathname) !== "scim")
    return problemResponse(startingFailure, "none");
  return scimProblemResponse({ ...startingFailure, scimType: undefined }, request);
}

/** Clients of the paths below the issuer read the failure from these two members. */
const membersOf = ({ reason, message }: Failure, path: string) =>
  path.startsWith(`${ISSUER_PATH}/`) ? { code: reason, message } : {};

const UNKNOWN_PATH = "request.unknown_path";

/** @returns the error for an unknown path, or for a method that the path does not support */
export function unrouted(method: string, allowed: readonly string[]): HttpError {
  if (allowed.length === 0) return new HttpError(404, UNKNOWN_PATH, "this path does not exist");
  return new HttpError(
    405,
    "request.method",
    `this path does not support ${method}; it supports ${allowed.join(", ")}`,
    {
      headers: { allow: allowed.join(", ") },
    },
  );
}

/** Maps errors of memory and of database reads. The write queue maps errors of writes. */
const readable = (thrown: unknown): unknown =>
  isOutOfMemory(thrown) ? outOfMemory(thrown) : asStorageError(thrown);

const EXHAUSTED = "memory.exhausted";
/** Running requests release their memory within seconds. */
const EXHAUSTED_RETRY_SECONDS = 5;

/** The log has the memory limit; the response does not reveal it. */
const outOfMemory = (cause: unknown): DomainError =>
  new DomainError("unavailable", EXHAUSTED, "the service does not have enough memory for this request", {
    hint: "try again in a moment; its log names the limit that was reached",
    retryAfterSeconds: EXHAUSTED_RETRY_SECONDS,
    cause,
  });
