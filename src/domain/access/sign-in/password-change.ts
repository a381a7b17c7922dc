// Changes a user's own password: checks the current one and signs every other browser out. Identity defines the rules for a new
// password.
import type { Clock } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { DomainError } from "../../../platform/errors.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Audit } from "../../audit/service.ts";
import { type Identity, passwordManagedElsewhere, type SignInUser } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { endOtherSessions } from "../logins/end-logins.ts";
import { sessionInvalid } from "../tokens/access-tokens.ts";
import { DeviceCookies } from "./device-cookie.ts";
import type { LoginSessions } from "./login-sessions.ts";
import {
  type CountedGuess,
  PasswordGuesses,
  type PasswordGuessesDependencies,
  recordCorrectPassword,
  requesterOf,
} from "./password-guesses.ts";

export interface PasswordChangesDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  audit: Audit;
  sealing: Pick<Sealing, "mac" | "isMac">;
  identity: Pick<Identity, "findUserByEmail" | "isPasswordOf" | "ownPasswords">;
  sessions: Pick<LoginSessions, "rotate">;
  limits: PasswordGuessesDependencies["limits"];
}

export interface PasswordChange {
  current: Secret;
  next: Secret;
  /** session of the requesting browser, which stays signed in */
  sessionId: string;
}

export interface ChangedPassword {
  /** replaces the token in the cookie, which is now invalid */
  sessionToken: string;
  /** replaces the browser's device cookie, which the new password invalidates */
  deviceCookie: string;
  /** number of other browsers that were signed out */
  sessionsEnded: number;
}

interface Hashing extends Pick<PasswordChange, "current" | "next"> {
  asker: ReturnType<typeof requesterOf>;
}

interface Replacement {
  actor: Actor;
  user: SignInUser;
  passwordHash: string;
  sessionId: string;
  guess: CountedGuess;
}

export class PasswordChanges {
  readonly #guesses: PasswordGuesses;
  readonly #deviceCookies: DeviceCookies;

  constructor(private readonly dependencies: PasswordChangesDependencies) {
    this.#guesses = new PasswordGuesses(dependencies);
    this.#deviceCookies = new DeviceCookies(dependencies);
  }

  /** @returns whether the actor has a password to change */
  hasPassword(actor: Actor): boolean {
    const user = this.#userOf(actor);
    return user !== undefined && this.dependencies.identity.ownPasswords.has(user);
  }

  /**
   * Replaces the password, gives the requesting browser a new session token, and signs every other browser out. Workstations stay
   * signed in; pending device logins that another browser approved end.
   * @throws DomainError `user.password_managed`, `identity.invalid`, `access.password_wrong`, `access.too_many_attempts`,
   *   `access.session_invalid`, `passwords.busy`
   */
  async change(actor: Actor, { current, next, sessionId }: PasswordChange): Promise<ChangedPassword> {
    const { db, identity } = this.dependencies;
    const user = this.#userOf(actor);
    if (!user || !identity.ownPasswords.has(user)) throw passwordManagedElsewhere();
    identity.ownPasswords.check({ current, next });
    const address = actor.address ?? null;
    // Counts guesses per session, like those of a known browser, so that guesses in a stolen session do not lock the user out.
    const tried = { email: user.email, address, deviceNonce: sessionId };
    const guess = await this.#guesses.count(tried);
    const passwordHash = await this.#hash(user, { current, next, asker: requesterOf(tried) }).catch(
      async (error: unknown) => {
        await this.#guesses.refund(guess);
        throw error;
      },
    );
    if (passwordHash === undefined) throw passwordWrong();
    const replacement = { actor, user, passwordHash, sessionId, guess };
    const changed = await db.write((tx) => this.#replace(tx, replacement), "access");
    return { ...changed, deviceCookie: this.#deviceCookies.issue({ ...user, passwordHash }) };
  }

  /** @returns the hash of the new password; undefined if the current one is wrong */
  async #hash(user: SignInUser, { current, next, asker }: Hashing) {
    const { identity } = this.dependencies;
    if (!(await identity.isPasswordOf(user, current, asker))) return undefined;
    return await identity.ownPasswords.hash(next);
  }

  /** Hashing takes a while, so this must reject a user who was signed out or got a new password during it. */
  #replace(tx: Tx, { actor, user, passwordHash, sessionId, guess }: Replacement) {
    const { clock, audit, identity, sessions } = this.dependencies;
    const now = identity.findUserByEmail(tx, user.organizationId, user.email);
    const isUnchanged = now?.id === user.id && now.passwordHash === user.passwordHash;
    const sessionToken = isUnchanged ? sessions.rotate(tx, sessionId) : undefined;
    if (sessionToken === undefined) throw sessionInvalid();
    recordCorrectPassword(tx, guess);
    identity.ownPasswords.replace(tx, user, passwordHash);
    const sessionsEnded = endOtherSessions(tx, { userId: user.id, sessionId, nowMs: clock.nowMs() });
    const after = { login_sessions_ended: sessionsEnded };
    audit.record(tx, { actor, action: "user.change_password", target: user.id, after });
    return { sessionToken, sessionsEnded };
  }

  #userOf({ organizationId, label, id }: Actor): SignInUser | undefined {
    const { db, identity } = this.dependencies;
    const user = identity.findUserByEmail(db.read, organizationId, label);
    return user?.id === id ? user : undefined;
  }
}

/** @returns the error for a wrong current password */
export const passwordWrong = () =>
  new DomainError("forbidden", "access.password_wrong", "the current password is wrong");
