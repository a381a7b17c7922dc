// What callers of the token and revocation endpoints send, as the routes found it, and what they get. The rules are in
// grants.ts.
import type { RequestedResource } from "./grant-checks.ts";

/** For the audit log: where a request came from. */
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

/** The hint of RFC 7009 section 2.1 is not needed: no refresh token looks like an access token. */
export interface RevokeRequest {
  caller?: Caller | undefined;
  token: string | undefined;
  clientId: string | undefined;
}

/** The answer of the token endpoint on the wire (RFC 6749 section 5.1; client-and-auth.md section 2.4). */
export interface TokenAnswer {
  access_token: string;
  token_type: "Bearer";
  expires_in: number;
  /** Unix seconds */
  expires_at: number;
  refresh_token?: string;
  scope: string;
}
