// Always refuses routes of similar services that would bypass the rules of this service. Administrators manage users
// and invitations with the administration routes.
import { ISSUER_PATH } from "../../../domain/access/wire.ts";
import { DomainError } from "../../../platform/errors.ts";
import { operation } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const CLOSED = [
  ["sign-up/email", "SignUp"],
  ["organization/invite-member", "InviteMember"],
  ["organization/cancel-invitation", "CancelInvitation"],
  ["organization/remove-member", "RemoveMember"],
  ["organization/update-member-role", "UpdateMemberRole"],
  ["admin/:operation", "AdminOperation"],
] as const;

export function unsupportedRoutes({ router }: RouteContext) {
  for (const [path, name] of CLOSED) {
    router.post(`${ISSUER_PATH}/${path}`, refuse, {
      requires: "nobody",
      accepts: "nothing",
      detail: operation(`closed${name}`, "Not available: use the administration routes for users", {
        tags: ["Browser session"],
        answers: { 403: { description: "Always" } },
      }),
    });
  }
  return router;
}

function refuse(): never {
  throw new DomainError("forbidden", "access.closed", "this operation is not available", {
    hint: "administrators manage users and invitations at /admin/users and /admin/invitations",
  });
}
