// An invitation with its link, and its serialized form for repeated requests (idempotency/service.ts).
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Secret } from "../../../platform/secret.ts";
import type { ResponseForm } from "../../idempotency/service.ts";
import { type Invitation, ROLES } from "../model.ts";

export interface InvitationWithToken {
  invitation: Invitation;
  /** the secret of the link, 43 characters; shown once, and stored only to answer repeated requests with the same key */
  token: Secret;
}

const KeptInvitation = Type.Object({
  token: Type.String(),
  invitation: Type.Object({
    id: Type.String(),
    organizationId: Type.String(),
    email: Type.String(),
    role: Type.Union(ROLES.map((role) => Type.Literal(role))),
    status: Type.Union([Type.Literal("pending"), Type.Literal("accepted"), Type.Literal("canceled")]),
    inviterEmail: Type.Union([Type.String(), Type.Null()]),
    expiresAtMs: Type.Integer(),
    createdAtMs: Type.Integer(),
  }),
});

export const INVITATION_FORM: ResponseForm<InvitationWithToken> = {
  write: ({ invitation, token }) => JSON.stringify({ invitation, token: token.reveal() }),
  read(text) {
    const { invitation, token } = Value.Parse(KeptInvitation, JSON.parse(text));
    return { invitation, token: new Secret(token) };
  },
};
