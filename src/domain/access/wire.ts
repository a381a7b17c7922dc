// Wire literals of this area, exactly as the unmodified workstation client needs them. Other files import them.

/** The only OAuth client: public, without a secret. */
export const OAUTH_CLIENT_ID = "blue-cli";

export const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const REFRESH_GRANT = "refresh_token";

/** The scopes that a grant can hold and a browser session has. */
export const USER_SCOPES = ["governance:read", "session:write", "client-status:write"] as const;
export type Scope = (typeof USER_SCOPES)[number];

/** The scopes that a client may request, in the order of discovery. */
export const REQUESTABLE_SCOPES = ["openid", "profile", "email", "offline_access", ...USER_SCOPES] as const;

/** Name of the browser cookie, without its prefix on https. */
export const SESSION_COOKIE = "better-auth.session_token";

/** Path of the OAuth issuer below the origin. */
export const ISSUER_PATH = "/api/auth";
