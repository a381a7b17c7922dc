// The error body of the OAuth endpoints: RFC 6749 section 5.2 instead of problem+json.
// The workstation client gives up at anything it cannot read here (client-and-auth.md section 0.1).
import { OAuthError } from "../domain/access/errors.ts";
import { ISSUER_PATH } from "../domain/access/wire.ts";
import { bugFailure, failureOf } from "./problem.ts";

const OAUTH_PATHS = [`${ISSUER_PATH}/device/code`, `${ISSUER_PATH}/oauth2/`];
const TOKEN_PATH = `${ISSUER_PATH}/oauth2/token`;

export const speaksOAuth = (path: string): boolean => OAUTH_PATHS.some((prefix) => path.startsWith(prefix));

/** @returns the failure as an OAuth client reads it */
export function oauthProblemResponse(error: unknown, path: string): Response {
  const failure = failureOf(error) ?? bugFailure;
  const code = error instanceof OAuthError ? error.code : codeOf(failure.status, path);
  const status = code === "slow_down" ? 400 : failure.status === 422 ? 400 : failure.status;
  return new Response(JSON.stringify({ error: code, error_description: failure.message }), {
    status,
    headers: {
      ...failure.headers,
      "content-type": "application/json",
      "cache-control": "no-store",
      pragma: "no-cache",
    },
  });
}

/** A budget that is used up must read as `slow_down` where the client polls: it aborts at any other code. */
function codeOf(status: number, path: string): string {
  if (status === 429) return path === TOKEN_PATH ? "slow_down" : "temporarily_unavailable";
  if (status >= 500) return status === 500 ? "server_error" : "temporarily_unavailable";
  return "invalid_request";
}
