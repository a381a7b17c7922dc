// Identity status for administrators: sign-in and provisioning.
import { IdentityStatus } from "../../../domain/identity/model.ts";
import { json } from "../../http/answers.ts";
import { operation } from "../../openapi.ts";
import { createRouter, type RouteContext } from "../../router.ts";

/** @returns the operation getIdentityStatus */
export function identityRoutes({ guard, domain }: RouteContext) {
  return createRouter(guard, "identity").get(
    "/admin/identity/status",
    () => json(domain.identity.identityStatus(domain.scim.tokens.hasActive())),
    {
      requires: "administrator",
      detail: operation("getIdentityStatus", "Sign-in mode and provisioning, without secrets", {
        tags: ["User management"],
        answers: { 200: { description: "Identity status", schema: IdentityStatus } },
      }),
    },
  );
}
