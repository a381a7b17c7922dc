// Lets users manage their own second factors in a browser session: confirm their identity, add and remove factors, and draw new
// recovery codes. Every change needs a confirmation from the last ten minutes, so that a browser left open changes nothing.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity, SignInUser } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import type { AccessSettings } from "../settings.ts";
import * as sessionStore from "../sign-in/login-sessions-store.ts";
import { passwordWrong } from "../sign-in/password-change.ts";
import {
  PasswordGuesses,
  type PasswordGuessesDependencies,
  recordCorrectPassword,
  requesterOf,
} from "../sign-in/password-guesses.ts";
import { sessionInvalid } from "../tokens/access-tokens.ts";
import { confirmationNeeded, factorNotFound, factorStillRequired, factorsOff } from "./errors.ts";
import type { Add, AddedFactor, AppSetup, FactorSetup } from "./factor-setup.ts";
import { CONFIRMATION_TTL_MS, type FactorKind, type Proof } from "./model.ts";
import * as store from "./second-factor-store.ts";
import type { FactorsView, SecondFactors } from "./second-factors.ts";

export interface OwnSecondFactorsDependencies extends PasswordGuessesDependencies {
  db: Db;
  audit: Audit;
  sealing: Pick<Sealing, "mac" | "isMac">;
  identity: Pick<Identity, "findUserByEmail" | "isPasswordOf">;
  settings: Pick<AccessSettings, "identityMode" | "secondFactor">;
  factors: SecondFactors;
  setup: FactorSetup;
}

/** The browser session that acts. */
export interface OwnSession {
  actor: Actor;
  sessionId: string;
}

export class OwnSecondFactors {
  readonly #guesses: PasswordGuesses;

  constructor(private readonly dependencies: OwnSecondFactorsDependencies) {
    this.#guesses = new PasswordGuesses(dependencies);
  }

  /** @returns the factors; undefined if the setting is off or the user signs in without a password */
  view(actor: Actor): FactorsView | undefined {
    const user = this.#find(actor);
    return user && this.dependencies.factors.view(this.dependencies.db.read, user);
  }

  /** @returns whether the session was confirmed recently */
  isConfirmed({ sessionId }: Pick<OwnSession, "sessionId">): boolean {
    return this.#isConfirmed(sessionStore.findById(this.dependencies.db.read, sessionId));
  }

  /** @returns what can confirm this session: a factor, the password of a user without one, or the provider if neither exists */
  confirmsWith(actor: Actor): "factor" | "password" | "provider" {
    const user = this.#findWithPassword(actor);
    if (!user) return "provider";
    return this.#givesFactor(this.dependencies.db.read, user.id) ? "factor" : "password";
  }

  /** @returns the options of `navigator.credentials.get()`; undefined if the user has no passkey that works here */
  passkeyRequest({ actor, sessionId }: OwnSession): Promise<object | undefined> {
    return this.dependencies.factors.passkeyRequest({
      user: this.#get(actor),
      holderId: sessionId,
      known: sessionId,
    });
  }

