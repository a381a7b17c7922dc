// Errors of identity. Each message names the next step; the codes are stable.
import { DomainError, type Problem } from "../../platform/errors.ts";
import { quoted } from "../../platform/text/problem-list.ts";

/** @throws DomainError `identity.invalid` that names every problem, if there is any */
export function refuseInvalid(problems: readonly Problem[]): void {
  if (problems.length === 0) return;
  const message = problems.map(sentence).join("; ");
  throw new DomainError("invalid", "identity.invalid", message, { problems });
}

const sentence = ({ pointer, detail }: Problem): string =>
  pointer === "" ? detail : `${pointer.slice(1)}: ${detail}`;

/** @param reference id or address in the caller's spelling */
export const userNotFound = (reference: string) =>
  new DomainError("not_found", "user.not_found", `no user ${quoted(reference)}`, {
    hint: "see `quartermaster users list`",
    missing: { kind: "user", name: reference },
  });

export const userRemoved = () =>
  new DomainError("conflict", "user.removed", "this user has been removed; invite the address again");

export const ownAccount = () =>
  new DomainError("conflict", "user.own_account", "this is your own account; ask another administrator");

/** For an action on many users, which would otherwise sign out the actor before it is complete. */
export const ownLogins = () =>
  new DomainError("conflict", "user.own_logins", "these are your own logins; end them on your own page");

export const protectedUser = () =>
  new DomainError("conflict", "user.protected", "this is the protected administrator of the configuration", {
    hint: "first set bootstrap.admin_email to another administrator, and restart the service",
  });

export const managedUser = () =>
  new DomainError(
    "conflict",
    "user.managed",
    "this user is managed by the identity provider (SCIM); change it there",
  );

export const lastAdministrator = () =>
  new DomainError(
    "conflict",
    "user.last_administrator",
    "this is the last active administrator; make another user an administrator first",
  );

export const userExists = (email: string) =>
  new DomainError("conflict", "user.exists", `${email} already belongs to a user`, {
    hint: "`quartermaster users show USER` shows that user, who may be suspended",
  });

/** @param id as received */
export const invitationNotFound = (id: string) =>
  new DomainError("not_found", "invitation.not_found", `no invitation ${quoted(id)}`, {
    hint: "see `quartermaster invitations list`",
  });

export const alreadyInvited = (email: string) =>
  new DomainError(
    "conflict",
    "invitation.pending",
    `${email} is already invited; resend or cancel that invitation`,
    {
      hint: "`quartermaster invitations list` shows its id for `quartermaster invitations resend ID` and `cancel ID`",
    },
  );

export const invitationAccepted = () =>
  new DomainError("conflict", "invitation.accepted", "this invitation has already been accepted");

export const invitationClosed = () =>
  new DomainError(
    "conflict",
    "invitation.closed",
    "this invitation was accepted or canceled; create a new one",
  );

export const invitationsDisabled = () =>
  new DomainError(
    "conflict",
    "invitation.disabled",
    "sign-in is managed by the identity provider; add the person there",
  );

/** The address that the provider has verified accepts the invitation, so no password is needed here. */
export const acceptedAtProvider = () =>
  new DomainError(
    "conflict",
    "invitation.accepted_at_provider",
    "sign in through your organization instead: your address there accepts the invitation",
  );

/** Unknown, expired, canceled and accepted invitations give the same error: a link reveals only whether it works. */
export const invitationUnavailable = () =>
  new DomainError(
    "not_found",
    "invitation.unavailable",
    "this invitation is unavailable; ask an administrator for a new one",
  );

export const bootstrapPasswordMissing = () =>
  new DomainError("invalid", "bootstrap.password_missing", "the first administrator needs a password", {
    hint: "set bootstrap.admin_password_file",
    problems: [{ pointer: "/bootstrap/admin_password", detail: "missing on the first start" }],
  });

export const userSuspended = () =>
  new DomainError(
    "conflict",
    "user.suspended",
    "this user is suspended and could not sign in; resume the user first",
  );

export const passwordUnused = () =>
  new DomainError(
    "conflict",
    "user.password_unused",
    "identity.mode is oidc: users sign in at the identity provider, and a password would not let this user in",
    { hint: "`quartermaster sso verify --claims FILE` shows why a person cannot sign in there" },
  );

/** Unknown, expired, used and void links give the same error: a link reveals only whether it works. */
export const passwordLinkUnavailable = () =>
  new DomainError(
    "not_found",
    "password_link.unavailable",
    "this link is unavailable; ask an administrator for a new one",
  );
