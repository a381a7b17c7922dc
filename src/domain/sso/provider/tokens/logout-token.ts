// Checks of a logout token, by which the provider ends sessions without a browser (OpenID Connect Back-Channel Logout 1.0).
import { MINUTE_MS, SECOND_MS } from "../../../../platform/clock.ts";
import { isJsonObject } from "../../../../platform/json/json-object.ts";
import { claimTextProblem } from "../../model.ts";
import { clockDiffers, tokenInvalid } from "../failures.ts";
import { offsetText, type TokenChecks, verifiedClaims } from "./token-checks.ts";

const EVENT = "http://schemas.openid.net/event/backchannel-logout";
/** The type is only recommended, but a token with another explicit type is not a logout token. */
const TYPES: readonly (string | undefined)[] = [undefined, "jwt", "logout+jwt", "application/logout+jwt"];
/** Maximum age of a logout token. Providers send it immediately, and used tokens must be stored only this long. */
const LOGOUT_TOKEN_AGE_MAX_MS = 10 * MINUTE_MS;

/** A verified logout token. It names a subject, a session at the provider, or both. */
export interface LogoutToken {
  issuer: string;
  subject: string | undefined;
  /** `sid` */
  providerSessionId: string | undefined;
  /** `jti`; valid once */
  tokenId: string;
  issuedAtMs: number;
  /** when the token expires and need no longer be stored */
  expiresAtMs: number;
}

/**
 * @throws DomainError `sso.token_invalid`, `sso.clock`, those of ProviderKeys
 * @source OpenID Connect Back-Channel Logout 1.0 section 2.6
 */
export async function verifyLogoutToken(token: string, checks: TokenChecks): Promise<LogoutToken> {
  const { claims, type } = await verifiedClaims(token, checks, "logout");
  const { iat = 0, exp, nonce, events } = claims;
  if (!TYPES.includes(type?.toLowerCase())) throw tokenInvalid("typ is of another kind of token");
  if (!isJsonObject(events) || !isJsonObject(events[EVENT]))
    throw tokenInvalid("events has no back-channel logout");
  if (nonce !== undefined) throw tokenInvalid("a logout token has no nonce");
  const issuedAtMs = iat * SECOND_MS;
  const skewMs = checks.settings.clockSkewSeconds * SECOND_MS;
  const endMs = Math.min((exp ?? Number.POSITIVE_INFINITY) * SECOND_MS, issuedAtMs + LOGOUT_TOKEN_AGE_MAX_MS);
  if (checks.nowMs >= endMs + skewMs)
    throw clockDiffers(`the token is too old; ${offsetText(checks.clockOffsetMs)}`);
  const subject = textOf(claims.sub, "sub");
  const providerSessionId = textOf(claims.sid, "sid");
  if (subject === undefined && providerSessionId === undefined) throw tokenInvalid("it names nobody");
  const tokenId = textOf(claims.jti, "jti");
  if (tokenId === undefined) throw tokenInvalid("jti is missing");
  const issuer = checks.settings.issuer;
  return { issuer, subject, providerSessionId, tokenId, issuedAtMs, expiresAtMs: endMs + skewMs };
}

function textOf(value: unknown, name: string): string | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "string" || value === "") throw tokenInvalid(`${name} is not a text`);
  const problem = claimTextProblem(value);
  if (problem !== undefined) throw tokenInvalid(`${name} ${problem}`);
  return value;
}
