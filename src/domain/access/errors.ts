// Errors of the access area. OAuth endpoints answer with the code, every other face as with any DomainError.
import { DomainError, type ErrorDetails, type ErrorKind } from "../errors.ts";

/** RFC 6749 section 5.2, RFC 8628 section 3.5, RFC 8707 section 2, RFC 7009 section 2.2.1. */
export type OAuthCode =
  | "invalid_request"
  | "invalid_client"
  | "invalid_grant"
  | "invalid_scope"
  | "invalid_target"
  | "unsupported_grant_type"
  | "unsupported_token_type"
  | "authorization_pending"
  | "slow_down"
  | "access_denied"
  | "expired_token";

/** A refusal at an OAuth endpoint; `message` becomes error_description. */
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
