// SCIM tokens as the API and the commands show them, without the secret.
import { Type } from "@sinclair/typebox";
import { toRfc3339 } from "../../../platform/clock.ts";
import { SCIM_PROFILES } from "../model.ts";
import { CONFIGURED, type ScimTokenView, VISIBLE_LENGTH } from "./token-model.ts";

const TimeOrNull = Type.Union([Type.String({ format: "date-time" }), Type.Null()]);

export const ShownScimToken = Type.Object({
  id: Type.String({ description: `UUID; ${CONFIGURED} for the token of the configuration` }),
  label: Type.String(),
  prefix: Type.Union([Type.String(), Type.Null()], {
    description: `first ${VISIBLE_LENGTH} characters; null for the token of the configuration`,
  }),
  profile: Type.Union(SCIM_PROFILES.map((profile) => Type.Literal(profile))),
  state: Type.Union(
    (["active", "expired", "revoked", "unset"] as const).map((state) => Type.Literal(state)),
    { description: "unset: the configuration had this token, and has none now" },
  ),
  created_by: Type.String(),
  created_at: TimeOrNull,
  expires_at: TimeOrNull,
  last_used_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()], {
    description: "to the minute",
  }),
  revoked_at: TimeOrNull,
});
export const ScimTokenList = Type.Object({ tokens: Type.Array(ShownScimToken) });

const timeOf = (ms: number | null): string | null => (ms === null ? null : toRfc3339(ms));

/** @returns the token for the API and for `--json` */
export const tokenDocument = (token: ScimTokenView) => ({
  id: token.id,
  label: token.label,
  prefix: token.prefix,
  profile: token.profile,
  state: token.state,
  created_by: token.createdBy,
  created_at: timeOf(token.createdAtMs),
  expires_at: timeOf(token.expiresAtMs),
  last_used_at: timeOf(token.lastUsedAtMs),
  revoked_at: timeOf(token.revokedAtMs),
});
