// The second factors of users: who needs one, whether a proof is right, and how factors are added and removed. Each proof counts
// once. Callers bring their own transaction: sign-in-attempts.ts after the password, own-second-factors.ts in a browser session.
import type { Clock } from "../../../platform/clock.ts";
import type { Sealing } from "../../../platform/crypto/sealing.ts";
import type { Connection, Db, Tx } from "../../../platform/database/database.ts";
import type { Ids } from "../../../platform/ids.ts";
import { Secret } from "../../../platform/secret.ts";
import { emailKey, type User } from "../../identity/service.ts";
import * as budgets from "../budgets/budgets.ts";
import type { AccessSettings, LimitSettings } from "../settings.ts";
import { stepOf } from "./authenticator-app.ts";
import { Challenges } from "./challenges.ts";
import { factorWrong, passkeysUnavailable } from "./errors.ts";
import {
  CODE_GUESSES,
  type Demand,
  demandOf,
  type FactorKind,
  isRequired,
  type Proof,
  type RelyingParty,
  readCode,
  recoveryCodeHash,
  relyingPartyOf,
} from "./model.ts";
import { requestOptions, verifyUse } from "./passkeys.ts";
import * as store from "./second-factor-store.ts";

export interface SecondFactorsDependencies {
  db: Db;
  clock: Clock;
  ids: Ids;
  sealing: Sealing;
  settings: Pick<AccessSettings, "baseUrl" | "secondFactor">;
  limits: Pick<LimitSettings, "secondFactorGuesses" | "windowSeconds">;
}

/** The factors of a user, without secrets. */
export interface FactorsView {
  /** null without an authenticator app; times are UTC milliseconds */
  authenticatorApp: { createdAtMs: number; usedAtMs: number | null } | null;
  passkeys: readonly { id: string; name: string; createdAtMs: number; usedAtMs: number | null }[];
  /** unused ones */
  recoveryCodes: number;
  /** whether this user must keep a factor */
  isRequired: boolean;
}

/** The session or sign-in that presents a proof. */
export interface ProofHolder {
  user: Pick<User, "id" | "email">;
  /** its id, to which passkey challenges are bound */
  holderId: string;
  /**
   * Counts its wrong codes separately, so that guesses from elsewhere do not lock it out: the session, or the mark of a browser
   * that has signed in before. Undefined counts them for the account.
   */
  known: string | undefined;
}

/** Uses up a checked proof in the caller's transaction. @throws DomainError `access.second_factor_wrong` if it was used before */
export type Accept = (tx: Tx) => FactorKind;

/** @returns the sealing context of the secret of a user's authenticator app */
export const appContext = (userId: string): string => `authenticator-app:${userId}`;

export class SecondFactors {
  readonly challenges: Challenges;

  constructor(private readonly dependencies: SecondFactorsDependencies) {
    this.challenges = new Challenges(dependencies);
  }

  /** @returns what the user's sign-in needs after the password */
  demand(connection: Connection, { id, role }: Pick<User, "id" | "role">): Demand {
    const mode = this.dependencies.settings.secondFactor;
    return mode === "off" ? "nothing" : demandOf(mode, { role, hasFactor: this.has(connection, id) });
  }

  /** @returns whether the user has an authenticator app or a passkey */
  has(connection: Connection, userId: string): boolean {
    return (
      store.findApp(connection, userId) !== undefined || store.listPasskeys(connection, userId).length > 0
    );
  }

  view(connection: Connection, { id, role }: Pick<User, "id" | "role">): FactorsView {
    const app = store.findApp(connection, id);
    return {
      authenticatorApp: app ? { createdAtMs: app.createdAtMs, usedAtMs: app.usedAtMs } : null,
      passkeys: store
        .listPasskeys(connection, id)
        .map(({ id, name, createdAtMs, usedAtMs }) => ({ id, name, createdAtMs, usedAtMs })),
      recoveryCodes: store.countRecoveryCodes(connection, id),
      isRequired: isRequired(this.dependencies.settings.secondFactor, role),
    };
  }

