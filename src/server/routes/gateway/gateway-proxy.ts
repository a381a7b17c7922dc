// Operations for the inference proxy only: get the gateway key for an inference token, and report a key that the gateway
// refused. They answer 404 until the configuration has a proxy token.
import { type Static, Type } from "@sinclair/typebox";
import type { ResolvedKey } from "../../../domain/gateway/inference/key-resolver.ts";
import { systemActor } from "../../../domain/gateway/keys/key-changes.ts";
import type { RejectionReason } from "../../../domain/gateway/keys/keys.ts";
import { toRfc3339 } from "../../../platform/clock.ts";
import { exchangeOf } from "../../http/exchange.ts";
import { json, noStore } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";

const Id = Type.String({ format: "uuid" });

const ResolveRequest = Type.Object(
  {
    user_id: Type.String({ format: "uuid", description: "`sub` of the inference token" }),
    gateway_session_id: Type.String({ format: "uuid", description: "claim of the inference token" }),
  },
  { additionalProperties: false },
);

const Resolved = Type.Object({
  credential: Type.String({ description: "the key at the gateway" }),
  credential_version: Type.String(),
  credential_expires_at: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  external_id: Type.Union([Type.String(), Type.Null()]),
  alias: Type.Union([Type.String(), Type.Null()]),
  user_id: Id,
  email: Type.String({ format: "email" }),
  organization_id: Id,
  session_expires_at: Type.String({ format: "date-time", description: "latest time for the next request" }),
});

const REASONS: readonly RejectionReason[] = ["not_found", "blocked", "revoked"];
const RefusalReport = Type.Object(
  {
    user_id: Id,
    credential_version: Type.String({ maxLength: 100 }),
    reason: Type.Union(REASONS.map((reason) => Type.Literal(reason))),
  },
  { additionalProperties: false },
);

const describe = operationsOf("Gateway");

export function gatewayProxyRoutes({ router, domain }: RouteContext) {
  const { gateway, inference, identity } = domain;
  return router
    .post(
      "/internal/gateway/resolve",
      ({ body }) => {
        const request = { userId: body.user_id, gatewaySessionId: body.gateway_session_id };
        return noStore(toResolved(inference.resolve(request), inference.emailOf(request.userId)));
      },
      {
        requires: "proxy",
        accepts: "json",
        body: ResolveRequest,
        detail: describe("resolveGatewayKey", "The gateway key behind an inference token", {
          200: { description: "The key", schema: Resolved },
          404: { description: "No token of the inference proxy is configured" },
          409: { description: "No usable key" },
          503: { description: "The key is being replaced" },
        }),
      },
    )
    .post(
      "/internal/gateway/credential-invalid",
      async ({ request, body }) => {
        const organizationId = identity.organization()?.id ?? "";
        const { requestId } = exchangeOf(request);
        const invalidated = await gateway.keys.reportRejected({
          actor: { ...systemActor({ organizationId }), label: "inference-proxy", requestId },
          userId: body.user_id,
          credentialVersion: body.credential_version,
          reason: body.reason,
        });
        return json({ invalidated }, { status: 202 });
      },
      {
        requires: "proxy",
        accepts: "json",
        body: RefusalReport,
        detail: describe("reportInvalidGatewayKey", "The gateway refused a key", {
          202: {
            description: "Recorded; the key is replaced if it was still in use",
            schema: Type.Object({ invalidated: Type.Boolean() }),
          },
          404: { description: "No token of the inference proxy is configured" },
        }),
      },
    );
}

const toResolved = (key: ResolvedKey, email: string): Static<typeof Resolved> => ({
  credential: key.credential.reveal(),
  credential_version: key.credentialVersion,
  credential_expires_at: key.keyExpiresAtMs === null ? null : toRfc3339(key.keyExpiresAtMs),
  external_id: key.externalId,
  alias: key.alias,
  user_id: key.userId,
  email,
  organization_id: key.organizationId,
  session_expires_at: toRfc3339(key.sessionExpiresAtMs),
});
