// The errors of a sign-in that fails between this service and the provider. Messages are ours; the provider's text goes, truncated
// and escaped, into the cause, which only the log shows.
import { type Clock, SECOND_MS } from "../../../platform/clock.ts";
import { DomainError, type ErrorDetails } from "../../../platform/errors.ts";
import type { SsoReason } from "../model.ts";

/** Maximum characters of a provider's text to log. */
export const LOGGED_TEXT_LENGTH_MAX = 200;
/** How long a failure is repeated to all callers before the next request to the provider. */
const FAILURE_REMEMBERED_SECONDS = 10;

/** @returns whether less than the pause has passed since then; false if the clock was set back */
export function isWithin(pauseMs: number, atMs: number | undefined, clock: Clock): boolean {
  if (atMs === undefined) return false;
  const passedMs = clock.nowMs() - atMs;
  return passedMs >= 0 && passedMs < pauseMs;
}

/** A failure of the provider, which is repeated for a while. */
export interface Remembered {
  error: unknown;
  atMs: number;
}

/** @throws the error while it is remembered */
export function throwRemembered(failed: Remembered | undefined, clock: Clock): void {
  if (failed && isWithin(FAILURE_REMEMBERED_SECONDS * SECOND_MS, failed.atMs, clock)) throw failed.error;
}

const RETRY = { hint: "try again", retryAfterSeconds: FAILURE_REMEMBERED_SECONDS };
const ASK = { hint: "ask an administrator: quartermaster sso verify names the problem" };
/** For problems that only a real sign-in shows and `sso verify` does not find. */
const ASK_LOG = { hint: "ask an administrator: the log of the service names the problem" };

/** @returns text that is safe in one line of a log */
export function forLog(text: string): string {
  const escaped = text.replace(
    /[\p{Cc}\p{Cf}\u2028\u2029]/gu,
    (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
  return escaped.length <= LOGGED_TEXT_LENGTH_MAX ? escaped : `${escaped.slice(0, LOGGED_TEXT_LENGTH_MAX)}…`;
}

/** @returns the text without these values, because a provider may repeat what it received */
export const withoutSecrets = (text: string, secrets: readonly string[]): string =>
  secrets
    .filter((secret) => secret !== "")
    .reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text);

/** A problem of the provider's response that an operator can solve. */
export type ProviderFault =
  | "certificate"
  | "certificate_name"
  | "certificate_time"
  | "busy"
  | "redirect"
  | "status"
  | "not_json"
  | "too_large"
  | "issuer"
  | "endpoint";

/** An error with the problem of the provider's response. */
export class ProviderFailure extends DomainError {
  fault: ProviderFault | undefined;
}

/** @param cause our own text; the provider's parts went through `forLog` */
const failure =
  (kind: DomainError["kind"], reason: SsoReason, message: string, details: ErrorDetails = {}) =>
  (cause: string, fault?: ProviderFault): DomainError => {
    const error = new ProviderFailure(kind, reason, message, { ...details, cause });
    error.fault = fault;
    return error;
  };

export const notConfigured = () =>
  new DomainError("not_found", "sso.not_configured", "no identity provider is configured", {
    hint: "set identity.oidc.issuer, or pass the configuration file of the service with --config",
  });

export const stateUnknown = failure(
  "invalid",
  "sso.state",
  "this sign-in did not start in this browser, or has ended already",
  { hint: "sign in again" },
);

export const canceled = failure("forbidden", "sso.cancelled", "you canceled the sign-in at the provider", {
  hint: "sign in again",
});

export const interactionRequired = failure(
  "forbidden",
  "sso.interaction_required",
  "the identity provider wants you to sign in there first",
  { hint: "sign in again" },
);

/** Reported by the browser. */
export const callbackError = failure(
  "upstream",
  "sso.callback_error",
  "the identity provider refused the sign-in",
  ASK_LOG,
);

/** RFC 9207 section 2.4, reported by the browser. */
export const callbackIssuer = failure(
  "upstream",
  "sso.callback_issuer",
  "this sign-in came back from another identity provider, or from one that is not named",
  ASK_LOG,
);

export const providerError = failure(
  "upstream",
  "sso.provider_error",
  "the identity provider refused the sign-in",
  ASK_LOG,
);

export const unreachable = failure(
  "unavailable",
  "sso.provider_unreachable",
  "the identity provider cannot be reached",
  RETRY,
);

export const providerInvalid = failure(
  "upstream",
  "sso.provider_invalid",
  "the identity provider sent an invalid response",
  ASK,
);

export const clientRejected = failure(
  "upstream",
  "sso.client_rejected",
  "the identity provider does not accept the credential of this service",
  ASK,
);

export const codeRejected = failure("invalid", "sso.code_rejected", "this sign-in has been used or expired", {
  hint: "sign in again",
});

export const tokenInvalid = failure(
  "upstream",
  "sso.token_invalid",
  "the identity provider sent a token that is not valid",
  ASK_LOG,
);

export const tokenIssuer = failure(
  "upstream",
  "sso.token_issuer",
  "the identity provider sent a token of another issuer",
  ASK_LOG,
);

export const logOnTooOld = failure(
  "forbidden",
  "sso.log_on_too_old",
  "you signed in at the identity provider too long ago, and it did not ask you again",
  { hint: "sign out at the identity provider, then sign in again" },
);

/** Also occurs if the browser removed `max_age` from the link, because then the provider may omit the time. */
export const logOnUnknown = failure(
  "forbidden",
  "sso.log_on_unknown",
  "the identity provider did not say when you logged on there, which this sign-in must prove",
  { hint: "ask an administrator: the provider must send the claim auth_time" },
);

export const clockDiffers = failure(
  "upstream",
  "sso.clock",
  "the token of the identity provider is too old or not valid yet, by the clock of this service",
  ASK_LOG,
);
