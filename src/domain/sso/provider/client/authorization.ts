// The parameters of the link to the authorization endpoint.
import type { SsoSettings } from "../../settings.ts";
import type { Attempt } from "./oidc-client.ts";

const SCOPES = ["openid", "profile", "email"];
export const LOGIN_HINT_LENGTH_MAX = 320;

export interface SignInRequest {
  /** where the provider sends the browser back */
  redirectUri: string;
  /** address to fill in at the provider */
  loginHint?: string | undefined;
  /** whether the person must log on again, even if the provider remembers the person */
  isForced?: boolean | undefined;
}

/** @returns the scopes of every sign-in */
export const scopesOf = ({ extraScopes }: Pick<SsoSettings, "extraScopes">): readonly string[] => [
  ...new Set([...SCOPES, ...extraScopes]),
];

/**
 * OpenID Connect Core 1.0 section 3.1.2.1. A forced log-on also has `max_age`, so that the ID token must state its time (section 2,
 * auth_time). id-token.ts requires it, because the browser can remove both from the link. `response_mode` keeps its default for
 * codes, the query.
 */
export function authorizationParameters(
  settings: SsoSettings,
  {
    redirectUri,
    loginHint,
    isForced = false,
    attempt,
    challenge,
  }: SignInRequest & { attempt: Attempt; challenge: string },
): Record<string, string> {
  const { maxAgeSeconds, requireAcr } = settings;
  const hint = usableHint(loginHint);
  const maxAge = isForced ? 0 : maxAgeSeconds;
  return {
    redirect_uri: redirectUri,
    scope: scopesOf(settings).join(" "),
    state: attempt.state,
    nonce: attempt.nonce,
    code_challenge: challenge,
    code_challenge_method: "S256",
    ...(hint !== undefined && { login_hint: hint }),
    ...(isForced && { prompt: "login" }),
    ...(maxAge !== undefined && { max_age: String(maxAge) }),
    ...(requireAcr.length > 0 && { acr_values: requireAcr.join(" ") }),
  };
}

/** Drops a hint that is not an address, because it only fills in a field at the provider. */
export const usableHint = (hint: string | undefined): string | undefined =>
  hint !== undefined && hint !== "" && hint.length <= LOGIN_HINT_LENGTH_MAX && !/\p{Cc}/u.test(hint)
    ? hint
    : undefined;
