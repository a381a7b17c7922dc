// All checks of an ID token, by one clock. openid-client never sees the token, because it would compare claims without verifying
// the signature or checking `iat`.
import type { JWTPayload } from "jose";
import { SECOND_MS } from "../../../../platform/clock.ts";
import type { Attempt } from "../client/oidc-client.ts";
import { logOnTooOld, logOnUnknown, tokenInvalid } from "../failures.ts";
import { isFuture, offsetText, secondsOf, type TokenChecks, verifiedClaims } from "./token-checks.ts";

/** Claims of a verified ID token. */
export interface IdTokenClaims extends JWTPayload {
  iss: string;
  sub: string;
}

/**
 * @param attempt attempt for which the token was issued
 * @throws DomainError `sso.token_invalid`, `sso.clock`, `sso.log_on_unknown`, `sso.log_on_too_old`, those of ProviderKeys
 * @source OpenID Connect Core 1.0 section 3.1.3.7
 */
export async function verifyIdToken(
  token: string,
  { nonce, forcedAtMs }: Pick<Attempt, "nonce" | "forcedAtMs">,
  checks: TokenChecks,
): Promise<IdTokenClaims> {
  const { claims } = await verifiedClaims(token, checks, "sign_in");
  const { iss, sub, exp } = claims;
  if (typeof iss !== "string" || typeof sub !== "string" || sub === "") throw tokenInvalid("sub is missing");
  if (exp === undefined) throw tokenInvalid("exp is missing");
  if (claims.nonce !== nonce) throw tokenInvalid("nonce is missing or another");
  refuseOldLogOn(claims, forcedAtMs, checks);
  return { ...claims, iss, sub };
}

/**
 * If a recent log-on was requested, the provider must state its time (section 2, auth_time). The browser can remove the request
 * from the link, so a token without the time proves nothing.
 */
function refuseOldLogOn(claims: JWTPayload, forcedAtMs: number | undefined, checks: TokenChecks): void {
  const oldestMs = oldestLogOnMs(forcedAtMs, checks);
  if (claims.auth_time === undefined) {
    if (oldestMs === undefined) return;
    throw logOnUnknown("auth_time is missing, although max_age was requested");
  }
  const seconds = secondsOf(claims, "auth_time");
  if (seconds < 0) throw tokenInvalid("auth_time is negative");
  // The clocks agree, because `iat` is not in the future.
  if (isFuture(seconds, checks)) throw tokenInvalid("auth_time is in the future, although iat is not");
  if (oldestMs !== undefined && seconds * SECOND_MS < oldestMs)
    throw logOnTooOld(`auth_time is older than max_age; ${offsetText(checks.clockOffsetMs)}`);
}

/** A forced log-on happens after the browser left. @returns undefined if any log-on is accepted */
function oldestLogOnMs(forcedAtMs: number | undefined, { settings, nowMs }: TokenChecks): number | undefined {
  const { maxAgeSeconds, clockSkewSeconds } = settings;
  const skewMs = clockSkewSeconds * SECOND_MS;
  // auth_time has whole seconds.
  if (forcedAtMs !== undefined) return Math.floor(forcedAtMs / SECOND_MS) * SECOND_MS - skewMs;
  return maxAgeSeconds === undefined ? undefined : nowMs - maxAgeSeconds * SECOND_MS - skewMs;
}
