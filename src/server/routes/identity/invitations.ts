// Invitations for administrators. Only the response that creates an invitation contains its link.
import { Type } from "@sinclair/typebox";
import type { InvitationWithToken } from "../../../domain/identity/invitations/invitation-form.ts";
import {
  AdminInvitation,
  AdminInvitationPage,
  INVITATION_FILTERS,
  type Invitation,
  invitationUrl,
  ROLES,
  toAdminInvitation,
} from "../../../domain/identity/model.ts";
import { toPageEnvelope } from "../../../domain/shared/page.ts";
import { runInTurns } from "../../../platform/steps.ts";
import {
  expectationOf,
  IF_MATCH,
  IF_NONE_MATCH,
  jsonConditionally,
  recordConditionally,
  recordTag,
} from "../../http/conditional.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from "../../http/idempotency.ts";
import { PageParameters, parameter, toPageQuery } from "../../http/paging.ts";
import { json, noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const InvitationParameters = Type.Object(
  { ...PageParameters, role: parameter({ enum: ROLES }), status: parameter({ enum: INVITATION_FILTERS }) },
  { additionalProperties: false },
);

const NewInvitation = Type.Object(
  { email: Type.String(), role: Type.String({ enum: ROLES }) },
  { additionalProperties: false },
);

const InvitationWithLink = Type.Object({
  ...AdminInvitation.properties,
  invitation_url: Type.String({
    description: "Link at which the invited person sets a password; shown only once",
  }),
});

const oneInvitation = { 200: { description: "The invitation", schema: AdminInvitation } };
const closed = { 409: { description: "Accepted or canceled, or an identity provider manages sign-in" } };
const limited = { 429: { description: "The administrator sent too many invitations" } };

const documented = operationsOf("User management");

const described = {
  listInvitations: withHeaders(
    documented("listInvitations", "Invitations of the organization, newest first", {
      200: { description: "Numbered page", schema: AdminInvitationPage },
    }),
    IF_NONE_MATCH,
  ),
  createInvitation: withHeaders(
    documented("createInvitation", "Invite an address with a fixed role for 24 hours", {
      201: { description: "Created", schema: InvitationWithLink },
      409: { description: "Already a user or invited, or an identity provider manages sign-in" },
      ...limited,
    }),
    IDEMPOTENCY_KEY,
  ),
  getInvitation: withHeaders(documented("getInvitation", "One invitation", oneInvitation), IF_NONE_MATCH),
  cancelInvitation: withHeaders(
    documented("cancelInvitation", "Cancel a pending or expired invitation", {
      204: { description: "Canceled, now or earlier" },
      409: { description: "Already accepted" },
    }),
    IF_MATCH,
  ),
  resendInvitation: withHeaders(
    documented("resendInvitation", "Renew an invitation for 24 hours under the same link", {
      ...oneInvitation,
      ...closed,
    }),
    IF_MATCH,
  ),
  regenerateInvitation: withHeaders(
    documented("regenerateInvitation", "Renew an invitation for 24 hours under a new link", {
      200: { description: "Renewed; the old link no longer works", schema: InvitationWithLink },
      ...closed,
      ...limited,
    }),
    IDEMPOTENCY_KEY,
    IF_MATCH,
  ),
};

export function invitationRoutes({ router, domain, baseUrl, clock }: RouteContext) {
  const { invitations } = domain.identity;
  const onWire = (invitation: Invitation) => toAdminInvitation(invitation, clock.nowMs());
  const withLink = ({ invitation, token }: InvitationWithToken) => ({
    ...onWire(invitation),
    invitation_url: invitationUrl(baseUrl(), token).reveal(),
  });

  return router
    .get(
      "/admin/invitations",
      async ({ request, query }) => {
        const wanted = { ...toPageQuery(query), role: query.role, status: query.status };
        const { organizationId } = principalOf(request);
        const page = await runInTurns(invitations.listInSteps(organizationId, wanted));
        return jsonConditionally(request, toPageEnvelope(page, onWire));
      },
      { requires: "administrator", query: InvitationParameters, detail: described.listInvitations },
    )
    .post(
      "/admin/invitations",
      async ({ request, body }) => {
        const wanted = { ...body, idempotencyKey: idempotencyKeyOf(request) };
        return json(withLink(await invitations.create(actorOf(request), wanted)), { status: 201 });
      },
      { requires: "administrator", accepts: "json", body: NewInvitation, detail: described.createInvitation },
    )
    .get(
      "/admin/invitations/:id",
      ({ request, params }) =>
        recordConditionally(
          request,
          onWire(invitations.show(principalOf(request).organizationId, params.id.toLowerCase())),
        ),
      { requires: "administrator", detail: described.getInvitation },
    )
    .delete(
      "/admin/invitations/:id",
      async ({ request, params }) => {
        await invitations.cancel(actorOf(request), params.id.toLowerCase(), expectationOf(request, onWire));
        return noContent();
      },
      { requires: "administrator", accepts: "nothing", detail: described.cancelInvitation },
    )
    .post(
      "/admin/invitations/:id/resend",
      async ({ request, params }) => {
        const expect = expectationOf(request, onWire);
        const renewed = onWire(await invitations.resend(actorOf(request), params.id.toLowerCase(), expect));
        return json(renewed, { headers: { etag: recordTag(renewed) } });
      },
      { requires: "administrator", accepts: "nothing", detail: described.resendInvitation },
    )
    .post(
      "/admin/invitations/:id/regenerate",
      async ({ request, params }) => {
        const options = {
          idempotencyKey: idempotencyKeyOf(request),
          expect: expectationOf(request, onWire),
        };
        return json(
          withLink(await invitations.regenerate(actorOf(request), params.id.toLowerCase(), options)),
        );
      },
      { requires: "administrator", accepts: "nothing", detail: described.regenerateInvitation },
    );
}
