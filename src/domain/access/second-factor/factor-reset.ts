// Removes all second factors of a user: when the operator restores access after a lost device, and when the user is removed.
// The user's browser sessions end; workstations stay signed in.
import type { Clock } from "../../../platform/clock.ts";
import type { Db, Tx } from "../../../platform/database/database.ts";
import type { Audit } from "../../audit/service.ts";
import type { Identity } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import { endBrowserSessions, removeAttempts } from "../logins/end-logins.ts";
import { forgetGuesses } from "../sign-in/password-guesses.ts";
import * as store from "./second-factor-store.ts";

export interface FactorResetDependencies {
  db: Db;
  clock: Clock;
  audit: Audit;
  identity: Pick<Identity, "users">;
}

/** How many of each a user has or had. */
export interface FactorCounts {
  authenticatorApps: number;
  passkeys: number;
  recoveryCodes: number;
}

export interface FactorReset extends FactorCounts {
  isChange: boolean;
  /** browsers that were signed out */
  sessionsEnded: number;
}

/** Removes every factor of a user, in the caller's transaction. @returns how many there were */
export const removeFactors = (tx: Tx, userId: string): FactorCounts => ({
  authenticatorApps: store.removeApp(tx, userId),
  passkeys: store.removePasskeys(tx, userId),
  recoveryCodes: store.removeRecoveryCodes(tx, userId),
});

export const createFactorReset = ({ db, clock, audit, identity }: FactorResetDependencies) => ({
  /** @returns how many factors the user has */
  count: (userId: string): FactorCounts => ({
    authenticatorApps: store.findApp(db.read, userId) ? 1 : 0,
    passkeys: store.listPasskeys(db.read, userId).length,
    recoveryCodes: store.countRecoveryCodes(db.read, userId),
  }),

  /**
   * Removes all factors of a user, ends the user's browser sessions, and clears the count of wrong codes and passwords. If the
   * user has no factor, only the count is cleared.
   * @throws DomainError `user.not_found`
   */
  reset: (actor: Actor, id: string): Promise<FactorReset> => {
    const user = identity.users.show(actor.organizationId, id);
    return db.write((tx) => {
      forgetGuesses(tx, { email: user.email, nowMs: clock.nowMs() });
      const counts = removeFactors(tx, user.id);
      if (Object.values(counts).every((count) => count === 0))
        return { ...counts, isChange: false, sessionsEnded: 0 };
      const { authenticatorApps, passkeys, recoveryCodes } = counts;
      removeAttempts(tx, { userId: user.id });
      const sessionsEnded = endBrowserSessions(tx, { userId: user.id, nowMs: clock.nowMs() });
      const before = { authenticator_apps: authenticatorApps, passkeys, recovery_codes: recoveryCodes };
      const after = { login_sessions_ended: sessionsEnded };
      audit.record(tx, { actor, action: "second_factor.reset", target: user.id, before, after });
      return { ...counts, isChange: true, sessionsEnded };
    }, "access");
  },
});
