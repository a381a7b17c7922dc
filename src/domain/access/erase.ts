// Erases a person's logins and second factors: every row, including ended logins, and the count of wrong passwords.
import type { ErasePersonalData } from "../shared/personal-data.ts";
import * as store from "./erase-store.ts";
import { removeAttempts } from "./logins/end-logins.ts";
import { removeFactors } from "./second-factor/factor-reset.ts";
import { forgetGuesses } from "./sign-in/password-guesses.ts";

/** See ErasePersonalData. */
export const eraseLogins: ErasePersonalData = (tx, { person, nowMs }) => {
  for (const email of person.addresses) forgetGuesses(tx, { email, nowMs });
  const { userId } = person;
  if (userId === undefined) return {};
  const deviceLogins = store.removeDecided(tx, userId);
  const grants = store.removeGrants(tx, userId);
  removeAttempts(tx, { userId });
  const { authenticatorApps, passkeys, recoveryCodes } = removeFactors(tx, userId);
  return {
    login_sessions: store.removeSessions(tx, userId),
    grants,
    device_logins: deviceLogins,
    authenticator_apps: authenticatorApps,
    passkeys,
    recovery_codes: recoveryCodes,
  };
};