  /** @returns whether passkeys work at our origin */
  offersPasskeys(): boolean {
    return relyingPartyOf(this.dependencies.settings.baseUrl()) !== undefined;
  }

  /** @throws DomainError `second_factor.passkeys_unavailable` */
  party(): RelyingParty {
    const party = relyingPartyOf(this.dependencies.settings.baseUrl());
    if (!party) throw passkeysUnavailable();
    return party;
  }

  /** @returns the options of `navigator.credentials.get()`; undefined if the user has no passkey or none works here */
  async passkeyRequest({ user, holderId }: ProofHolder): Promise<object | undefined> {
    const known = store.listPasskeys(this.dependencies.db.read, user.id);
    if (known.length === 0 || !this.offersPasskeys()) return undefined;
    const challenge = this.challenges.issue({ purpose: "prove", userId: user.id, holderId });
    return await requestOptions({ party: this.party(), challenge, known });
  }

  /**
   * Checks a proof and counts it as a guess. The proof is used up when the caller accepts it.
   * @throws DomainError `access.second_factor_wrong`, `access.too_many_attempts`
   */
  async check(holder: ProofHolder, proof: Proof): Promise<Accept> {
    if ("passkey" in proof) return await this.#checkPasskey(holder, proof.passkey);
    const budget = this.#budgetOf(holder);
    const { db } = this.dependencies;
    budgets.check(db.read, budget);
    await db.write((tx) => budgets.consumeBudget(tx, budget), "access");
    const read = readCode(proof.code);
    if (!read || !this.#isRight(db.read, holder.user.id, read)) throw factorWrong();
    return (tx) => {
      if (!this.#take(tx, holder.user.id, read)) throw factorWrong();
      budgets.clear(tx, budget);
      return read.kind;
    };
  }

  /** A passkey cannot be guessed, so its responses are not counted. */
  async #checkPasskey({ user, holderId }: ProofHolder, text: string): Promise<Accept> {
    const { db, clock } = this.dependencies;
    const isChallenge = (encoded: string) =>
      this.challenges.isValid(encoded, { purpose: "prove", userId: user.id, holderId });
    const known = store.listPasskeys(db.read, user.id);
    const { passkey, counter, challenge } = await verifyUse(text, {
      party: this.party(),
      isChallenge,
      known,
    });
    return (tx) => {
      const use = { id: passkey.id, counter, before: passkey.counter, nowMs: clock.nowMs() };
      if (!this.challenges.spend(tx, challenge) || !store.usePasskey(tx, use)) throw factorWrong();
      return "passkey";
    };
  }

  #isRight(connection: Connection, userId: string, code: ReadCode): boolean {
    return code.kind === "authenticator_app"
      ? this.#stepOf(connection, userId, code.code) !== undefined
      : true;
  }

  /** Uses up a code. @returns false if it is wrong or was used before */
  #take(tx: Tx, userId: string, { kind, code }: ReadCode): boolean {
    if (kind === "recovery_code")
      return store.takeRecoveryCode(tx, { userId, codeHash: recoveryCodeHash(userId, code) });
    const step = this.#stepOf(tx, userId, code);
    return (
      step !== undefined && store.spendStep(tx, { userId, step, nowMs: this.dependencies.clock.nowMs() })
    );
  }

  #stepOf(connection: Connection, userId: string, code: string): number | undefined {
    const app = store.findApp(connection, userId);
    if (!app) return undefined;
    const secret = new Secret(this.dependencies.sealing.open(app.sealedSecret, appContext(userId)));
    return stepOf(secret, code, this.dependencies.clock.nowMs());
  }

  #budgetOf({ user, known }: ProofHolder): budgets.Budget {
    const { clock, limits } = this.dependencies;
    const { secondFactorGuesses: limit, windowSeconds } = limits;
    const window = { subject: emailKey(user.email), limit, windowSeconds, nowMs: clock.nowMs() };
    return known === undefined
      ? { ...window, name: CODE_GUESSES.ofAccount }
      : { ...window, name: CODE_GUESSES.ofBrowser, part: known };
  }
}

type ReadCode = NonNullable<ReturnType<typeof readCode>>;
