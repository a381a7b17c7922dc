// Links that let a user set a new password, for administrators. Only the response that creates a link contains it.
import { Type } from "@sinclair/typebox";
import { passwordUrl } from "../../../domain/identity/model.ts";
import {
  PasswordLinkDocument,
  toPasswordLinkDocument,
} from "../../../domain/identity/password-links/password-links.ts";
import { actorOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from "../../http/idempotency.ts";
import { Uuid } from "../../http/paging.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const PasswordLinkWithUrl = Type.Object({
  password_url: Type.String({
    description: "Link at which the user sets a new password, once, within 24 hours; shown only once",
  }),
  ...PasswordLinkDocument.properties,
});

const documented = operationsOf("User management");
const detail = withHeaders(
  documented(
    "createPasswordLink",
    "Create a link that lets a user, including a provisioned one, set a new password; it replaces an earlier link",
    {
      201: {
        description: "Created; password and logins stay until the link is used",
        schema: PasswordLinkWithUrl,
      },
      409: {
        description:
          "The user is removed, suspended, the caller, or protected, or signs in at the identity provider only",
      },
      429: { description: "The administrator created too many links" },
    },
  ),
  IDEMPOTENCY_KEY,
);

export const passwordLinkRoutes = ({ router, domain, baseUrl }: RouteContext) =>
  router.post(
    "/admin/users/:id/password-link",
    async ({ request, params }) => {
      const once = { idempotencyKey: idempotencyKeyOf(request) };
      const link = await domain.identity.passwordLinks.create(
        actorOf(request),
        params.id.toLowerCase(),
        once,
      );
      const password_url = passwordUrl(baseUrl(), link.token).reveal();
      return json({ password_url, ...toPasswordLinkDocument(link) }, { status: 201 });
    },
    { requires: "administrator", accepts: "nothing", params: Type.Object({ id: Uuid }), detail },
  );
