// Errors for an inference token that is refused or cannot be issued. Each has its own reason, so that the proxy can tell the
// user what to do. Provisioner errors are in provisioner.ts.
import { DomainError } from "../../platform/errors.ts";

/** The grant, or the browser sign-in behind it, has ended. */
export const loginEnded = () =>
  refusal("gateway.login_ended", "the sign-in behind this workstation has ended; sign in again");

/** The workstation signed out. */
export const sessionRevoked = () =>
  refusal("gateway.session_revoked", "this workstation has signed out; sign in again");

/** The session never existed, or a later sign-out removed it. */
export const sessionUnknown = () =>
  refusal(
    "gateway.session_unknown",
    "this inference token has ended; start the agent again to get a new one",
  );

export const userInactive = () => refusal("gateway.user_inactive", "your access was revoked");

const refusal = (reason: string, message: string) => new DomainError("unauthenticated", reason, message);

/** @param state of the key, as shown to its user */
export const keyMissing = (state: string) =>
  new DomainError(
    "conflict",
    "gateway.key_missing",
    `there is no usable gateway key: its state is ${state}`,
    {
      hint: "the gateway command of the workstation client shows the reason and requests a key",
    },
  );

export const keyExpired = () =>
  new DomainError("conflict", "gateway.key_expired", "the gateway key has expired and is being replaced");

export const keyUnreadable = () =>
  new DomainError("unavailable", "gateway.key_unreadable", "the gateway key is being replaced", {
    retryAfterSeconds: 5,
  });
