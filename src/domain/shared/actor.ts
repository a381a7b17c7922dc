// The actor of an operation. Every service that changes state takes one, and every audit entry names one.

/** A user through the API, the operator through the CLI, an identity provider, or the service itself. */
export interface Actor {
  kind: "user" | "operator" | "scim" | "system";
  /** user id, when a user acts */
  id: string | null;
  /** name in the audit log: an e-mail address, a login name, a token label, a job name */
  label: string;
  organizationId: string;
  requestId?: string;
  /** public id of the credential: `grant:<id>`, `login_session:<id>`, `scim_token:<id>` */
  credential?: string;
  /** network address the request came from */
  address?: string;
}

/** The user who acts, as far as it is known: a person who signs up has no id yet. */
export interface ActingUser {
  id: string | null;
  email: string;
  organizationId: string;
}

/** Where the request came from; a local socket has no address. */
export interface RequestOrigin {
  address?: string | null | undefined;
  requestId?: string | undefined;
}

/** @returns the actor of an operation that a user does before or without a credential of ours, such as signing in */
export const userActor = (
  { id, email, organizationId }: ActingUser,
  { address, requestId }: RequestOrigin = {},
): Actor => ({
  kind: "user",
  id,
  label: email,
  organizationId,
  ...(typeof address === "string" && { address }),
  ...(requestId !== undefined && { requestId }),
});
