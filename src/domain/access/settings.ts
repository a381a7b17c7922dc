// What an operator can set about logins; the configuration table has the defaults and the bounds.

export interface AccessSettings {
  /** our origin without a trailing slash: audience of every token, and the issuer's beginning */
  baseUrl(): string;
  accessTokenTtlSeconds: number;
  refreshTokenTtlSeconds: number;
  browserSessionTtlSeconds: number;
  deviceCodeTtlSeconds: number;
  pollIntervalSeconds: number;
  signingKeyRotationDays: number;
  /** for verified access tokens; see verified-tokens.ts */
  tokenMemoryBytes: number;
  /** `oidc`: people sign in at an identity provider, and only the protected administrator has a password */
  identityMode: "password" | "oidc";
}

/** Attempts that one window allows. */
export interface LimitSettings {
  passwordGuessesPerAccountAndAddress: number;
  passwordGuessesPerAccount: number;
  passwordGuessesPerAddress: number;
  userCodeGuessesPerUser: number;
  userCodeGuessesPerAddress: number;
  deviceCodesPerAddress: number;
  /** logins that wait for a decision at once */
  pendingLoginsPerAddress: number;
  /** the same, of a /24 or /48 */
  pendingLoginsPerNetwork: number;
  invitationsPerActor: number;
  windowSeconds: number;
}
