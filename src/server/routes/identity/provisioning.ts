// API for administrators about provisioning (SCIM): its state, the tokens of identity providers, and provisioned groups.
// routes/scim.ts serves the identity providers.
import { Type } from "@sinclair/typebox";
import {
  GroupPage,
  groupDocument,
  memberDocument,
  OneGroup,
} from "../../../domain/scim/groups/group-document.ts";
import { SCIM_PROFILES } from "../../../domain/scim/model.ts";
import { ShownScimStatus, statusDocument } from "../../../domain/scim/status/status-document.ts";
import { ScimTokenList, ShownScimToken, tokenDocument } from "../../../domain/scim/tokens/token-document.ts";
import { CONFIGURED, EXPIRY_DAYS_MAX, LABEL_LENGTH_MAX } from "../../../domain/scim/tokens/token-model.ts";
import { toPageEnvelope } from "../../../domain/shared/page.ts";
import { parseExactTime } from "../../../platform/clock.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { withHeaders } from "../../http/header-parameters.ts";
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from "../../http/idempotency.ts";
import { PageParameters, toPageQuery, Uuid } from "../../http/paging.ts";
import { json, noContent } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const { q: _, ...OnePageParameters } = PageParameters;
const GroupParameters = Type.Object(PageParameters, { additionalProperties: false });
const MemberParameters = Type.Object(OnePageParameters, { additionalProperties: false });
const GroupPath = Type.Object({ id: Uuid });
const TokenPath = Type.Object({ id: Type.Union([Uuid, Type.Literal(CONFIGURED)]) });
const NewToken = Type.Object(
  {
    label: Type.String({
      description: `1 to ${LABEL_LENGTH_MAX} characters; names the token in lists and logs`,
    }),
    profile: Type.Optional(
      Type.String({ description: `${SCIM_PROFILES.join(" or ")}; ${SCIM_PROFILES[0]} if omitted` }),
    ),
    expires_at: Type.Optional(
      Type.Union([Type.String(), Type.Null()], {
        description: `date or RFC 3339 time, at most ${EXPIRY_DAYS_MAX} days from now; never if omitted`,
      }),
    ),
  },
  { additionalProperties: false },
);
const CreatedToken = Type.Object({
  token: Type.String({ description: "shown only here" }),
  scim_token: ShownScimToken,
});

const describe = operationsOf("User management");
const described = {
  groups: describe("listGroups", "Provisioned groups by name", {
    200: { description: "Numbered page; `q` searches the name and the external id", schema: GroupPage },
  }),
  group: describe("getGroup", "A provisioned group with one page of its members", {
    200: { description: "The group", schema: OneGroup },
  }),
  status: describe("getScimStatus", "The state of provisioning, with the last refused requests", {
    200: { description: "State, without secrets", schema: ShownScimStatus },
  }),
  tokens: describe("listScimTokens", "Tokens of identity providers, newest first, revoked ones included", {
    200: { description: "All tokens, without secrets", schema: ScimTokenList },
  }),
  create: withHeaders(
    describe("createScimToken", "Create a token for an identity provider, which is shown once", {
      201: { description: "The token", schema: CreatedToken },
      409: { description: "A token with this label is active" },
    }),
    IDEMPOTENCY_KEY,
  ),
  revoke: describe("revokeScimToken", "Revoke a token; the next request with it is refused", {
    204: { description: "Revoked, now or earlier" },
    409: { description: "The token is part of the configuration" },
  }),
};

export function provisioningRoutes({ router, domain }: RouteContext) {
  const { directory, tokens, status } = domain.scim;

  return router
    .get(
      "/admin/groups",
      ({ request, query }) => {
        const page = directory.list(principalOf(request).organizationId, toPageQuery(query));
        return json(toPageEnvelope(page, groupDocument));
      },
      { requires: "administrator", query: GroupParameters, detail: described.groups },
    )
    .get(
      "/admin/groups/:id",
      ({ request, params, query }) => {
        const group = directory.show(principalOf(request).organizationId, params.id.toLowerCase());
        const members = toPageEnvelope(directory.members(group.id, toPageQuery(query)), memberDocument);
        return json({ ...groupDocument(group), members });
      },
      { requires: "administrator", params: GroupPath, query: MemberParameters, detail: described.group },
    )
    .get(
      "/admin/scim/status",
      ({ request }) => json(statusDocument(status(principalOf(request).organizationId))),
      { requires: "administrator", detail: described.status },
    )
    .get(
      "/admin/scim/tokens",
      ({ request }) => json({ tokens: tokens.list(principalOf(request).organizationId).map(tokenDocument) }),
      { requires: "administrator", detail: described.tokens },
    )
    .post(
      "/admin/scim/tokens",
      async ({ request, body: { label, profile = SCIM_PROFILES[0], expires_at: expires } }) => {
        const expiresAtMs = expires ? (parseExactTime(expires) ?? Number.NaN) : undefined;
        const input = { label, profile, expiresAtMs, idempotencyKey: idempotencyKeyOf(request) };
        const { token, view } = await tokens.create(actorOf(request), input);
        return json({ token: token.reveal(), scim_token: tokenDocument(view) }, { status: 201 });
      },
      { requires: "administrator", accepts: "json", body: NewToken, detail: described.create },
    )
    .delete(
      "/admin/scim/tokens/:id",
      async ({ request, params }) => {
        await tokens.revoke(actorOf(request), params.id.toLowerCase());
        return noContent();
      },
      { requires: "administrator", accepts: "nothing", params: TokenPath, detail: described.revoke },
    );
}
