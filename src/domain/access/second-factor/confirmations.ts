// The step-up: a role change, a key rotation, a new token and the end of logins of many users need a browser session that was confirmed
// in the last ten minutes: with a second factor, with the password of a user without one, or by a sign-in at the identity provider.
// confirmed-audit.ts and the service of gateway keys call it, so that no route can forget it. Callers with a token and the operator
// are not asked; instead, the approval of the device login that gave the token is.
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
 * @returns a function that throws unless the actor may do what needs a confirmation
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

/** A person that the provider signed in needs no factor here. */
function refuseEnrollment(connection: Connection, { user, session, factors }: Enrolling): void {
  if (session?.method !== "oidc" && factors.demand(connection, user) === "enrollment")
    throw enrollmentNeeded();
}

function refuseUnconfirmed(session: Session, nowMs: number): void {
  if (isConfirmedAt(session, nowMs)) return;
  if (session?.method !== "oidc" || !isRecentAtProvider(session, nowMs)) throw confirmationNeeded();
}

/** The user who approves a device login, and the browser session in which that happens. */
interface Approval {
  userId: string;
  loginSessionId: string;
}

/**
 * A token is not asked for a confirmation, so the approval of an administrator that leads to it is. Nobody who must set up a factor
 * first can approve.
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
 * The provider says when the person proved who they are; if its clock is ahead, the sign-in here counts. A provider that does not say
 * so may only have remembered the person.
 */
const isRecentAtProvider = (
  { authTimeMs, createdAtMs, endedAtMs }: sessionStore.LoginSessionRow,
  nowMs: number,
): boolean => endedAtMs === null && authTimeMs !== null && isRecent(Math.min(authTimeMs, createdAtMs), nowMs);
