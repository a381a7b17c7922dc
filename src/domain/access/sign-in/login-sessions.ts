// Browser sign-in with a password, and the login session that it opens: 12 hours by default, extended by use. Finds the session
// of a cookie; authenticate.ts finds its user and checks that the user is active.
import { type Clock, HOUR_MS, SECOND_MS } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { type Ids, randomToken, sha256Hex } from "../../../platform/ids.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Audit } from "../../audit/service.ts";
import { emailKey, type Identity, type SignInUser, type User } from "../../identity/service.ts";
import { type Actor, userActor } from "../../shared/actor.ts";
import { ENDED_LOGIN_KEPT_MS } from "../model.ts";
import { SecondFactorNeeded } from "../second-factor/errors.ts";
import type { Demand } from "../second-factor/model.ts";
import type { Accept, SecondFactors } from "../second-factor/second-factors.ts";
import type { SignInAttempts } from "../second-factor/sign-in-attempts.ts";
import type { AccessSettings } from "../settings.ts";
import { DeviceCookies } from "./device-cookie.ts";
import { passwordSignInOff, signInFailed } from "./errors.ts";
import type { LoginSessionRow } from "./login-sessions-store.ts";
import * as store from "./login-sessions-store.ts";
import type { PasswordGuessesDependencies } from "./password-guesses.ts";
import {
  type CountedGuess,
  PasswordGuesses,
  recordCorrectPassword,
  requesterOf,
} from "./password-guesses.ts";
import {
  type Entered,
  isRecovery,
  type OpenedSession,
  type Origin,
  type SignedIn,
  type SignInMethod,
  type SignInName,
  type SignInRequest,
} from "./sign-in-messages.ts";

export type { LoginSessionRow } from "./login-sessions-store.ts";
export type {
  OpenedSession,
  Origin,
  SignedIn,
  SignInMethod,
  SignInName,
  SignInRequest,
} from "./sign-in-messages.ts";

export interface LoginSessionsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  identity: Pick<Identity, "findOrganization" | "findUserByEmail" | "findUserById" | "isPasswordOf">;
  settings: Pick<AccessSettings, "browserSessionTtlSeconds" | "identityMode">;
  sealing: Pick<Sealing, "mac" | "isMac">;
  limits: PasswordGuessesDependencies["limits"];
  factors: Pick<SecondFactors, "demand" | "check">;
  attempts: Pick<SignInAttempts, "begin">;
}

/** Minimum time between two extensions of a session. */
const RENEWAL_INTERVAL_MS = HOUR_MS;
/** Characters of a session token: 32 bytes in base64url. Other lengths are rejected without hashing. */
const SESSION_TOKEN_LENGTH = 43;
/** Number of characters of an unknown address's keyed hash in the log. */
const ACCOUNT_HASH_LENGTH = 16;
/** Longer user agents are truncated. */
export const USER_AGENT_LENGTH_MAX = 256;

/** Login sessions; created once, in service.ts. */
export class LoginSessions {
  /** sessions whose extension is being written */
  readonly #renewing = new Set<string>();

  readonly #guesses: PasswordGuesses;
  readonly #deviceCookies: DeviceCookies;

  constructor(private readonly dependencies: LoginSessionsDependencies) {
    this.#guesses = new PasswordGuesses(dependencies);
    this.#deviceCookies = new DeviceCookies(dependencies);
  }

