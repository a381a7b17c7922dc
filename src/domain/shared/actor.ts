// The actor of an operation. Every service that changes state receives one, and every audit entry names one.

/** A user through the API, the operator through the CLI, an identity provider, or the service itself. */
export interface Actor {
  kind: "user" | "operator" | "scim" | "system";
  /** user id, if a user acts */
  id: string | null;
  /** name in the audit log: an e-mail address, a login name, a token label, a job name */
  label: string;
  organizationId: string;
  requestId?: string;
  /** public id of the credential: `grant:<id>`, `login_session:<id>`, `scim_token:<id>` */
  credential?: string;
  /** network address of the request */
  address?: string;
}

/** The acting user; a person who signs up has no id yet. */
export interface ActingUser {
  id: string | null;
  email: string;
  organizationId: string;
}

/** The origin of the request; a local socket has no address. */
export interface RequestOrigin {
  address?: string | null | undefined;
  requestId?: string | undefined;
}

/** @returns the actor of an operation without one of our credentials, such as signing in */
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
