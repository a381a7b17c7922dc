// Errors of the password sign-in.
import { DomainError } from "../../../platform/errors.ts";

/** One error for an unknown account, a wrong password and a suspended user. */
export const signInFailed = () =>
  new DomainError(
    "unauthenticated",
    "access.sign_in_failed",
    "e-mail or password is wrong, or the account cannot sign in",
    {
      hint: "try again, or ask an administrator",
    },
  );

export const passwordSignInOff = () =>
  new DomainError(
    "forbidden",
    "access.password_sign_in_off",
    "sign-in is managed by the identity provider; use it to sign in",
  );
