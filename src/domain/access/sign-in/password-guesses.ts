// Limits wrong passwords: per account and address, per account, and per address. A browser that has signed in to the account before
// has its own counter instead of the account's, so that others cannot lock the user out.
import type { Clock } from "../../../platform/clock.ts";
import type { HashRequester } from "../../../platform/crypto/passwords.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import { emailKey } from "../../identity/service.ts";
import * as budgets from "../budgets/budgets.ts";
import { countedAddress, countedNetwork } from "../budgets/counted-address.ts";
import { CODE_GUESSES } from "../second-factor/model.ts";
import type { LimitSettings } from "../settings.ts";

export interface Guess {
  /** as typed; the attempt counts even if the account does not exist */
  email: string;
  /** network address; null over a local socket, whose callers share one counter */
  address: string | null;
  /** from `DeviceCookies.nonceOf`; undefined if the browser is new to this account */
  deviceNonce: string | undefined;
}

/** A counted guess whose outcome is not known yet. */
export interface CountedGuess {
  /** counts this caller for this account; cleared by a correct password */
  own: budgets.Budget;
  /** counters shared with others; a correct password refunds only its own attempt */
  shared: readonly budgets.Budget[];
}

export interface PasswordGuessesDependencies {
  db: Db;
  clock: Clock;
  limits: Pick<
    LimitSettings,
    | "passwordGuessesPerAccountAndAddress"
    | "passwordGuessesPerAccount"
    | "passwordGuessesPerAddress"
    | "windowSeconds"
  >;
}

const FROM_ADDRESS = "password.account_address";
const FROM_DEVICE = "password.device";
const ACCOUNT = "password.account";
const ADDRESS = "password.address";

/** Every password check must count its attempt here. */
export class PasswordGuesses {
  constructor(private readonly dependencies: PasswordGuessesDependencies) {}

  /**
   * Counts a guess before the password is checked. Rejected guesses only read, so a flood writes nothing.
   * @throws DomainError `access.too_many_attempts`
   */
  async count(guess: Guess): Promise<CountedGuess> {
    const { db } = this.dependencies;
    const counted = this.#budgetsOf(guess);
    const all = [counted.own, ...counted.shared];
    for (const budget of all) budgets.check(db.read, budget);
    await db.write((tx) => budgets.consumeBudget(tx, ...all), "access");
    return counted;
  }

  /** Refunds a guess whose password was not checked. */
  async refund({ own, shared }: CountedGuess): Promise<void> {
    await this.dependencies.db.write((tx) => budgets.refund(tx, own, ...shared), "access");
  }

  #budgetsOf({ email, address, deviceNonce }: Guess): CountedGuess {
    const { clock, limits } = this.dependencies;
    const window = { windowSeconds: limits.windowSeconds, nowMs: clock.nowMs() };
    const account = { subject: emailKey(email), ...window };
    const ofCaller = { ...account, limit: limits.passwordGuessesPerAccountAndAddress };
    const from = countedAddress(address);
    const ofAddress = { name: ADDRESS, subject: from, limit: limits.passwordGuessesPerAddress, ...window };
    const shared = [ofAddress];
    if (deviceNonce !== undefined)
      return { own: { ...ofCaller, name: FROM_DEVICE, part: deviceNonce }, shared };
    const ofAccount = { ...account, name: ACCOUNT, limit: limits.passwordGuessesPerAccount };
    return { own: { ...ofCaller, name: FROM_ADDRESS, part: from }, shared: [ofAccount, ...shared] };
  }
}

/** @returns the requester for the hashing queue: a browser that has signed in before does not wait behind guesses from elsewhere */
export const requesterOf = ({ email, address, deviceNonce }: Guess): HashRequester => ({
  account: emailKey(email),
  address: countedAddress(address),
  network: countedNetwork(address),
  isKnown: deviceNonce !== undefined,
});

/** Records a correct password, in the transaction that acts on it. */
export function recordCorrectPassword(tx: Tx, { own, shared }: CountedGuess): void {
  budgets.clear(tx, own);
  budgets.refund(tx, ...shared);
}

/**
 * Clears all guesses of an account's password and second factor codes. The guesses of an address stay, because they also count
 * for other accounts.
 * @returns how many counters were open
 */
export function forgetGuesses(tx: Tx, { email, nowMs }: { email: string; nowMs: number }): number {
  const subject = emailKey(email);
  const forgotten = [FROM_ADDRESS, FROM_DEVICE, ACCOUNT, ...Object.values(CODE_GUESSES)].map((name) =>
    budgets.clearAll(tx, { name, subject }, nowMs),
  );
  return forgotten.reduce((sum, count) => sum + count, 0);
}
