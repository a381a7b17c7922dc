// Users' own passwords: who has one, the rules for a new one, and the storage of its hash. The access area checks the old one
// and ends logins.
import type { Tx } from "../../../platform/database/database.ts";
import { DomainError, invariant, type Problem } from "../../../platform/errors.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { IdentityDependencies } from "../dependencies.ts";
import { refuseInvalid } from "../errors.ts";
import type { SignInUser, User } from "../model.ts";
import { removeLinks } from "../password-links/password-link-store.ts";
import * as store from "../store.ts";
import { checkPassword } from "./passwords.ts";

export const createOwnPasswords = ({ clock, passwords, settings }: IdentityDependencies) => ({
  /** @returns whether the user signs in with a locally stored password, which the user may change */
  has: (user: SignInUser): boolean =>
    user.passwordHash !== null && (settings.mode === "password" || user.protected),

  /** @throws DomainError `identity.invalid` if the new password may not replace the current one */
  check({ current, next }: { current: Secret; next: Secret }): void {
    const problems: Problem[] = [];
    checkPassword(next, problems, "/new_password");
    if (next.reveal() === current.reveal()) {
      problems.push({
        pointer: "/new_password",
        detail: "the new password must differ from the current one",
      });
    }
    refuseInvalid(problems);
  },

  /** @throws DomainError `passwords.busy` */
  hash: (password: Secret): Promise<string> => passwords.hash(password),

  /** Stores a new hash as part of the caller's transaction, and voids the user's password link. */
  replace(tx: Tx, user: User, passwordHash: string): void {
    const after = store.updateUser(tx, user, { passwordHash, updatedAtMs: clock.nowMs() });
    removeLinks(tx, { userId: user.id });
    invariant(after, "a user found in this transaction is still there");
  },
});

export const passwordManagedElsewhere = () =>
  new DomainError(
    "conflict",
    "user.password_managed",
    "your organization manages how you sign in, so there is no password to change here",
    { hint: "change it where you sign in to your organization" },
  );
