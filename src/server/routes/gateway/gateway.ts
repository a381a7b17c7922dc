// Gateway keys of the calling user. Every operation returns the key's full status. Gateway errors become refusals with
// a status that clients know. inference.ts has the tokens for the inference proxy.
import { Type } from "@sinclair/typebox";
import { ProxyHealth } from "../../../domain/gateway/inference/proxy-health.ts";
import { GatewayKeyStatus } from "../../../domain/gateway/keys/key-status.ts";
import type { KeyRequest, KeyResponse } from "../../../domain/gateway/keys/keys.ts";
import { forMembers, GatewayStatus } from "../../../domain/gateway/status.ts";
import { actorOf, principalOf } from "../../http/exchange.ts";
import { json } from "../../http/responses.ts";
import { operationsOf } from "../../openapi.ts";
import type { RouteContext } from "../../router.ts";
import { gatewayStatusOf, healthOf } from "./gateway-status.ts";

const EnsureRequest = Type.Object(
  {
    manual: Type.Optional(
      Type.Union([Type.Boolean(), Type.Null()], {
        description: "Requested by a person, so delays after failures are skipped; default false",
      }),
    ),
  },
  { additionalProperties: true }, // a newer client may send more members
);

const describe = operationsOf("Gateway");
const keyResponses = { 200: { description: "State of the key", schema: GatewayKeyStatus } };
const provisioningResponses = {
  ...keyResponses,
  400: { description: "The gateway's configuration is not valid" },
  403: { description: "The gateway has no account for the caller" },
  409: { description: "The gateway has conflicting entries for the caller" },
  502: { description: "The gateway is unavailable, or refused" },
  503: { description: "Temporarily unavailable" },
};

export function gatewayKeyRoutes({ router, domain }: RouteContext) {
  const { keys } = domain.gateway;

  return router
    .get("/gateway/key", ({ request }) => json(keys.status(ownKeyOf(request).user)), {
      requires: "governance:read",
      detail: describe("getGatewayKey", "State of the caller's gateway key", keyResponses),
    })
    .post(
      "/gateway/key/ensure",
      async ({ request, body }) => {
        const manual = body.manual ?? false;
        return toResponse(await keys.ensure({ ...ownKeyOf(request), manual }));
      },
      {
        requires: "governance:read",
        accepts: "json-or-nothing",
        body: EnsureRequest,
        detail: describe("ensureGatewayKey", "Give the caller a working gateway key", provisioningResponses),
      },
    )
    .post(
      "/gateway/key/validate",
      async ({ request }) => toResponse(await keys.validate(ownKeyOf(request))),
      {
        requires: "governance:read",
        accepts: "nothing",
        detail: describe(
          "validateGatewayKey",
          "Check the caller's key at the gateway",
          provisioningResponses,
        ),
      },
    )
    .post("/gateway/key/rotate", async ({ request }) => toResponse(await keys.rotate(ownKeyOf(request))), {
      requires: "governance:read",
      accepts: "nothing",
      detail: describe(
        "rotateGatewayKey",
        "Replace the caller's gateway key; the old one works until the new one exists",
        provisioningResponses,
      ),
    })
    .post(
      "/gateway/key/revoke",
      async ({ request }) => {
        const own = ownKeyOf(request);
        await keys.revoke(own);
        return json(keys.status(own.user));
      },
      {
        requires: "governance:read",
        accepts: "nothing",
        detail: describe(
          "revokeGatewayKey",
          "Revoke the caller's gateway key, here immediately and at the gateway as soon as it is reachable",
          keyResponses,
        ),
      },
    );
}

export function gatewayRoutes(context: RouteContext) {
  const { governance } = context.domain;

  return context.router
    .get(
      "/gateway/status",
      ({ request }) => {
        const { organizationId, role } = principalOf(request);
        const status = gatewayStatusOf(context, governance.revisions.inForce(organizationId).document);
        return json(role === "admin" ? status : forMembers(status));
      },
      {
        requires: "governance:read",
        detail: describe(
          "getGatewayStatus",
          "Whether the policy uses the gateway, and whether it is fully configured",
          {
            200: { description: "Status", schema: GatewayStatus },
            404: { description: "No policy is published" },
          },
        ),
      },
    )
    .post(
      "/gateway/proxy/health",
      async ({ request, query: { upstream } }) =>
        json(await healthOf(context, { caller: principalOf(request), withUpstream: upstream === "1" })),
      {
        requires: "administrator",
        accepts: "nothing",
        query: HealthParameters,
        detail: describe("checkGatewayProxyHealth", "Health of the inference proxy", {
          200: { description: "The health, or why it is unknown", schema: ProxyHealth },
          400: {
            description:
              "`upstream` is not 1, no inference proxy is configured, or this service does not forward",
          },
          429: { description: "The caller checks too often" },
        }),
      },
    );
}

const HealthParameters = Type.Object(
  {
    upstream: Type.Optional(Type.Literal("1", { description: "Also asks the gateway, without credentials" })),
  },
  { additionalProperties: false },
);

/** Reads the caller from the database once. */
function ownKeyOf(request: Request): KeyRequest {
  const actor = actorOf(request);
  return { actor, user: { id: principalOf(request).userId, email: actor.label } };
}

const toResponse = ({ status, retryAfterSeconds }: KeyResponse): Response =>
  json(
    status,
    retryAfterSeconds === undefined ? {} : { headers: { "retry-after": String(retryAfterSeconds) } },
  );
