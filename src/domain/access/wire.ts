// Wire literals of this area, exactly as the unmodified workstation client needs them (PRODUCT.md decision 1).
// Nothing else in the code spells them.

/** The one OAuth client: public, no secret (client-and-auth.md section 1.2). */
export const OAUTH_CLIENT_ID = "blue-cli";

export const DEVICE_CODE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";
export const REFRESH_GRANT = "refresh_token";

/** What a grant can hold, and what a browser session stands for. */
export const USER_SCOPES = ["governance:read", "session:write", "client-status:write"] as const;
export type Scope = (typeof USER_SCOPES)[number];

/** What a client may ask for, in the order of discovery (client-and-auth.md section 1.2). */
export const REQUESTABLE_SCOPES = ["openid", "profile", "email", "offline_access", ...USER_SCOPES] as const;

/** Name of the browser cookie, without the prefix it carries on https (client-and-auth.md section 4.5). */
export const SESSION_COOKIE = "better-auth.session_token";

/** Path of the OAuth issuer below the origin (PRODUCT.md decision 2). */
export const ISSUER_PATH = "/api/auth";
