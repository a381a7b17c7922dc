// Scope strings of OAuth requests (RFC 6749 section 3.3): reading, what of them a grant holds, and narrowing.
// Which scopes exist is in wire.ts; which scope a route needs is the guard's.
import { OAuthError } from "../errors.ts";
import { REQUESTABLE_SCOPES, USER_SCOPES } from "../wire.ts";

/** Four times what asking for everything takes. */
export const SCOPE_LENGTH_MAX = 512;
/** The scope that asks for a refresh token. */
const OFFLINE_ACCESS = "offline_access";
const EVERYTHING = REQUESTABLE_SCOPES.join(" ");

/**
 * Reads what a device login asks for; nothing means everything that can be asked for.
 * @returns known scopes in the order of discovery, each once, separated by one space
 * @throws OAuthError `invalid_scope`, also when nothing of it could be granted
 * @source client-and-auth.md sections 2.2 and 2.4
 */
export function readRequestedScope(scope: string | undefined): string {
  if (scope === EVERYTHING) return EVERYTHING; // what workstations ask for
  const asked = tokensOf(scope);
  if (asked.length === 0) return EVERYTHING;
  const unknown = asked.filter((token) => !REQUESTABLE_SCOPES.some((known) => known === token));
  if (unknown.length > 0) throw new OAuthError("invalid_scope", offerOf("this scope is unknown"));
  const requested = REQUESTABLE_SCOPES.filter((known) => asked.includes(known)).join(" ");
  if (grantedScope(requested) === "") throw new OAuthError("invalid_scope", offerOf("nothing to grant"));
  return requested;
}

const offerOf = (complaint: string): string => `${complaint}; ask for some of: ${EVERYTHING}`;

/** @returns what a grant of the requested scope holds (client-and-auth.md section 2.4) */
export function grantedScope(requested: string): string {
  const asked = requested.split(" ");
  return USER_SCOPES.filter((scope) => asked.includes(scope)).join(" ");
}

export const asksForRefreshToken = (requested: string): boolean =>
  requested.split(" ").includes(OFFLINE_ACCESS);

/**
 * @param scope what a refresh asks for; nothing means all that the grant holds
 * @returns the scope of the new access token, in the grant's order; the grant itself never narrows
 * @throws OAuthError `invalid_scope` when it asks for more than the grant holds
 * @source RFC 6749 section 6; client-and-auth.md section 3.2
 */
export function narrowScope(granted: string, scope: string | undefined): string {
  const asked = tokensOf(scope);
  if (asked.length === 0) return granted;
  const held = granted.split(" ");
  if (!asked.every((token) => held.includes(token))) {
    throw new OAuthError("invalid_scope", `this login holds only: ${granted}; sign in again for more`);
  }
  return held.filter((token) => asked.includes(token)).join(" ");
}

function tokensOf(scope: string | undefined): string[] {
  if (scope === undefined) return [];
  if (scope.length > SCOPE_LENGTH_MAX) {
    throw new OAuthError("invalid_scope", `scope may have at most ${SCOPE_LENGTH_MAX} characters`);
  }
  return scope.split(" ").filter((token) => token !== "");
}
