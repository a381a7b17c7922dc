// Errors of the second factor.
import { DomainError } from "../../../platform/errors.ts";
import type { Secret } from "../../../platform/secret.ts";
import type { Demand } from "./model.ts";

/** The password was right, but the second factor is missing. The error carries the sign-in that the browser continues. */
export class SecondFactorNeeded extends DomainError {
  constructor(
    readonly demand: Exclude<Demand, "nothing">,
    /** for the cookie of the browser */
    readonly attemptToken: Secret,
  ) {
    const [reason, message, hint] = TEXTS[demand];
    super("forbidden", reason, message, { hint });
    this.name = "SecondFactorNeeded";
  }
}

const TEXTS = {
  proof: [
    "access.second_factor_needed",
    "this account also needs its second factor",
    "send the code of the authenticator app or a recovery code as the member code, or sign in on the page /login",
  ],
  enrollment: [
    "access.second_factor_enrollment_needed",
    "this account must set up a second factor first",
    "sign in on the page /login, which guides you through it",
  ],
} as const;

/** Wrong, used and expired proofs give the same error, so that a guess reveals nothing. */
export const factorWrong = (cause?: unknown) =>
  new DomainError("forbidden", "access.second_factor_wrong", "the code is wrong or was used before", {
    hint: "wait for the app's next code, and check the clock of the device that shows it",
    cause,
  });

export const passkeyWrong = (cause?: unknown) =>
  new DomainError("forbidden", "access.second_factor_wrong", "the passkey was not accepted", {
    hint: "try again, or use another second factor",
    cause,
  });

export const attemptOver = () =>
  new DomainError("unauthenticated", "access.sign_in_expired", "this sign-in has expired; start again");

export const enrollmentOver = () =>
  new DomainError("conflict", "second_factor.setup_expired", "this page has expired; start again");

export const codeMismatch = () =>
  new DomainError("invalid", "second_factor.code_wrong", "the code is wrong", {
    hint: "scan the QR code again, and check the clock of the device that shows the code",
  });

export const passkeyRefused = (cause?: unknown) =>
  new DomainError("invalid", "second_factor.passkey_refused", "the passkey was not accepted; try again", {
    cause,
  });

export const passkeyKnown = () =>
  new DomainError("conflict", "second_factor.passkey_known", "this passkey is already set up");

export const tooManyPasskeys = (limit: number) =>
  new DomainError("conflict", "second_factor.too_many_passkeys", `an account has at most ${limit} passkeys`, {
    hint: "remove one first",
  });

export const passkeysUnavailable = () =>
  new DomainError(
    "conflict",
    "second_factor.passkeys_unavailable",
    "passkeys need an https origin with a host name",
    {
      hint: "use an authenticator app, or set server.public_url to an https origin",
    },
  );

export const factorNotFound = () =>
  new DomainError("not_found", "second_factor.not_found", "this second factor no longer exists");

export const factorStillRequired = () =>
  new DomainError("conflict", "second_factor.required", "this account must keep one second factor", {
    hint: "set up another one first",
  });

export const factorsOff = () =>
  new DomainError(
    "conflict",
    "second_factor.off",
    "the second factor is turned off, or your organization manages how you sign in",
  );

export const confirmationNeeded = () =>
  new DomainError("forbidden", "access.confirmation_needed", "confirm your identity first", {
    hint: "open the page /account/second-factor/confirm in this browser; then repeat the request within 10 minutes",
  });

export const enrollmentNeeded = () =>
  new DomainError(
    "forbidden",
    "access.second_factor_enrollment_needed",
    "this account must set up a second factor first",
    { hint: "set it up on the page /account/second-factor" },
  );
