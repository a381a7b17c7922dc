// Who calls: turns an access token or a session cookie into a principal. A token proves who; whether the grant stands,
// whether the user is active, and the role are the database's to say (PRODUCT.md decision 7), asked again whenever its
// revision moves, so a revocation by any process counts from the next call on. What a principal may do is the guard's.
import type { Clock } from "../../platform/clock.ts";
import { SECOND_MS } from "../../platform/clock.ts";
import { isExpired } from "../../platform/crypto/signing.ts";
import type { Db } from "../../platform/database/database.ts";
import { sha256Hex } from "../../platform/ids.ts";
import type { Identity, Role, User } from "../identity/service.ts";
import {
  type AccessTokenClaims,
  type AccessTokens,
  accessRevoked,
  sessionInvalid,
  tokenExpired,
  tokenInvalid,
  userSuspended,
} from "./access-tokens.ts";
import * as store from "./authenticate-store.ts";
import type { LoginSessions } from "./login-sessions.ts";
import type { SigningKeys } from "./signing-keys.ts";
import { USER_SCOPES } from "./wire.ts";

/** A caller whose credential holds; user fields are the database's, not the token's. */
export interface Principal {
  kind: "bearer" | "session";
  userId: string;
  organizationId: string;
  subject: string;
  email: string;
  role: Role;
  scopes: ReadonlySet<string>;
  /** login session that approved a bearer's device login; null for cookie callers, who get no gateway key by it */
  sid: string | null;
  /** login session of a cookie caller, null for a bearer */
  sessionId: string | null;
  /** grant of a bearer, null for a cookie caller */
  grantId: string | null;
  /** of the presented credential */
  expiresAtMs: number;
  issuedAtMs: number;
  /** true when this call prolonged a login session: the browser needs the cookie again, with its new age */
  renewed: boolean;
}

export interface Authenticator {
  /**
   * @returns undefined for a token not seen before: only `bearer` can tell
   * @throws as `bearer` does
   */
  known(token: string): Principal | undefined;
  /**
   * Synchronous for a token seen before.
   * @throws DomainError unauthenticated: `access.token_invalid`, `access.token_expired`, `access.revoked`,
   *   `access.user_suspended`
   */
  bearer(token: string): Principal | Promise<Principal>;
  /** @throws DomainError unauthenticated: `access.session_invalid`, `access.revoked`, `access.user_suspended` */
  session(token: string): Principal;
}

export interface AuthenticatorDependencies {
  db: Db;
  clock: Clock;
  tokens: Pick<AccessTokens, "read">;
  keys: Pick<SigningKeys, "find">;
  sessions: Pick<LoginSessions, "find" | "renew">;
  identity: Pick<Identity, "findUserById">;
}

/** Verified tokens kept; a workstation has one at a time. The oldest is dropped for a new one. */
export const VERIFIED_TOKENS_MAX = 10_000;

/** A token whose signature, claims and type hold; what they say of the user is not kept. */
interface VerifiedToken {
  /** what its signature is over */
  signed: string;
  kid: string;
  /** of the database when the principal was made */
  revision: number;
  principal: Principal & { grantId: string };
}

/** @returns the authenticator with an empty memory; made once, in service.ts */
export function createAuthenticator(dependencies: AuthenticatorDependencies): Authenticator {
  const verified = new VerifiedTokens(dependencies);
  const { db, identity, sessions } = dependencies;
  return {
    known: (token) => verified.recall(token),
    bearer: (token) => verified.authenticate(token),
    session(token) {
      const session = sessions.find(token);
      if (!session) throw sessionInvalid();
      const user = activeUser(identity.findUserById(db.read, session.userId));
      const renewedUntilMs = sessions.renew(session);
      return {
        ...fieldsOf(user),
        kind: "session",
        scopes: ALL_SCOPES,
        sid: null,
        sessionId: session.id,
        grantId: null,
        expiresAtMs: renewedUntilMs ?? session.expiresAtMs,
        issuedAtMs: session.createdAtMs,
        renewed: renewedUntilMs !== undefined,
      };
    },
  };
}

