// Returns the owner of the credential; workstations use it to check that a stored login still works.
import { type Static, Type } from "@sinclair/typebox";
import type { Principal } from "../../../domain/access/service.ts";
import { ROLES } from "../../../domain/identity/model.ts";
import { SECOND_MS } from "../../../platform/clock.ts";
import { principalOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

/** Sent before the first policy, because clients require the member. */
const NO_REVISION = "none";

const CurrentIdentity = Type.Object({
  id: Type.String({ format: "uuid" }),
  sub: Type.String(),
  email: Type.String(),
  org_id: Type.String({ format: "uuid" }),
  role: Type.Union(ROLES.map((role) => Type.Literal(role))),
  expires_at: Type.Integer({ description: "Unix seconds at which the presented credential expires" }),
  current_revision: Type.String({ description: `\`${NO_REVISION}\` while no policy is published` }),
});

export function meRoutes({ router, domain }: RouteContext) {
  const identify = (principal: Principal) => {
    const revision = domain.governance.revisions.current(principal.organizationId);
    return json(toIdentity(principal, revision?.id ?? NO_REVISION));
  };
  return router.get("/auth/me", ({ request }) => identify(principalOf(request)), {
    requires: "anyone",
    detail: operation("getCurrentIdentity", "Owner of the credential", {
      tags: ["System"],
      answers: { 200: { description: "Caller identity", schema: CurrentIdentity } },
    }),
  });
}

const toIdentity = (principal: Principal, revision: string): Static<typeof CurrentIdentity> => ({
  id: principal.userId,
  sub: principal.subject,
  email: principal.email,
  org_id: principal.organizationId,
  role: principal.role,
  expires_at: Math.floor(principal.expiresAtMs / SECOND_MS),
  current_revision: revision,
});
