// The messages of a sign-in: the browser's requests and the responses. login-sessions.ts checks requests and opens sessions.
import type { Tx } from "../../../platform/database/database.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { AccessSettings } from "../settings.ts";

/** The origin of a browser's request. */
export interface Origin {
  /** network address; null over a local socket, which is not rate-limited */
  address: string | null;
  userAgent: string | null;
}

/** How a browser signed in; stored with its session. */
export type SignInMethod =
  | { method: "password" }
  | {
      method: "oidc";
      issuer: string;
      /** `sid` of the ID token, which a back-channel logout names */
      providerSessionId: string | null;
      /** when the user authenticated at the provider */
      authTimeMs: number | null;
      acr: string | null;
    };

export interface OpenedSession {
  id: string;
  /** 43 characters, for the cookie; stored nowhere else */
  token: string;
  expiresAtMs: number;
}

export interface SignInRequest extends Origin {
  email: string;
  password: Secret;
  /** code of the second factor, if the request includes it: an authenticator app's code or a recovery code */
  code?: Secret | undefined;
  /** the device cookie that the browser sent, valid or not */
  deviceCookie?: string | undefined;
  /** the browser's current session, which the new one replaces */
  sessionToken?: string | undefined;
  requestId?: string;
  /** default: by password only */
  how?: SignInMethod;
  /** extra work in the transaction that opens the session, such as linking the account to a provider; may throw */
  alongside?: (tx: Tx, user: User) => void;
}

/** Who tried to sign in, in the form that the log may show. */
export type SignInName = { userId: string; hash?: never } | { userId?: never; hash: string };

export interface SignedIn {
  session: OpenedSession;
  user: User;
  /** a new device cookie for the browser */
  deviceCookie: string;
}

/**
 * @returns whether a password sign-in is an exception, because everyone except the protected administrator signs in at the provider
 */
export const isRecovery = ({ identityMode }: Pick<AccessSettings, "identityMode">): boolean =>
  identityMode === "oidc";

/** A user who has just authenticated. */
export interface Entered {
  actor: Actor;
  origin: Origin & { sessionToken?: string | undefined };
  how?: SignInMethod | undefined;
  secondFactor?: string | undefined;
  /** whether the user has just authenticated here; default: whether a password was the method */
  isFresh?: boolean;
}
