// Common checks of ID tokens and logout tokens: length, signature, issuer, audience and times, and the report of a failure.
import { errors, type JWTPayload } from "jose";
import { SECOND_MS } from "../../../../platform/clock.ts";
import { DomainError } from "../../../../platform/errors.ts";
import type { VerifiedClaims } from "../../model.ts";
import type { SsoSettings } from "../../settings.ts";
import { clockDiffers, forLog, tokenInvalid, tokenIssuer } from "../failures.ts";
import type { ProviderKeys } from "./provider-keys.ts";

/** A longer token is refused before it is decoded. An ID token with a thousand groups has about 40,000 characters. */
export const PROVIDER_TOKEN_LENGTH_MAX = 128 * 1024;

export interface TokenChecks {
  settings: SsoSettings;
  keys: ProviderKeys;
  nowMs: number;
  /** how far the provider's clock is ahead of ours, for the log */
  clockOffsetMs: number | undefined;
}

/** The offset of the provider's clock, as text for the log. */
export const offsetText = (offsetMs: number | undefined): string =>
  offsetMs === undefined
    ? "the provider sent no time"
    : `by the header Date the provider's clock is ${Math.abs(Math.round(offsetMs / SECOND_MS))} s ${offsetMs < 0 ? "behind" : "ahead of"} ours`;

/**
 * Checks signature, `iss`, `aud`, `azp`, `exp`, `nbf` and `iat` (OpenID Connect Core 1.0 section 3.1.3.7).
 * @throws DomainError `sso.token_invalid`, `sso.token_issuer`, `sso.clock`, those of ProviderKeys
 */
export async function verifiedClaims(
  token: string,
  checks: TokenChecks,
  purpose: "sign_in" | "logout",
): Promise<{ claims: JWTPayload; type: string | undefined }> {
  if (token.length > PROVIDER_TOKEN_LENGTH_MAX) throw tokenInvalid("the token is too long");
  const { settings, keys, nowMs } = checks;
  const { issuer, clientId: audience, clockSkewSeconds: clockTolerance } = settings;
  const rules = { issuer, audience, clockTolerance, currentDate: new Date(nowMs) };
  try {
    const { payload, protectedHeader } = await keys.verify(token, rules, purpose);
    const problem = partiesProblem(payload, audience);
    if (problem !== undefined) throw tokenInvalid(problem);
    if (isFuture(secondsOf(payload, "iat"), checks))
      throw clockDiffers(`iat is in the future; ${offsetText(checks.clockOffsetMs)}`);
    // The library does not check the type, so it may be anything.
    const type: unknown = protectedHeader.typ;
    if (type !== undefined && typeof type !== "string") throw tokenInvalid("typ is not a text");
    return { claims: payload, type };
  } catch (error) {
    throw asFailure(error, checks);
  }
}

/** @throws DomainError `sso.token_invalid` if it is not a number */
export function secondsOf(claims: JWTPayload, name: string): number {
  const seconds = claims[name];
  if (typeof seconds === "number" && Number.isFinite(seconds)) return seconds;
  throw tokenInvalid(`${name} is missing or not a number`);
}

/** @returns whether a time is after now, by more than clocks may differ */
export const isFuture = (seconds: number, { nowMs, settings }: TokenChecks): boolean =>
  seconds * SECOND_MS > nowMs + settings.clockSkewSeconds * SECOND_MS;

/** A token must be only for this client, because another recipient could have passed it on. @returns why it is not */
export function partiesProblem({ aud, azp }: VerifiedClaims, clientId: string): string | undefined {
  if (![aud].flat().includes(clientId)) return `aud does not name the client ${clientId}`;
  if (azp !== undefined && azp !== clientId) return "azp is another client";
  const isShared = Array.isArray(aud) && aud.length !== 1;
  return isShared && azp === undefined ? "aud names others besides this client, without azp" : undefined;
}

/** The time claims that jose compares. */
const TIMES = new Set(["exp", "nbf", "iat"]);

/** The messages of jose name claims and never their values. */
function asFailure(error: unknown, { clockOffsetMs }: TokenChecks): unknown {
  if (error instanceof DomainError || !(error instanceof errors.JOSEError)) return error;
  const cause = `${error.code}: ${forLog(error.message)}`;
  const isAboutClaim = error instanceof errors.JWTExpired || error instanceof errors.JWTClaimValidationFailed;
  if (!isAboutClaim) return tokenInvalid(cause);
  if (error.claim === "iss") return tokenIssuer(cause);
  const isTime = TIMES.has(error.claim) && error.reason === "check_failed";
  return isTime ? clockDiffers(`${cause}; ${offsetText(clockOffsetMs)}`) : tokenInvalid(cause);
}
