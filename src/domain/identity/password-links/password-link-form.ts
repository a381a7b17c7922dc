// A password link with its secret, and its serialized form for repeated requests (idempotency/service.ts).
import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Secret } from "../../../platform/secret.ts";
import type { AnswerForm } from "../../idempotency/service.ts";
import { PROVISIONING_SOURCES, ROLES, USER_STATUSES, type User } from "../model.ts";

export interface PasswordLink {
  user: User;
  /** the secret of the link, 43 characters; shown once, and stored only to answer repeated requests with the same key */
  token: Secret;
  expiresAtMs: number;
}

const KeptLink = Type.Object({
  token: Type.String(),
  expiresAtMs: Type.Integer(),
  user: Type.Object({
    id: Type.String(),
    organizationId: Type.String(),
    subject: Type.String(),
    email: Type.String(),
    role: Type.Union(ROLES.map((role) => Type.Literal(role))),
    status: Type.Union(USER_STATUSES.map((status) => Type.Literal(status))),
    protected: Type.Boolean(),
    provisioningSource: Type.Union(PROVISIONING_SOURCES.map((source) => Type.Literal(source))),
    createdAtMs: Type.Integer(),
    updatedAtMs: Type.Integer(),
  }),
});

export const PASSWORD_LINK_FORM: AnswerForm<PasswordLink> = {
  write: ({ token, ...link }) => JSON.stringify({ ...link, token: token.reveal() }),
  read(text) {
    const { token, ...link } = Value.Parse(KeptLink, JSON.parse(text));
    return { ...link, token: new Secret(token) };
  },
};
