// Checks of an ID token, as a whole and by one clock. openid-client never sees the token: it would compare claims, but neither verify
// the signature nor look at `iat`.
import type { JWTPayload } from "jose";
import { SECOND_MS } from "../../../../platform/clock.ts";
import { logOnTooOld, tokenInvalid } from "../failures.ts";
import { isFuture, offsetText, secondsOf, type TokenChecks, verifiedClaims } from "./token-checks.ts";

/** Claims of a verified ID token. */
export interface IdTokenClaims extends JWTPayload {
  iss: string;
  sub: string;
}

/**
 * @param nonce of the attempt
 * @throws DomainError `sso.token_invalid`, `sso.clock`, `sso.log_on_too_old`, those of ProviderKeys
 * @source OpenID Connect Core 1.0 section 3.1.3.7
 */
export async function verifyIdToken(
  token: string,
  nonce: string,
  checks: TokenChecks,
): Promise<IdTokenClaims> {
  const { claims } = await verifiedClaims(token, checks, "sign_in");
  const { iss, sub, exp } = claims;
  if (typeof iss !== "string" || typeof sub !== "string" || sub === "") throw tokenInvalid("sub is missing");
  if (exp === undefined) throw tokenInvalid("exp is missing");
  if (claims.nonce !== nonce) throw tokenInvalid("nonce is missing or another");
  refuseOldLogOn(claims, checks);
  return { ...claims, iss, sub };
}

/** The provider was asked to make the person log on again (section 3.1.2.1, max_age). */
function refuseOldLogOn(claims: JWTPayload, checks: TokenChecks): void {
  const { maxAgeSeconds, clockSkewSeconds } = checks.settings;
  if (maxAgeSeconds === undefined && claims.auth_time === undefined) return;
  const seconds = secondsOf(claims, "auth_time");
  if (seconds < 0) throw tokenInvalid("auth_time is negative");
  // `iat` was not in the future, so the clocks agree.
  if (isFuture(seconds, checks)) throw tokenInvalid("auth_time is in the future, although iat is not");
  if (maxAgeSeconds === undefined) return;
  const oldestMs = checks.nowMs - (maxAgeSeconds + clockSkewSeconds) * SECOND_MS;
  if (seconds * SECOND_MS < oldestMs)
    throw logOnTooOld(`auth_time is older than max_age; ${offsetText(checks.clockOffsetMs)}`);
}
