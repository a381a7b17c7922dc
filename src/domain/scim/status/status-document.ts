// The state of provisioning as the API and the command `scim status` show it.
import { Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { ShownScimToken, tokenDocument } from "../tokens/token-document.ts";
import { REFUSALS_KEPT_MAX, type Refusal } from "./refusals.ts";
import type { ScimStatus } from "./status.ts";

const Count = Type.Integer({ minimum: 0 });
const TextOrNull = Type.Union([Type.String(), Type.Null()]);

const ShownRefusal = Type.Object({
  at: Type.String({ format: "date-time" }),
  request_id: Type.String(),
  actor: Type.String({ description: "scim: and the label of the token" }),
  method: Type.String(),
  route: Type.String(),
  status: Type.Integer(),
  scim_type: TextOrNull,
  detail: Type.String({ description: "the reason and the field" }),
});

export const ShownScimStatus = Type.Object({
  users: Count,
  suspended_users: Type.Integer({ minimum: 0, description: "of those users" }),
  users_that_cannot_sign_in: Count,
  groups: Count,
  tokens: Type.Array(ShownScimToken, { description: "all except revoked ones" }),
  refusals: Type.Array(ShownRefusal, {
    description: `the last ${REFUSALS_KEPT_MAX} refused requests, newest first`,
  }),
  warnings: Type.Array(Type.String(), { description: "warnings about settings without effect" }),
});

const refusalDocument = ({ atMs, requestId, actor, method, route, status, scimType, detail }: Refusal) => ({
  at: toRfc3339(atMs),
  request_id: requestId,
  actor,
  method,
  route,
  status,
  scim_type: scimType,
  detail,
});

/** @returns the state for the API and for `--json` */
export const statusDocument = (status: ScimStatus) => ({
  users: status.users,
  suspended_users: status.suspendedUsers,
  users_that_cannot_sign_in: status.cannotSignIn,
  groups: status.groups,
  tokens: status.tokens.map(tokenDocument),
  refusals: status.refusals.map(refusalDocument),
  warnings: status.warnings,
});
