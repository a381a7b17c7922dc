// The second half of a password sign-in: checks the second factor, or sets up the first one, and opens the session.
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import type { Secret } from "../../../platform/secret.ts";
import { userActor } from "../../shared/actor.ts";
import { attemptOver } from "../second-factor/errors.ts";
import type { Add, AddedFactor, AppSetup, FactorSetup } from "../second-factor/factor-setup.ts";
import type { FactorKind, Proof } from "../second-factor/model.ts";
import type { FactorsView, ProofHolder, SecondFactors } from "../second-factor/second-factors.ts";
import type { SignInAttempt, SignInAttempts } from "../second-factor/sign-in-attempts.ts";
import { DeviceCookies } from "./device-cookie.ts";
import type { LoginSessions, Origin, SignedIn } from "./login-sessions.ts";

export interface FactorSignInsDependencies {
  db: Db;
  ids: Ids;
  sealing: Pick<Sealing, "mac" | "isMac">;
  factors: SecondFactors;
  setup: FactorSetup;
  attempts: SignInAttempts;
  sessions: Pick<LoginSessions, "enter">;
}

/** The browser that continues a sign-in. */
export interface AttemptRequest extends Origin {
  /** from the cookie */
  token: Secret;
  /** the device cookie that the browser sent, valid or not */
  deviceCookie?: string | undefined;
  /** the browser's current session, which the new one replaces */
  sessionToken?: string | undefined;
  requestId?: string;
}

export interface SignedInWithFactor extends SignedIn {
  factor: FactorKind;
}

export interface SignedInAndSetUp extends SignedIn, AddedFactor {}

export class FactorSignIns {
  readonly #deviceCookies: DeviceCookies;

  constructor(private readonly dependencies: FactorSignInsDependencies) {
    this.#deviceCookies = new DeviceCookies(dependencies);
  }

  /** @returns the attempt with the factors of its user; undefined if it has ended */
  find(token: Secret): (SignInAttempt & { factors: FactorsView }) | undefined {
    const attempt = this.dependencies.attempts.find(token);
    return (
      attempt && {
        ...attempt,
        factors: this.dependencies.factors.view(this.dependencies.db.read, attempt.user),
      }
    );
  }

  /** @returns the options of `navigator.credentials.get()`; undefined if the user has no passkey that works here */
  passkeyRequest(attempt: SignInAttempt): Promise<object | undefined> {
    return this.dependencies.factors.passkeyRequest({ ...holderOf(attempt), known: undefined });
  }

  /**
   * Checks the second factor and opens the session.
   * @throws DomainError `access.sign_in_expired`, `access.second_factor_wrong`, `access.too_many_attempts`
   */
  async prove(request: AttemptRequest, proof: Proof): Promise<SignedInWithFactor> {
    const attempt = this.#get(request, "proof");
    const known = this.#deviceCookies.nonceOf(request.deviceCookie, attempt.user);
    const holder: ProofHolder = { ...holderOf(attempt), known };
    const accept = await this.dependencies.factors.check(holder, proof);
    return await this.#open(attempt, request, (tx) => {
      const factor = accept(tx);
      return { secondFactor: factor, result: { factor } };
    });
  }

  startApp(request: AttemptRequest): AppSetup {
    return this.dependencies.setup.startApp(holderOf(this.#get(request, "enrollment")));
  }

  resumeApp(request: AttemptRequest, sealed: string): AppSetup {
    return this.dependencies.setup.resumeApp(holderOf(this.#get(request, "enrollment")), sealed);
  }

  startPasskey(request: AttemptRequest): Promise<object> {
    return this.dependencies.setup.startPasskey(holderOf(this.#get(request, "enrollment")));
  }

  /**
   * Adds the first factor, an authenticator app, and opens the session.
   * @throws DomainError `access.sign_in_expired`, those of FactorSetup.checkApp
   */
  async addApp(request: AttemptRequest, given: { sealed: string; code: Secret }): Promise<SignedInAndSetUp> {
    const attempt = this.#get(request, "enrollment");
    return await this.#setUp(attempt, request, this.dependencies.setup.checkApp(holderOf(attempt), given));
  }

  /**
   * Adds the first factor, a passkey, and opens the session.
   * @throws DomainError `access.sign_in_expired`, those of FactorSetup.checkPasskey
   */
  async addPasskey(
    request: AttemptRequest,
    given: { answer: string; name: string },
  ): Promise<SignedInAndSetUp> {
    const attempt = this.#get(request, "enrollment");
    return await this.#setUp(
      attempt,
      request,
      await this.dependencies.setup.checkPasskey(holderOf(attempt), given),
    );
  }

  #setUp(attempt: SignInAttempt, request: AttemptRequest, add: Add): Promise<SignedInAndSetUp> {
    return this.#open(attempt, request, (tx) => {
      // Another tab may have set up a factor since then; this browser must then use it.
      if (this.dependencies.factors.has(tx, attempt.user.id)) throw attemptOver();
      const added = add(tx, userActor(attempt.user, request));
      return { secondFactor: added.kind, result: added };
    });
  }

  /** @throws DomainError `access.sign_in_expired` unless the attempt still needs this step */
  #get({ token }: AttemptRequest, demand: "proof" | "enrollment"): SignInAttempt {
    const attempt = this.dependencies.attempts.find(token);
    if (attempt?.demand !== demand) throw attemptOver();
    return attempt;
  }

  async #open<T extends object>(
    attempt: SignInAttempt,
    request: AttemptRequest,
    change: (tx: Tx) => { secondFactor: string; result: T },
  ): Promise<SignedIn & T> {
    const { db, attempts, sessions } = this.dependencies;
    const { passwordHash: _, ...user } = attempt.user;
    const { session, result } = await db.write((tx) => {
      attempts.take(tx, attempt);
      const { secondFactor, result } = change(tx);
      const actor = userActor(user, request);
      return { session: sessions.enter(tx, user, { actor, origin: request, secondFactor }), result };
    }, "access");
    return { ...result, session, user, deviceCookie: this.#deviceCookies.issue(attempt.user) };
  }
}

const holderOf = ({ id, user }: SignInAttempt) => ({ user, holderId: id });
