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
