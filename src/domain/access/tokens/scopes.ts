// Parses and narrows the scope strings of OAuth requests (RFC 6749 section 3.3). wire.ts lists the scopes; the guard checks what
// a route needs.
import { OAuthError } from "../errors.ts";
import { REQUESTABLE_SCOPES, USER_SCOPES } from "../wire.ts";

/** Four times the length of a request for every scope. */
export const SCOPE_LENGTH_MAX = 512;
/** The scope that requests a refresh token. */
const OFFLINE_ACCESS = "offline_access";
const EVERYTHING = REQUESTABLE_SCOPES.join(" ");

/**
 * Parses the scope of a device login; a missing scope means every requestable scope.
 * @returns known scopes in the order of discovery, each once, separated by one space
 * @throws OAuthError `invalid_scope`, also if none of the scopes can be granted
 */
export function readRequestedScope(scope: string | undefined): string {
  if (scope === EVERYTHING) return EVERYTHING; // the usual request of workstations
  const requestedScopes = tokensOf(scope);
  if (requestedScopes.length === 0) return EVERYTHING;
  const unknown = requestedScopes.filter((token) => !REQUESTABLE_SCOPES.some((known) => known === token));
  if (unknown.length > 0) {
    throw new OAuthError("invalid_scope", `this scope is unknown; ask for some of: ${EVERYTHING}`);
  }
  const requested = REQUESTABLE_SCOPES.filter((known) => requestedScopes.includes(known)).join(" ");
  if (grantedScope(requested) === "") {
    const grants = USER_SCOPES.join(" ");
    throw new OAuthError("invalid_scope", `the scope grants nothing; ask for at least one of: ${grants}`);
  }
  return requested;
}

/** @returns the scope that a grant holds for the requested scope */
export function grantedScope(requested: string): string {
  const requestedScopes = requested.split(" ");
  return USER_SCOPES.filter((scope) => requestedScopes.includes(scope)).join(" ");
}

export const asksForRefreshToken = (requested: string): boolean =>
  requested.split(" ").includes(OFFLINE_ACCESS);

/**
 * @param scope the scope of a refresh request; undefined means everything that the grant holds
 * @returns the scope of the new access token, in the grant's order; the grant itself never narrows
 * @throws OAuthError `invalid_scope` if it exceeds the grant
 * @source RFC 6749 section 6
 */
export function narrowScope(granted: string, scope: string | undefined): string {
  const requestedScopes = tokensOf(scope);
  if (requestedScopes.length === 0) return granted;
  const held = granted.split(" ");
  if (!requestedScopes.every((token) => held.includes(token))) {
    throw new OAuthError("invalid_scope", `this login grants only: ${granted}; sign in again for more`);
  }
  return held.filter((token) => requestedScopes.includes(token)).join(" ");
}

function tokensOf(scope: string | undefined): string[] {
  if (scope === undefined) return [];
  if (scope.length > SCOPE_LENGTH_MAX) {
    throw new OAuthError("invalid_scope", `scope may have at most ${SCOPE_LENGTH_MAX} characters`);
  }
  return scope.split(" ").filter((token) => token !== "");
}
