// Creates and verifies access tokens (RFC 9068). Device login and refresh decide who gets one; authenticate.ts checks its grant.
import { type Static, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import type { Clock } from "../../../platform/clock.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { type TokenRules, type VerifiedToken, verifyToken } from "../../../platform/crypto/signing.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { User } from "../../identity/service.ts";
import { issuerOf } from "../discovery.ts";
import type { AccessSettings } from "../settings.ts";
import { ACCESS_TOKEN_TYPE, type SigningKeys } from "./signing-keys.ts";

const Text = Type.String({ minLength: 1 });

/** Claims of an access token; times are Unix seconds. */
const AccessTokenClaims = Type.Object({
  iss: Text,
  /** the resource, as one string */
  aud: Text,
  sub: Text,
  client_id: Text,
  azp: Text,
  /** space separated */
  scope: Type.String(),
  /** login session that approved the device login */
  sid: Text,
  email: Text,
  org_id: Text,
  role: Text,
  iat: Type.Integer(),
  exp: Type.Integer(),
  jti: Text,
  grant_id: Text,
});
export type AccessTokenClaims = Static<typeof AccessTokenClaims>;

/** Compiled at the first token, so that commands that read none start faster. */
let compiledClaims: TypeCheck<typeof AccessTokenClaims> | undefined;

function areClaims(payload: unknown): payload is AccessTokenClaims {
  compiledClaims ??= TypeCompiler.Compile(AccessTokenClaims);
  return compiledClaims.Check(payload);
}

export interface MintRequest {
  user: Pick<User, "subject" | "email" | "organizationId" | "role">;
  /** `resource` becomes the audience */
  grant: { id: string; clientId: string; resource: string };
  /** granted scopes, space separated */
  scope: string;
  sid: string;
  /** start of its lifetime */
  issuedAtMs: number;
}

export interface MintedToken {
  accessToken: string;
  /** Unix seconds, as in `exp` */
  expiresAtSeconds: number;
}

export interface ReadToken {
  claims: AccessTokenClaims;
  /** id of the key that signed it */
  kid: string;
}

export interface AccessTokensDependencies {
  clock: Clock;
  ids: Ids;
  keys: Pick<SigningKeys, "signer" | "find">;
  settings: Pick<AccessSettings, "baseUrl" | "accessTokenTtlSeconds">;
  /** called with each new token */
  minted(token: string, read: ReadToken): void;
}

export type AccessTokens = ReturnType<typeof createAccessTokens>;

export function createAccessTokens({ clock, ids, keys, settings, minted }: AccessTokensDependencies) {
  return {
    /**
     * Signs a token; synchronous, so it can be part of a write transaction.
     * @throws DomainError `signing_key.*` if there is no key to sign with
     */
    mint(request: MintRequest): MintedToken {
      const { accessTokenTtlSeconds } = settings;
      const issuedAtSeconds = Math.floor(request.issuedAtMs / SECOND_MS);
      const expiresAtSeconds = issuedAtSeconds + accessTokenTtlSeconds;
      const own = claimsOf(request, { iss: issuerOf(settings.baseUrl()), jti: ids.uuid() });
      const claims = { ...own, iat: issuedAtSeconds, exp: expiresAtSeconds };
      const { kid, sign } = keys.signer();
      const accessToken = sign(claims);
      minted(accessToken, { claims, kid });
      return { accessToken, expiresAtSeconds };
    },

    /**
     * @returns the claims of a valid token: signed by us, for this service, not expired
     * @throws DomainError `access.token_expired`, `access.token_invalid`; the cause says why
     */
    read(token: string): ReadToken {
      const baseUrl = settings.baseUrl();
      const { payload, kid } = verified(token, {
        findKey: (kid) => keys.find(kid),
        issuer: issuerOf(baseUrl),
        audience: baseUrl,
        typ: ACCESS_TOKEN_TYPE,
        nowMs: clock.nowMs(),
      });
      if (!areClaims(payload)) throw tokenInvalid("a claim is missing or has a wrong type");
      return { claims: payload, kid };
    },
  };
}

function verified(token: string, rules: TokenRules): VerifiedToken {
  try {
    return verifyToken(token, rules);
  } catch (error) {
    throw asAccessError(error);
  }
}

const claimsOf = ({ user, grant, scope, sid }: MintRequest, own: { iss: string; jti: string }) => ({
  ...own,
  aud: grant.resource,
  sub: user.subject,
  client_id: grant.clientId,
  azp: grant.clientId,
  scope,
  sid,
  email: user.email,
  org_id: user.organizationId,
  role: user.role,
  grant_id: grant.id,
});

/** The same text for every error, so that a guess reveals nothing. */
const REFUSAL = "the login is invalid or expired; sign in again";

/** The token is not ours, not for us, or altered; the cause is for the log. */
export const tokenInvalid = (cause: unknown) => refusal("access.token_invalid", cause);
export const tokenExpired = (cause?: unknown) => refusal("access.token_expired", cause);
/** The grant was revoked or removed, or its user was removed. */
export const accessRevoked = () => refusal("access.revoked");
export const sessionInvalid = () => refusal("access.session_invalid");
/** The user is suspended; the credential itself may be valid. */
export const userSuspended = () => refusal("access.user_suspended");

const refusal = (reason: string, cause?: unknown) =>
  new DomainError("unauthenticated", reason, REFUSAL, { cause });

function asAccessError(error: unknown): unknown {
  if (!(error instanceof DomainError)) return error;
  if (error.reason === "token.expired") return tokenExpired(error.cause);
  return error.reason === "token.invalid" ? tokenInvalid(error.cause) : error;
}
