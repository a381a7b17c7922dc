// Authenticates callers: turns an access token or a session cookie into a principal. A token proves identity only. The database
// decides whether the grant is active, whether the user is active, and which role applies. It is queried again whenever its
// revision changes, so a revocation by any process takes effect on the next request. The guard decides what a principal may do.
import type { Clock } from "../../../platform/clock.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { CLOCK_TOLERANCE_SECONDS, isExpired } from "../../../platform/crypto/signing.ts";
import type { Db } from "../../../platform/database/database.ts";
import { readUuid } from "../../../platform/uuid-words.ts";
import type { Identity, Role, User } from "../../identity/service.ts";
import type { IsConfirmed } from "../dependencies.ts";
import type { LoginSessions } from "../sign-in/login-sessions.ts";
import {
  type AccessTokens,
  accessRevoked,
  sessionInvalid,
  tokenExpired,
  tokenInvalid,
  userSuspended,
} from "../tokens/access-tokens.ts";
import type { SigningKeys } from "../tokens/signing-keys.ts";
import { USER_SCOPES } from "../wire.ts";
import * as store from "./authenticate-store.ts";
import type { GrantHolder, GrantHolders } from "./grant-holders.ts";
import { type KnownToken, subjectMark, type VerifiedTokens } from "./verified-tokens.ts";

/** An authenticated caller; user fields come from the database, not from the token. */
export interface Principal {
  kind: "bearer" | "session";
  userId: string;
  organizationId: string;
  subject: string;
  email: string;
  role: Role;
  scopes: ReadonlySet<string>;
  /** login session that approved a bearer's device login; null for a cookie, which therefore gives no gateway key */
  sid: string | null;
  /** login session of a cookie caller, null for a bearer */
  sessionId: string | null;
  /** grant of a bearer, null for a cookie caller */
  grantId: string | null;
  /** expiry of the presented credential */
  expiresAtMs: number;
  issuedAtMs: number;
  /** true if this call extended the login session: send the cookie again with its new age */
  renewed: boolean;
}

export interface Authenticator {
  /**
   * @returns undefined for a token not seen before; call `bearer` then
   * @throws as `bearer` does
   */
  known(token: string): Principal | undefined;
  /**
   * @throws DomainError unauthenticated: `access.token_invalid`, `access.token_expired`, `access.revoked`,
   *   `access.user_suspended`
   */
  bearer(token: string): Principal;
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
  verified: VerifiedTokens;
  holders: GrantHolders;
  isConfirmed: IsConfirmed;
}

/** @returns the authenticator with an empty cache; created once, in service.ts */
export function createAuthenticator(dependencies: AuthenticatorDependencies): Authenticator {
  const bearers = new Bearers(dependencies);
  const { db, clock, identity, sessions, isConfirmed } = dependencies;
  return {
    known: (token) => bearers.verified(token),
    bearer: (token) => bearers.verified(token) ?? bearers.verify(token),
    session(token) {
      const session = sessions.find(token);
      if (!session) throw sessionInvalid();
      const user = activeUser(identity.findUserById(db.read, session.userId));
      const isFromProvider = session.method === "oidc";
      if (isFromProvider && !isConfirmed(db.read, { userId: user.id, nowMs: clock.nowMs() }))
        throw sessionInvalid();
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

/** A cookie carries the full rights of its user. */
const ALL_SCOPES: ReadonlySet<string> = new Set(USER_SCOPES);

/** The database's facts about a grant. */
interface Asked {
  holder: GrantHolder;
  /** of its user */
  subject: string;
}

/** Callers with access tokens. The cache saves the signature check and, until the revision changes, the query. */
class Bearers {
  constructor(private readonly dependencies: AuthenticatorDependencies) {}

  /** @returns undefined for a token that is not cached */
  verified(token: string): Principal | undefined {
    const { verified, holders, clock, keys, db } = this.dependencies;
    const known = verified.find(token);
    if (!known) return undefined;
    const nowMs = clock.nowMs();
    if (isExpired(known.expiresAtSeconds * SECOND_MS, nowMs)) throw tokenExpired();
    if (!keys.find(known.kid)) throw tokenInvalid("its key no longer verifies");
    const revision = db.revision("access");
    const holder =
      holders.find(known.grant, revision) ?? this.#ask(readUuid(known.grant), known.expiresAtSeconds).holder;
    if (holder.subject !== known.subject) throw accessRevoked();
    return new Bearer(this.dependencies, holder, known);
  }

  verify(token: string): Principal {
    const { verified, tokens, clock } = this.dependencies;
    const read = tokens.read(token);
    verified.add(token, read, Math.floor(clock.nowMs() / SECOND_MS));
    const { claims } = read;
    const { holder, subject } = this.#ask(claims.grant_id, claims.exp);
    if (subject !== claims.sub) throw accessRevoked();
    const facts = {
      scopes: new Set(claims.scope.split(" ")),
      expiresAtSeconds: claims.exp,
      issuedAtSeconds: claims.iat,
    };
    return new Bearer(this.dependencies, holder, facts);
  }

  /**
   * Queries the database and caches the result until the access token expires.
   * @throws DomainError `access.revoked`, `access.user_suspended` unless the grant and its user are active
   */
  #ask(grantId: string, expiresAtSeconds: number): Asked {
    const { db, holders, clock } = this.dependencies;
    // Read the revision before the query, so that a change in between makes the cached result stale, never wrong.
    const revision = db.revision("access");
    const found = activeUser(store.findHolder(db.read, grantId));
    if (found.revokedAtMs !== null) throw accessRevoked();
    const { userId, organizationId, role, loginSessionId, subject } = found;
    const holder = { grantId, userId, organizationId, role, loginSessionId, subject: subjectMark(subject) };
    const until = expiresAtSeconds + CLOCK_TOLERANCE_SECONDS;
    holders.put(holder, { revision, until, now: Math.floor(clock.nowMs() / SECOND_MS) });
    return { holder, subject };
  }
}

/** A caller with an access token. Few requests need the user's name or the ids of the login, so they are read only on demand. */
class Bearer implements Principal {
  readonly kind = "bearer";
  readonly sessionId = null;
  readonly renewed = false;
  readonly organizationId: string;
  readonly role: Role;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAtMs: number;
  readonly issuedAtMs: number;
  readonly #dependencies: Pick<AuthenticatorDependencies, "db" | "identity">;
  readonly #holder: GrantHolder;

  constructor(
    dependencies: Pick<AuthenticatorDependencies, "db" | "identity">,
    holder: GrantHolder,
    token: Pick<KnownToken, "scopes" | "expiresAtSeconds" | "issuedAtSeconds">,
  ) {
    this.#dependencies = dependencies;
    this.#holder = holder;
    this.organizationId = holder.organizationId;
    this.role = holder.role;
    this.scopes = token.scopes;
    this.expiresAtMs = token.expiresAtSeconds * SECOND_MS;
    this.issuedAtMs = token.issuedAtSeconds * SECOND_MS;
  }

  get userId(): string {
    return this.#holder.userId;
  }

  get sid(): string {
    return this.#holder.loginSessionId;
  }

  get grantId(): string {
    return this.#holder.grantId;
  }

  get subject(): string {
    return this.#user().subject;
  }

  get email(): string {
    return this.#user().email;
  }

  #user(): User {
    const { db, identity } = this.#dependencies;
    return activeUser(identity.findUserById(db.read, this.userId));
  }
}

function activeUser<U extends Pick<User, "status">>(user: U | undefined): U {
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
