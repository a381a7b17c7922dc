// The step-up authentication. Role changes, key rotations, new tokens and ending logins of many users need a browser session
// that was confirmed in the last ten minutes. A second factor confirms it, or the password of a user without one, or a sign-in
// at the identity provider. confirmed-audit.ts and the service of gateway keys make the check, so that no route can forget it.
// The operator and callers with a token need no confirmation; the approval of the token's device login needed one instead.
import type { Clock } from "../../../platform/clock.ts";
import type { Connection } from "../../../platform/database/database.ts";
import type { Identity, User } from "../../identity/service.ts";
import type { Actor } from "../../shared/actor.ts";
import * as sessionStore from "../sign-in/login-sessions-store.ts";
import { confirmationNeeded, enrollmentNeeded } from "./errors.ts";
import { isConfirmedAt, isRecent } from "./own-second-factors.ts";
import type { SecondFactors } from "./second-factors.ts";

export interface ConfirmationsDependencies {
  clock: Clock;
  identity: Pick<Identity, "findUserById">;
  factors: Pick<SecondFactors, "demand">;
}

const SESSION_PREFIX = "login_session:";

/**
 * @returns a function that throws unless the actor's session is confirmed or needs no confirmation
 * @throws (from the function) DomainError `access.confirmation_needed`, `access.second_factor_enrollment_needed`
 */
export const createConfirmationCheck =
  ({ clock, identity, factors }: ConfirmationsDependencies) =>
  (connection: Connection, { kind, id, credential }: Actor): void => {
    if (kind !== "user" || id === null || !credential?.startsWith(SESSION_PREFIX)) return;
    const session = sessionStore.findById(connection, credential.slice(SESSION_PREFIX.length));
    const user = identity.findUserById(connection, id);
    if (user) refuseEnrollment(connection, { user, session, factors });
    refuseUnconfirmed(session, clock.nowMs());
  };

type Session = sessionStore.LoginSessionRow | undefined;

interface Enrolling extends Pick<ConfirmationsDependencies, "factors"> {
  user: User;
  session: Session;
}

/** A user who signed in at the provider needs no factor here. */
function refuseEnrollment(connection: Connection, { user, session, factors }: Enrolling): void {
  if (session?.method !== "oidc" && factors.demand(connection, user) === "enrollment")
    throw enrollmentNeeded();
}

function refuseUnconfirmed(session: Session, nowMs: number): void {
  if (isConfirmedAt(session, nowMs)) return;
  if (session?.method !== "oidc" || !isRecentAtProvider(session, nowMs)) throw confirmationNeeded();
}

/** The user who approves a device login, and the user's browser session. */
interface Approval {
  userId: string;
  loginSessionId: string;
}

/**
 * A token never needs a confirmation, so an administrator must confirm before approving the device login for it. A user who
 * must set up a factor first cannot approve.
 * @returns a function that throws unless the browser session may approve a device login
 * @throws (from the function) DomainError `access.confirmation_needed`, `access.second_factor_enrollment_needed`
 */
export const createApprovalCheck =
  ({ clock, identity, factors }: ConfirmationsDependencies) =>
  (connection: Connection, { userId, loginSessionId }: Approval): void => {
    const session = sessionStore.findById(connection, loginSessionId);
    const user = identity.findUserById(connection, userId);
    if (!user) return;
    refuseEnrollment(connection, { user, session, factors });
    if (user.role === "admin") refuseUnconfirmed(session, clock.nowMs());
  };

/**
 * Uses the time of authentication at the provider, or the time of the sign-in here if the provider's clock is ahead. A
 * sign-in without that time is not recent, because the provider may only have remembered the user.
 */
const isRecentAtProvider = (
  { authTimeMs, createdAtMs, endedAtMs }: sessionStore.LoginSessionRow,
  nowMs: number,
): boolean => endedAtMs === null && authTimeMs !== null && isRecent(Math.min(authTimeMs, createdAtMs), nowMs);
