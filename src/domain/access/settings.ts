// Settings of logins. The configuration table has their defaults and bounds.

import type { SecondFactorMode } from "./second-factor/model.ts";

export interface AccessSettings {
  /** our origin without a trailing slash: audience of every token, and prefix of the issuer */
  baseUrl(): string;
  accessTokenTtlSeconds: number;
  refreshTokenTtlSeconds: number;
  browserSessionTtlSeconds: number;
  deviceCodeTtlSeconds: number;
  pollIntervalSeconds: number;
  signingKeyRotationDays: number;
  /** memory for verified access tokens; see verified-tokens.ts */
  tokenMemoryBytes: number;
  /** `oidc`: users sign in at an identity provider; only the protected administrator has a password */
  identityMode: "password" | "oidc";
  /** the configured name of the identity provider, even if no issuer is configured */
  provider: { providerId: string; providerName: string };
  /** who needs a second factor after the password; see second-factor/model.ts */
  secondFactor: SecondFactorMode;
}

/** Attempts per window. */
export interface LimitSettings {
  passwordGuessesPerAccountAndAddress: number;
  passwordGuessesPerAccount: number;
  passwordGuessesPerAddress: number;
  secondFactorGuesses: number;
  userCodeGuessesPerUser: number;
  userCodeGuessesPerAddress: number;
  deviceCodesPerAddress: number;
  /** limit of pending logins */
  pendingLoginsPerAddress: number;
  /** the same, per /24 or /48 */
  pendingLoginsPerNetwork: number;
  invitationsPerActor: number;
  windowSeconds: number;
}
