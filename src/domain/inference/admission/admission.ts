// What is known about a request once it is admitted, and what its end has to give back.
import type { Secret } from "../../../platform/secret.ts";

export interface Admitted {
  readonly userId: string;
  readonly organizationId: string;
  readonly gatewaySessionId: string;
  readonly loginSessionId: string;
  readonly grantId: string;
  /** UTC milliseconds; the earlier of token and login, plus the leeway. A stream is cut then */
  readonly endsAtMs: number;
  /** the user's gateway key; the upstream gets it, nobody else */
  readonly credential: Secret;
  readonly credentialVersion: string;
  /** external id and alias of the key, as the upstream knows it */
  readonly profileId: string | null;
  readonly profileName: string | null;
  /** Gives the permits back. Called with the last byte of the answer, or when the request ends otherwise. Idempotent. */
  release(): void;
}