/** A cookie stands for the user in person (client-and-auth.md section 4.6). */
const ALL_SCOPES: ReadonlySet<string> = new Set(USER_SCOPES);

/**
 * Verified tokens by the digest of their signature, beside what was signed: so the memory holds no usable token, and the
 * digest is of a few bytes. Bounded; saves the signature check only.
 */
class VerifiedTokens {
  readonly #tokens = new Map<string, VerifiedToken>();

  constructor(private readonly own: AuthenticatorDependencies) {}

  authenticate(token: string): Principal | Promise<Principal> {
    return this.recall(token) ?? this.#verify(token);
  }

  recall(token: string): Principal | undefined {
    const { signed, digest } = partsOf(token);
    const known = this.#tokens.get(digest);
    if (known?.signed !== signed) return undefined;
    try {
      return this.#current(known);
    } catch (error) {
      this.#tokens.delete(digest);
      throw error;
    }
  }

  async #verify(token: string): Promise<Principal> {
    const { claims, kid } = await this.own.tokens.read(token);
    // The revision is taken before the questions: a change in between makes the entry stale, never wrong.
    const revision = this.own.db.revision("access");
    const { signed, digest } = partsOf(token);
    const fresh = { signed, kid, revision, principal: this.#principalOf(claims) };
    this.#remember(digest, fresh);
    return fresh.principal;
  }

  /** While the revision stands, nothing is asked but the revision itself. */
  #current(known: VerifiedToken): Principal {
    const { db, clock, keys } = this.own;
    if (isExpired(known.principal.expiresAtMs, clock.nowMs())) throw tokenExpired();
    const revision = db.revision("access");
    if (revision === known.revision) return known.principal;
    if (!keys.find(known.kid)) throw tokenInvalid("its key no longer verifies");
    const { grantId, subject } = known.principal;
    known.principal = { ...known.principal, ...fieldsOf(this.#holderOf(grantId, subject)) };
    known.revision = revision;
    return known.principal;
  }

  #principalOf(claims: AccessTokenClaims): Principal & { grantId: string } {
    return {
      ...fieldsOf(this.#holderOf(claims.grant_id, claims.sub)),
      kind: "bearer",
      scopes: new Set(claims.scope.split(" ")),
      sid: claims.sid,
      sessionId: null,
      grantId: claims.grant_id,
      expiresAtMs: claims.exp * SECOND_MS,
      issuedAtMs: claims.iat * SECOND_MS,
      renewed: false,
    };
  }

  /** @returns the active user whose grant still stands */
  #holderOf(grantId: string, subject: string): User {
    const { db, identity } = this.own;
    const grant = store.findGrant(db.read, grantId);
    const user = grant && activeUser(identity.findUserById(db.read, grant.userId));
    if (!user || grant.revokedAtMs !== null || user.subject !== subject) throw accessRevoked();
    return user;
  }

  #remember(digest: string, token: VerifiedToken): void {
    const nowMs = this.own.clock.nowMs();
    // Entries lie in the order of their arrival, so those that are over lie in front.
    for (const [oldest, { principal }] of this.#tokens) {
      if (this.#tokens.size < VERIFIED_TOKENS_MAX && !isExpired(principal.expiresAtMs, nowMs)) break;
      this.#tokens.delete(oldest);
    }
    this.#tokens.set(digest, token);
  }
}

/** RFC 7515 section 7.1: what is signed, a dot, and the signature. */
function partsOf(token: string): { signed: string; digest: string } {
  const at = token.lastIndexOf(".");
  return { signed: token.slice(0, Math.max(at, 0)), digest: sha256Hex(token.slice(at + 1)) };
}

function activeUser(user: User | undefined): User {
  if (!user || user.status === "removed") throw accessRevoked();
  if (user.status === "suspended") throw userSuspended();
  return user;
}

const fieldsOf = ({ id, organizationId, subject, email, role }: User) => ({
  userId: id,
  organizationId,
  subject,
  email,
  role,
});
