// Maps errors of openid-client, and errors in the provider's responses, to sign-in errors. The library's errors contain tokens and
// claims, so only their code and the provider's error are kept, truncated and escaped.
import { codeOf, DomainError } from "../../../../platform/errors.ts";
import {
  clientRejected,
  codeRejected,
  forLog,
  providerError,
  providerInvalid,
  tokenInvalid,
  withoutSecrets,
} from "../failures.ts";

/** Errors of the token endpoint (RFC 6749 section 5.2). */
const TOKEN_ERRORS: Readonly<Record<string, (cause: string) => DomainError>> = {
  invalid_grant: codeRejected,
  invalid_client: clientRejected,
  unauthorized_client: clientRejected,
};

const UNAUTHORIZED = 401;
/** Maximum depth to search causes for one of our errors. */
export const CAUSES_MAX = 5;
/** Only the library's message tells whether the ID token or the response around it is wrong. */
const ABOUT_TOKEN = /JWT|JWE|ID Token|"alg"|"id_token"|"sub"/;

/** @param secrets secrets that were sent @returns the error to throw; an error from elsewhere is returned unchanged */
export function fromLibrary(error: unknown, secrets: readonly string[] = []): unknown {
  const own = ownErrorIn(error);
  if (own) return own;
  const code = codeOf(error);
  if (!(error instanceof Error) || !code?.startsWith("OAUTH_")) return error;
  switch (code) {
    case "OAUTH_RESPONSE_BODY_ERROR":
      return providerErrorOf(error, secrets);
    case "OAUTH_WWW_AUTHENTICATE_CHALLENGE":
      return refused(error);
    default: {
      const cause = causeOf(error);
      return ABOUT_TOKEN.test(cause) ? tokenInvalid(cause) : providerInvalid(cause);
    }
  }
}

/** The error of provider-requests.ts is a cause of the library's error. */
function ownErrorIn(error: unknown): DomainError | undefined {
  let at = error;
  for (let depth = 0; depth < CAUSES_MAX && at instanceof Error; depth += 1) {
    if (at instanceof DomainError) return at;
    at = at.cause;
  }
  return undefined;
}

function providerErrorOf(error: Error, secrets: readonly string[]): DomainError {
  const name = "error" in error ? String(error.error) : "";
  const description = "error_description" in error ? error.error_description : undefined;
  return refusalOf({ error: name, error_description: description }, secrets);
}

/** @param response of the provider @param secrets that were sent to it */
export function refusalOf(
  { error: name, error_description: description }: { error: string; error_description: unknown },
  secrets: readonly string[],
): DomainError {
  const make = Object.hasOwn(TOKEN_ERRORS, name) ? TOKEN_ERRORS[name] : undefined;
  const text = typeof description === "string" ? `${name}: ${description}` : name;
  return (make ?? providerError)(forLog(withoutSecrets(text, secrets)));
}

/** A 401 has a challenge (RFC 6749 section 5.2), which the library checks before the body. */
const refused = (error: Error): DomainError =>
  "status" in error && error.status === UNAUTHORIZED
    ? clientRejected("the status is 401")
    : providerError("the provider answered with a challenge");

/** The library's own messages, which contain no values. */
const causeOf = (error: Error): string =>
  forLog(error.cause instanceof Error ? `${error.message}: ${error.cause.message}` : error.message);
