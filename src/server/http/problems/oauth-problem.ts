// Error body of the OAuth endpoints and of the device login decision routes: RFC 6749 section 5.2 instead of problem+json.
// The workstation client aborts on any other format.
import { OAuthError } from "../../../domain/access/errors.ts";
import { ISSUER_PATH } from "../../../domain/access/wire.ts";
import { preparedHeaders } from "../responses.ts";
import { failureOf, internalFailure } from "./problem.ts";

const TOKEN_PATH = `${ISSUER_PATH}/oauth2/token`;

interface OAuthPlace {
  request: Request;
  path: string;
}

/** @returns the failure as an OAuth error response */
export function oauthProblemResponse(error: unknown, { request, path }: OAuthPlace): Response {
  const failure = failureOf(error) ?? internalFailure;
  const code = error instanceof OAuthError ? error.code : codeOf(failure.status, path);
  const status = statusOf(failure.status, code, request);
  const body = JSON.stringify({ error: code, error_description: failure.message });
  const response = new Response(body, { status, headers: PROBLEM_HEADERS });
  for (const name in failure.headers) response.headers.set(name, failure.headers[name] ?? "");
  // RFC 6749 section 5.2: names the scheme that the client could have used.
  if (status === 401 && code === "invalid_client")
    response.headers.set("www-authenticate", 'Basic realm="oauth"');
  return response;
}

const PROBLEM_HEADERS = preparedHeaders({
  "content-type": "application/json",
  "cache-control": "no-store",
  pragma: "no-cache",
});

function statusOf(status: number, code: string, request: Request): number {
  // RFC 6749 section 5.2 allows 400 and 401 only; a body that is not a form is `invalid_request`.
  if (code === "slow_down" || status === 422 || status === 415) return 400;
  return code === "invalid_client" && request.headers.has("authorization") ? 401 : status;
}

/**
 * A polling client aborts on any error but `authorization_pending` and `slow_down`, so an exhausted budget must be
 * `slow_down`.
 */
function codeOf(status: number, path: string): string {
  if (status === 429) return path === TOKEN_PATH ? "slow_down" : "temporarily_unavailable";
  if (status >= 500) return status === 500 ? "server_error" : "temporarily_unavailable";
  return status === 401 || status === 403 ? "access_denied" : "invalid_request";
}
