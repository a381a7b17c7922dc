// An identity in the JSON of the commands.
import { toRfc3339 } from "../../../platform/clock.ts";
import type { IdentityView } from "./identities.ts";

/** @returns the identity for `--json` */
export const toIdentity = (identity: IdentityView) => ({
  user: { id: identity.userId, email: identity.email },
  issuer: identity.issuer,
  subject: identity.subject,
  linked_by: identity.linkedBy,
  linked_at: toRfc3339(identity.linkedAtMs),
  last_sign_in_at: identity.lastSignInAtMs === null ? null : toRfc3339(identity.lastSignInAtMs),
});
