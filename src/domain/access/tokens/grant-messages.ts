// Requests and responses of the token and revocation endpoints. grants.ts has the rules.
import type { RequestedResource } from "./grant-checks.ts";

/** The origin of a request, for the audit log. */
export interface Caller {
  address?: string | undefined;
  requestId?: string | undefined;
}

export interface RedeemRequest {
  caller?: Caller | undefined;
  deviceCode: string | undefined;
  clientId: string | undefined;
  resource?: RequestedResource;
}

export interface RefreshRequest {
  caller?: Caller | undefined;
  refreshToken: string | undefined;
  clientId: string | undefined;
  resource?: RequestedResource;
  scope?: string | undefined;
}

/** Ignores `token_type_hint` (RFC 7009 section 2.1), because a refresh token never looks like an access token. */
export interface RevokeRequest {
  caller?: Caller | undefined;
  token: string | undefined;
  clientId: string | undefined;
}

/** The response of the token endpoint (RFC 6749 section 5.1). */
export interface TokenResponse {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  /** Unix seconds */
  expires_at: number;
  refresh_token?: string;
  scope: string;
}
