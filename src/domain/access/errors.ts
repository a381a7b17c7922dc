// Errors of the access area. OAuth endpoints answer with the OAuth code; all other endpoints treat them as any DomainError.
import { DomainError, type ErrorDetails, type ErrorKind } from "../../platform/errors.ts";
import { quoted } from "../../platform/text/problem-list.ts";

/** RFC 6749 sections 4.1.2.1 and 5.2, RFC 8628 section 3.5, RFC 8707 section 2, RFC 7009 section 2.2.1. */
export type OAuthCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "unsupported_grant_type"
  | "unsupported_response_type"
  | "unsupported_token_type"
  | "authorization_pending"
  | "slow_down"
  | "access_denied"
  | "expired_token";

/** An error of an OAuth endpoint; `message` becomes error_description. */
export class OAuthError extends DomainError {
  constructor(
    readonly code: OAuthCode,
    description: string,
    details: ErrorDetails & { kind?: ErrorKind } = {},
  ) {
    super(details.kind ?? "invalid", `oauth.${code}`, description, details);
    this.name = "OAuthError";
  }
}

/** RFC 8628 section 3.5. Created once, because creating an error takes longer than answering a poll. */
export const POLL_REFUSALS = {
  slow_down: new OAuthError("slow_down", "polled too early; wait for the whole interval"),
  expired_token: new OAuthError("expired_token", "the device login has expired; start again"),
  authorization_pending: new OAuthError(
    "authorization_pending",
    "the device login is waiting for a decision",
  ),
  access_denied: new OAuthError("access_denied", "the device login was refused"),
} as const;

export const invalidDeviceCode = () =>
  new OAuthError("invalid_grant", "this device code is unknown or used, or its approval is no longer valid");

export const invalidRefreshToken = () =>
  new OAuthError("invalid_grant", "the refresh token is invalid or expired; sign in again");

/** RFC 7009 section 2.2.1 */
export const notRevocable = () =>
  new OAuthError(
    "unsupported_token_type",
    "send the refresh token; revoking it also revokes its access tokens",
  );

/** Unknown, used and expired logins give the same error, so that a guess reveals nothing. */
export const loginUnavailable = () =>
  new DomainError("not_found", "device_login.unavailable", "the link or code is invalid or expired", {
    hint: "check the code, or start the login on the workstation again",
  });

export const loginClaimed = () =>
  new DomainError("conflict", "device_login.claimed", "another user has already opened this login", {
    hint: "start the login on the workstation again and open the new link yourself",
  });

export const loginUnclaimed = () =>
  new DomainError("conflict", "device_login.unclaimed", "open the link before you decide");

export const tooManyPendingLogins = () =>
  new DomainError(
    "unavailable",
    "device_login.too_many_pending",
    "too many logins are waiting for a decision; try again in a minute",
    { retryAfterSeconds: 60 },
  );

export const tooManyPendingFromNetwork = (caller: "address" | "network") =>
  new DomainError(
    "too_many",
    "device_login.too_many_pending",
    `too many logins from this ${caller} are waiting for a decision; finish one of them, or try again in a minute`,
    { retryAfterSeconds: 60 },
  );

/** @param id as the caller wrote it */
export const loginNotFound = (id: string) =>
  new DomainError("not_found", "login.not_found", `no login ${quoted(id)}`, {
    hint: "see `quartermaster logins list`",
  });
