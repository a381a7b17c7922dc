// Identity status for administrators: sign-in and provisioning.
import { Type } from "@sinclair/typebox";
import { IdentityStatus } from "../../../domain/identity/model.ts";
import { OidcStatus } from "../../../domain/sso/service.ts";
import { json } from "../../http/responses.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const Status = Type.Object({ ...IdentityStatus.properties, oidc: OidcStatus });

export function identityRoutes({ router, domain }: RouteContext) {
  return router.get(
    "/admin/identity/status",
    () =>
      json({
        ...domain.identity.identityStatus(domain.scim.tokens.hasActive()),
        oidc: domain.sso.status(),
      }),
    {
      requires: "administrator",
      detail: operation("getIdentityStatus", "Sign-in mode and provisioning, without secrets", {
        tags: ["User management"],
        answers: { 200: { description: "Identity status", schema: Status } },
      }),
    },
  );
}
