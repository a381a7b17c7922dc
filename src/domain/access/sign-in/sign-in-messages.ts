// The messages of a sign-in: requests of a browser and the responses. login-sessions.ts checks it and opens the session.
import type { Tx } from "../../../platform/database/database.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { AccessSettings } from "../settings.ts";

/** Where a request of a browser comes from. */
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
      /** when the person proved who they are at the provider */
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
  /** of the second factor, from callers that send it along: of an authenticator app, or a recovery code */
  code?: Secret | undefined;
  /** the device cookie that the browser sent, valid or not */
  deviceCookie?: string | undefined;
  /** the present session of the browser, which the new one replaces */
  sessionToken?: string | undefined;
  requestId?: string;
  /** default: the password alone */
  how?: SignInMethod;
  /** work of the transaction that opens the session, such as linking the account to a provider; may throw */
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

/** @returns whether a password sign-in is an exception: everybody but the protected administrator signs in at the provider */
export const isRecovery = ({ identityMode }: Pick<AccessSettings, "identityMode">): boolean =>
  identityMode === "oidc";

/** A person who has just proved who they are. */
export interface Entered {
  actor: Actor;
  origin: Origin & { sessionToken?: string | undefined };
  how?: SignInMethod | undefined;
  secondFactor?: string | undefined;
  /** whether the person has just proved here who they are; by default, whether a password was the method */
  isFresh?: boolean;
}