  /**
   * Confirms the session with a second factor.
   * @throws DomainError `second_factor.off`, `access.second_factor_wrong`, `access.too_many_attempts`,
   *   `access.session_invalid`
   */
  async confirm({ actor, sessionId }: OwnSession, proof: Proof): Promise<FactorKind> {
    const { db, factors } = this.dependencies;
    const holder = { user: this.#get(actor), holderId: sessionId, known: sessionId };
    const accept = await factors.check(holder, proof);
    return await db.write((tx) => {
      const kind = accept(tx);
      this.#confirmed(tx, { actor, sessionId }, kind);
      return kind;
    }, "access");
  }

  /**
   * Confirms the session of a user without a factor with the password. The setting may be off.
   * @throws DomainError `access.password_wrong`, `access.too_many_attempts`, `access.session_invalid`,
   *   `access.confirmation_needed` if the user has a factor or no password, `passwords.busy`
   */
  async confirmWithPassword({ actor, sessionId }: OwnSession, password: Secret): Promise<void> {
    const { db, identity } = this.dependencies;
    const user = this.#findWithPassword(actor);
    if (!user) throw confirmationNeeded();
    const tried = { email: user.email, address: actor.address ?? null, deviceNonce: sessionId };
    const guess = await this.#guesses.count(tried);
    const matches = await identity
      .isPasswordOf(user, password, requesterOf(tried))
      .catch(async (error: unknown) => {
        await this.#guesses.refund(guess);
        throw error;
      });
    if (!matches) throw passwordWrong();
    await db.write((tx) => {
      const now = identity.findUserByEmail(tx, user.organizationId, user.email);
      if (now?.id !== user.id || now.passwordHash !== user.passwordHash) throw sessionInvalid();
      if (this.#givesFactor(tx, user.id)) throw confirmationNeeded();
      recordCorrectPassword(tx, guess);
      this.#confirmed(tx, { actor, sessionId }, "password");
    }, "access");
  }

  /** @throws DomainError `second_factor.off`, `access.confirmation_needed` */
  startApp(session: OwnSession): AppSetup {
    return this.dependencies.setup.startApp(this.#holder(session));
  }

  /** @throws DomainError as `startApp`, `second_factor.setup_expired` */
  resumeApp(session: OwnSession, sealed: string): AppSetup {
    return this.dependencies.setup.resumeApp(this.#holder(session), sealed);
  }

  /**
   * Adds an authenticator app, or replaces it.
   * @throws DomainError as `startApp`, and those of FactorSetup.checkApp
   */
  async addApp(session: OwnSession, given: { sealed: string; code: Secret }): Promise<AddedFactor> {
    return await this.#add(session, this.dependencies.setup.checkApp(this.#holder(session), given));
  }

  /** @throws DomainError as `startApp`, and those of FactorSetup.startPasskey */
  async startPasskey(session: OwnSession): Promise<object> {
    return await this.dependencies.setup.startPasskey(this.#holder(session));
  }

  /** @throws DomainError as `startApp`, and those of FactorSetup.checkPasskey */
  async addPasskey(session: OwnSession, given: { answer: string; name: string }): Promise<AddedFactor> {
    return await this.#add(session, await this.dependencies.setup.checkPasskey(this.#holder(session), given));
  }

  /** @throws DomainError as `startApp`, `second_factor.not_found`, `second_factor.required` */
  removeApp(session: OwnSession): Promise<void> {
    return this.#remove(
      session,
      { kind: "authenticator_app" },
      (tx, userId) => store.removeApp(tx, userId) > 0,
    );
  }

  /** @throws DomainError as `removeApp` */
  removePasskey(session: OwnSession, id: string): Promise<void> {
    return this.#remove(
      session,
      { kind: "passkey", id },
      (tx, userId) => store.takePasskey(tx, { userId, id }) !== undefined,
    );
  }

  /**
   * Replaces the recovery codes.
   * @returns the new ones, to show once
   * @throws DomainError as `startApp`, `second_factor.not_found` if the user has no factor
   */
  renewRecoveryCodes(session: OwnSession): Promise<readonly Secret[]> {
    const { db, audit, factors, setup } = this.dependencies;
    const { user } = this.#holder(session);
    return db.write((tx) => {
      this.#refuseUnconfirmed(tx, session);
      if (!factors.has(tx, user.id)) throw factorNotFound();
      const { actor } = session;
      audit.record(tx, { actor, action: "second_factor.renew_recovery_codes", target: user.id });
      return setup.renewCodes(tx, user.id);
    }, "access");
  }

  #add(session: OwnSession, add: Add): Promise<AddedFactor> {
    const { clock } = this.dependencies;
    return this.dependencies.db.write((tx) => {
      this.#refuseUnconfirmed(tx, session);
      const added = add(tx, session.actor);
      const { sessionId, actor } = session;
      // Other browsers were confirmed with a weaker proof than the new factor.
      if (added.isFirst && actor.id !== null) sessionStore.forgetConfirmations(tx, actor.id);
      sessionStore.confirm(tx, sessionId, clock.nowMs());
      return added;
    }, "access");
  }

  #remove(
    session: OwnSession,
    before: { kind: FactorKind; id?: string },
    remove: (tx: Tx, userId: string) => boolean,
  ): Promise<void> {
    const { db, audit, factors } = this.dependencies;
    const { user } = this.#holder(session);
    return db.write((tx) => {
      this.#refuseUnconfirmed(tx, session);
      if (!remove(tx, user.id)) throw factorNotFound();
      const hasOther = factors.has(tx, user.id);
      if (!hasOther && factors.view(tx, user).isRequired) throw factorStillRequired();
      if (!hasOther) store.removeRecoveryCodes(tx, user.id);
      const { actor } = session;
      audit.record(tx, { actor, action: "second_factor.remove", target: user.id, before });
    }, "access");
  }

  #confirmed(tx: Tx, { actor, sessionId }: OwnSession, kind: FactorKind | "password"): void {
    if (!sessionStore.confirm(tx, sessionId, this.dependencies.clock.nowMs())) throw sessionInvalid();
    const after = { confirmed_with: kind };
    this.dependencies.audit.record(tx, { actor, action: "login_session.confirm", target: sessionId, after });
  }

  /** @throws DomainError `second_factor.off`, `access.confirmation_needed` */
  #holder({ actor, sessionId }: OwnSession): { user: SignInUser; holderId: string } {
    const user = this.#get(actor);
    this.#refuseUnconfirmed(this.dependencies.db.read, { sessionId });
    return { user, holderId: sessionId };
  }

  #refuseUnconfirmed(connection: Tx | Db["read"], { sessionId }: Pick<OwnSession, "sessionId">): void {
    if (!this.#isConfirmed(sessionStore.findById(connection, sessionId))) throw confirmationNeeded();
  }

  #isConfirmed(session: sessionStore.LoginSessionRow | undefined): boolean {
    return isConfirmedAt(session, this.dependencies.clock.nowMs());
  }

  #get(actor: Actor): SignInUser {
    const user = this.#find(actor);
    if (!user) throw factorsOff();
    return user;
  }

  #find(actor: Actor): SignInUser | undefined {
    return this.dependencies.settings.secondFactor === "off" ? undefined : this.#findWithPassword(actor);
  }

  #givesFactor(connection: Tx | Db["read"], userId: string): boolean {
    return (
      this.dependencies.settings.secondFactor !== "off" && this.dependencies.factors.has(connection, userId)
    );
  }

  #findWithPassword({ organizationId, label, id }: Actor): SignInUser | undefined {
    const { db, identity, settings } = this.dependencies;
    const user = identity.findUserByEmail(db.read, organizationId, label);
    const hasPassword =
      user?.passwordHash != null && (settings.identityMode === "password" || user.protected);
    return user?.id === id && hasPassword ? user : undefined;
  }
}

/** @returns whether an open session was confirmed within CONFIRMATION_TTL_MS; false if the clock was set back */
export function isConfirmedAt(session: sessionStore.LoginSessionRow | undefined, nowMs: number): boolean {
  if (!session || session.endedAtMs !== null || session.confirmedAtMs === null) return false;
  return isRecent(session.confirmedAtMs, nowMs);
}

/** @returns whether a time is within the last CONFIRMATION_TTL_MS */
export function isRecent(atMs: number, nowMs: number): boolean {
  const ageMs = nowMs - atMs;
  return ageMs >= 0 && ageMs < CONFIRMATION_TTL_MS;
}