  /**
   * Checks e-mail and password and opens a session.
   * @returns the session with its token, the user, and a device cookie for the next sign-in
   * @throws DomainError `access.sign_in_failed`, the same for an unknown account, a wrong password and a suspended user;
   *   `access.password_sign_in_off`, `access.second_factor_wrong`, `access.too_many_attempts`, `passwords.busy`
   * @throws SecondFactorNeeded if the password is right and the second factor is missing; factor-sign-in.ts continues the sign-in
   */
  async signIn(request: SignInRequest): Promise<SignedIn> {
    const { db, identity } = this.dependencies;
    const organization = identity.findOrganization(db.read);
    const user = organization && identity.findUserByEmail(db.read, organization.id, request.email);
    const deviceNonce = this.#deviceCookies.nonceOf(request.deviceCookie, user);
    const tried = { ...request, deviceNonce };
    const guess = await this.#guesses.count(tried);
    const matches = await identity
      .isPasswordOf(user, request.password, requesterOf(tried))
      .catch(async (error: unknown) => {
        await this.#guesses.refund(guess);
        throw error;
      });
    if (!user || !matches || user.status !== "active") throw signInFailed();
    const isPasswordAlone = request.how?.method !== "oidc";
    if (isPasswordAlone && this.dependencies.settings.identityMode === "oidc" && !user.protected)
      throw passwordSignInOff();
    const factor = await this.#checkFactor(user, { code: request.code, deviceNonce });
    const admission = { request, guess, factor };
    const admitted = await db.write((tx) => this.#admit(tx, user, admission), "access");
    if ("demand" in admitted) throw new SecondFactorNeeded(admitted.demand, admitted.attempt);
    return { session: admitted, user: withoutHash(user), deviceCookie: this.#deviceCookies.issue(user) };
  }

  /**
   * Identifies the user who tried to sign in, for the log.
   * @returns the user id, or a keyed hash of an unknown address, because people sometimes type passwords there
   */
  nameForLog(email: string): SignInName {
    const { db, identity, sealing } = this.dependencies;
    const hash = sealing.mac(emailKey(email), "account in log").slice(0, ACCOUNT_HASH_LENGTH);
    const organization = identity.findOrganization(db.read);
    const user = organization && identity.findUserByEmail(db.read, organization.id, email);
    return user ? { userId: user.id } : { hash };
  }

  /**
   * Opens a session for an authenticated user, in the caller's transaction.
   * @param isFresh whether the user has just authenticated here; then sensitive operations need no confirmation for a while
   */
  open(
    tx: Tx,
    userId: string,
    { address, userAgent, isFresh = false }: Origin & { isFresh?: boolean },
    how: SignInMethod = PASSWORD,
  ): OpenedSession {
    const { clock, ids, settings } = this.dependencies;
    const nowMs = clock.nowMs();
    const session = { id: ids.uuid(), expiresAtMs: nowMs + settings.browserSessionTtlSeconds * SECOND_MS };
    const token = randomToken(ids);
    store.add(tx, {
      ...session,
      userId,
      tokenHash: sha256Hex(token),
      address,
      userAgent: userAgent?.slice(0, USER_AGENT_LENGTH_MAX) ?? null,
      createdAtMs: nowMs,
      renewedAtMs: nowMs,
      endedAtMs: null,
      confirmedAtMs: isFresh ? nowMs : null,
      ...NO_PROVIDER,
      ...how,
    });
    return { ...session, token };
  }

  /**
   * Opens a session for a user who has just authenticated, and records how, in the caller's transaction. It replaces the browser's
   * current session, of any user, which would otherwise stay open unused.
   * @param entered.secondFactor kind of the second factor, if one was given
   */
  enter(
    tx: Tx,
    user: Pick<User, "id">,
    { actor, origin, how = PASSWORD, secondFactor, isFresh = how.method === "password" }: Entered,
  ): OpenedSession {
    const { audit, settings } = this.dependencies;
    const isPassword = how.method === "password";
    if (origin.sessionToken !== undefined) this.close(tx, origin.sessionToken, actor);
    const session = this.open(tx, user.id, { ...origin, isFresh }, how);
    const after = {
      method: how.method,
      ...(how.method === "oidc" && { issuer: how.issuer }),
      ...(secondFactor !== undefined && { second_factor: secondFactor }),
      ...(isPassword && isRecovery(settings) && { is_recovery: true }),
    };
    audit.record(tx, { actor, action: "login_session.open", target: session.id, after });
    return session;
  }

  /** @returns the session of a cookie's token; undefined if it is unknown, ended or expired */
  find(token: string): LoginSessionRow | undefined {
    if (token.length !== SESSION_TOKEN_LENGTH) return undefined;
    const row = store.findOpen(this.dependencies.db.read, sha256Hex(token));
    return row && this.dependencies.clock.nowMs() < row.expiresAtMs ? row : undefined;
  }

  /**
   * Extends a session in use, at most once an hour. The caller does not wait for the write.
   * @returns the new expiry if the session was extended, else undefined
   */
  renew(session: LoginSessionRow): number | undefined {
    const nowMs = this.dependencies.clock.nowMs();
    if (nowMs - session.renewedAtMs < RENEWAL_INTERVAL_MS || this.#renewing.has(session.id)) return undefined;
    const expiresAtMs = nowMs + this.dependencies.settings.browserSessionTtlSeconds * SECOND_MS;
    this.#renewing.add(session.id);
    this.dependencies.db
      .write((tx) => store.extend(tx, session.id, { renewedAtMs: nowMs, expiresAtMs }), "access")
      .catch(() => {
        // The old expiry stays valid, and the next use tries again.
      })
      .finally(() => this.#renewing.delete(session.id));
    return expiresAtMs;
  }

  /**
   * Replaces the token of an open session in the caller's transaction; the old token becomes invalid.
   * @returns the new token; undefined if the session has ended
   */
  rotate(tx: Tx, sessionId: string): string | undefined {
    const token = randomToken(this.dependencies.ids);
    return store.replaceToken(tx, sessionId, sha256Hex(token)) ? token : undefined;
  }

  /** Signs a browser out: ends its session, but not the grants that it approved. */
  async end(token: string, actor: Actor): Promise<void> {
    const { db } = this.dependencies;
    if (!this.find(token)) return;
    await db.write((tx) => this.close(tx, token, actor), "access");
  }

  /** Like `end`, in the caller's transaction: a new sign-in replaces the session of a browser. */
  close(tx: Tx, token: string, actor: Actor): void {
    const { clock, audit } = this.dependencies;
    const ended = store.endByToken(tx, sha256Hex(token), clock.nowMs());
    if (ended) audit.record(tx, { actor, action: "login_session.end", target: ended.id });
  }

  /** Removes sessions that ended long ago and that nothing refers to. @returns how many, SWEEP_BATCH_ROWS at most */
  sweep(tx: Tx): number {
    return store.removeExpired(tx, this.dependencies.clock.nowMs() - ENDED_LOGIN_KEPT_MS);
  }

  /** @returns undefined if the request has no code or needs none */
  async #checkFactor(
    user: SignInUser,
    { code, deviceNonce }: { code: Secret | undefined; deviceNonce: string | undefined },
  ): Promise<Accept | undefined> {
    const { db, factors } = this.dependencies;
    if (code === undefined || factors.demand(db.read, user) !== "proof") return undefined;
    return await factors.check({ user, holderId: user.id, known: deviceNonce }, { code });
  }

  /**
   * Hashing takes about 100 ms, so this must reject a user who was suspended or got a new password during it.
   * @returns the session, or what is missing and the token of the waiting sign-in
   */
  #admit(tx: Tx, user: SignInUser, { request, guess, factor }: Admission): OpenedSession | Awaiting {
    const { identity, attempts } = this.dependencies;
    if (identity.findUserById(tx, user.id)?.updatedAtMs !== user.updatedAtMs) throw signInFailed();
    recordCorrectPassword(tx, guess);
    const demand = this.#demand(tx, user, request);
    if (demand !== "nothing" && !factor) return { demand, attempt: attempts.begin(tx, user) };
    const kind = factor?.(tx);
    request.alongside?.(tx, withoutHash(user));
    const entered = {
      actor: userActor(user, request),
      origin: request,
      how: request.how,
      secondFactor: kind,
      isFresh: true,
    };
    return this.enter(tx, user, entered);
  }

  /** If the password only links an account to the identity provider, the account needs its existing factor but no new one. */
  #demand(tx: Tx, user: SignInUser, { how }: SignInRequest): Demand {
    const demand = this.dependencies.factors.demand(tx, user);
    return how?.method === "oidc" && demand === "enrollment" ? "nothing" : demand;
  }
}

const PASSWORD = { method: "password" } as const;
const NO_PROVIDER = { issuer: null, providerSessionId: null, authTimeMs: null, acr: null };

interface Admission {
  request: SignInRequest;
  guess: CountedGuess;
  factor: Accept | undefined;
}

interface Awaiting {
  demand: Exclude<Demand, "nothing">;
  attempt: Secret;
}

const withoutHash = ({ passwordHash: _, ...user }: SignInUser): User => user;
